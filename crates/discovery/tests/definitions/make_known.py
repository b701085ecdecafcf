#!/usr/bin/env python3
"""Writes `known.json`: calls of operators with right results, for the test of the definitions; and what of them stands for calls that
mean something, `templates/definitions/examples.json`; and `families.json`, which says where each operator is defined.

Run by hand where something is added: `python3 make_known.py`. Results are computed with `decimal` and `fractions` (`exact.py`) from
textbook formulas, and rounded once; the definitions compute with NumPy in float64. Neither knows the other.
"""

import json
import os
import random
from fractions import Fraction as F

import block_calls
import cache_calls
import exact
import examples
import expert_calls
import further_calls
import loss_calls
import scalar_calls
import index_calls
import norm_calls
import page_calls
import quant_calls
import recurrent_calls
import routing_calls
import sampling_calls
import spatial_calls
import step_calls
import window_calls
from calls import CALLS, call, mean, numbers, tensor
from exact import D, dec

SPECIAL = ["nan", "inf", "-inf", "-0", 0]


def unary(operator, function, low, high, special, dtypes=("float16", "bfloat16", "float32"), attributes=None, foreach=None):
    """Ordinary numbers, and what the function is at NaN, infinities and zeros (`None`: not asked)."""
    for dtype in dtypes:
        values = numbers(dtype, 12, low, high)
        results = [function(value) for value in values]
        for value, result in zip(SPECIAL, special):
            if result is not None:
                values.append(value)
                results.append(result)
        call(operator, {"x": tensor(values, dtype)}, {"y": tensor(results, dtype)}, attributes)
        if foreach:
            half = len(values) // 2
            parts = [(values[:half], results[:half]), (values[half:], results[half:])]
            call(foreach, {"x": [tensor(given, dtype) for given, _ in parts]}, {"y": [tensor(right, dtype) for _, right in parts]})


def frac(function):
    """Of a Decimal function one whose result is a Fraction."""
    return lambda *arguments: F(function(*arguments))


def unaries():
    for name, function, low, high, special in (
        ("Sin", exact.sin, -8, 8, ["nan", "nan", "nan", "-0", 0]),
        ("Cos", exact.cos, -8, 8, ["nan", "nan", "nan", 1, 1]),
        ("Tan", exact.tan, -1.4, 1.4, ["nan", "nan", "nan", "-0", 0]),
        ("Asin", exact.asin, -1, 1, ["nan", "nan", "nan", "-0", 0]),
        ("Acos", exact.acos, -1, 1, ["nan", "nan", "nan", None, None]),
        ("Atan", exact.atan, -20, 20, ["nan", None, None, "-0", 0]),
        ("Sinh", exact.sinh, -5, 5, ["nan", "inf", "-inf", "-0", 0]),
        ("Cosh", exact.cosh, -5, 5, ["nan", "inf", "inf", 1, 1]),
        ("Tanh", exact.tanh, -5, 5, ["nan", 1, -1, "-0", 0]),
        ("Exp", exact.exp, -8, 8, ["nan", "inf", 0, 1, 1]),
        ("Expm1", lambda x: exact.exp(x) - 1, -3, 3, ["nan", "inf", -1, "-0", 0]),
        ("Log2", lambda x: exact.ln(x) / D(2).ln(), 0.01, 50, ["nan", "inf", "nan", "-inf", "-inf"]),
        ("Log10", lambda x: exact.ln(x) / D(10).ln(), 0.01, 50, ["nan", "inf", "nan", "-inf", "-inf"]),
        ("Log1p", lambda x: (1 + dec(x)).ln(), -0.9, 20, ["nan", "inf", "nan", "-0", 0]),
        ("Sqrt", lambda x: dec(x).sqrt(), 0.001, 90, ["nan", "inf", "nan", "-0", 0]),
        ("Rsqrt", lambda x: 1 / dec(x).sqrt(), 0.001, 90, ["nan", 0, "nan", "-inf", "inf"]),
        ("Reciprocal", lambda x: 1 / dec(x), -90, 90, ["nan", 0, "-0", "-inf", "inf"]),
        ("Erf", exact.erf, -3, 3, ["nan", 1, -1, "-0", 0]),
        ("Erfc", lambda x: 1 - exact.erf(x), -3, 3, ["nan", 0, 2, 1, 1]),
    ):
        unary(name, frac(function), low, high, special, foreach="Foreach" + name)
    for name, function, low, high, special in (
        ("Asinh", exact.asinh, -9, 9, ["nan", "inf", "-inf", "-0", 0]),
        ("Acosh", exact.acosh, 1.01, 9, ["nan", "inf", "nan", "nan", "nan"]),
        ("Atanh", exact.atanh, -0.99, 0.99, ["nan", "nan", "nan", "-0", 0]),
        ("Sigmoid", exact.sigmoid, -8, 8, ["nan", 1, 0, F(1, 2), F(1, 2)]),
    ):
        unary(name, frac(function), low, high, special)
    unary("Log", frac(exact.ln), 0.01, 50, ["nan", "inf", "nan", "-inf", "-inf"], attributes={"base": -1.0, "scale": 1.0, "shift": 0.0})
    unary("Log", frac(lambda x: (2 * dec(x) + 1).ln() / D(2).ln()), 0.01, 50, [None] * 5, attributes={"base": 2.0, "scale": 2.0, "shift": 1.0})


def activations():
    root = (2 / exact.PI).sqrt()

    def tanh_gelu(x):
        x = dec(x)
        return x / 2 * (1 + exact.tanh(root * (x + D("0.044715") * x**3)))

    def softplus(x):
        return (1 + exact.exp(x)).ln()

    unary("Gelu", frac(tanh_gelu), -4, 4, [None, None, None, None, 0])
    unary("GeluV2", frac(lambda x: dec(x) / 2 * (1 + exact.erf(dec(x) / D(2).sqrt()))), -4, 4, [None] * 5, attributes={"approximate": "none"})
    unary("GeluV2", frac(tanh_gelu), -4, 4, [None] * 5, attributes={"approximate": "tanh"})
    unary("FastGelu", frac(lambda x: dec(x) * exact.sigmoid(D("1.702") * dec(x))), -4, 4, [None, None, None, None, 0])
    unary("Swish", frac(lambda x: dec(x) * exact.sigmoid(D("1.5") * dec(x))), -6, 6, [None, None, None, None, 0], attributes={"scale": 1.5})
    unary("Silu", frac(lambda x: dec(x) * exact.sigmoid(x)), -6, 6, [None, None, None, None, 0])
    unary("Relu", lambda x: max(x, F(0)), -5, 5, [None, "inf", 0, None, 0])
    unary("LeakyRelu", lambda x: x if x > 0 else x / 4, -5, 5, [None, "inf", "-inf", None, 0], attributes={"negative_slope": 0.25})
    unary("SquaredRelu", lambda x: max(x, F(0)) ** 2, -5, 5, [None, "inf", 0, None, 0])
    unary("Softplus", frac(softplus), -5, 5, [None] * 5)
    unary("Softsign", lambda x: x / (1 + abs(x)), -5, 5, [None, None, None, None, 0])
    unary("Mish", frac(lambda x: dec(x) * exact.tanh(softplus(x))), -5, 5, [None] * 5)
    unary("HardSwish", lambda x: x * min(max(x + 3, F(0)), F(6)) / 6, -5, 5, [None] * 5)
    unary("Logit", frac(lambda x: (dec(x) / (1 - dec(x))).ln()), 0.02, 0.98, [None] * 5, attributes={"eps": -1.0})

    def slope(function):
        """By a difference quotient, with a step far below any dtype's resolution."""
        step = F(1, 10**18)
        return lambda x: (F(function(x + step)) - F(function(x - step))) / (2 * step)

    for dtype in ("float16", "bfloat16", "float32"):
        grads, xs = numbers(dtype, 10, -2, 2), numbers(dtype, 10, -4, 4)
        pair = {"dy": tensor(grads, dtype), "x": tensor(xs, dtype)}

        def gradient(operator, function, inputs=pair, attributes=None, output="z"):
            call(operator, inputs, {output: tensor([dy * slope(function)(x) for dy, x in zip(grads, xs)], dtype)}, attributes)

        gradient("GeluGrad", tanh_gelu, {**pair, "y": tensor([0] * 10, dtype)})
        gradient("GeluGradV2", lambda x: dec(x) / 2 * (1 + exact.erf(dec(x) / D(2).sqrt())), attributes={"approximate": "none"})
        gradient("FastGeluGrad", lambda x: dec(x) * exact.sigmoid(D("1.702") * dec(x)))
        gradient("SiluGrad", lambda x: dec(x) * exact.sigmoid(x))
        saved = {"y": tensor(xs, dtype), "dy": tensor(grads, dtype)}
        call("TanhGrad", saved, {"z": tensor([dy * (1 - y * y) for dy, y in zip(grads, xs)], dtype)})
        call("SigmoidGrad", saved, {"z": tensor([dy * y * (1 - y) for dy, y in zip(grads, xs)], dtype)})
        call("RsqrtGrad", saved, {"z": tensor([-dy * y**3 / 2 for dy, y in zip(grads, xs)], dtype)})
        call("SqrtGrad", saved, {"z": tensor([dy / (2 * y) for dy, y in zip(grads, xs)], dtype)})
        # Gates: the first five elements of a row are one half, the others the other.
        rows = numbers(dtype, 20, -3, 3)
        left, right = rows[0:5] + rows[10:15], rows[5:10] + rows[15:20]
        call("SwiGlu", {"x": tensor(rows, dtype, [2, 10])},
             {"y": tensor([F(dec(a) * exact.sigmoid(a) * dec(b)) for a, b in zip(left, right)], dtype, [2, 5])}, {"dim": -1})
        gelus = [F(tanh_gelu(b)) for b in right]
        call("GeGluV2", {"x": tensor(rows, dtype, [2, 10])},
             {"y": tensor([a * g for a, g in zip(left, gelus)], dtype, [2, 5]), "gelu": tensor(gelus, dtype, [2, 5])},
             {"dim": -1, "approximate": 1, "activate_left": False})


def binaries():
    for dtype in ("float16", "bfloat16", "float32"):
        x, y = numbers(dtype, 10, -9, 9), numbers(dtype, 10, -9, 9)
        z = numbers(dtype, 10, -9, 9)
        px, py = [abs(value) for value in x], [abs(value) for value in y]

        def pair(operator, results, left=None, right=None, out=None, **attributes):
            call(operator, {"x1": tensor(left or x, dtype), "x2": tensor(right or y, dtype)}, {"y": tensor(results, out or dtype)}, attributes)

        pair("Add", [a + b for a, b in zip(x, y)])
        pair("Sub", [a - b for a, b in zip(x, y)])
        pair("Mul", [a * b for a, b in zip(x, y)])
        pair("Div", [a / b for a, b in zip(x, y)])
        pair("Maximum", [max(a, b) for a, b in zip(x, y)])
        pair("Minimum", [min(a, b) for a, b in zip(x, y)])
        pair("SquaredDifference", [(a - b) ** 2 for a, b in zip(x, y)])
        pair("Pow", [F(exact.exp(dec(b) / 4 * dec(a).ln())) for a, b in zip(px, y)], px, [b / 4 for b in y])
        pair("Xlogy", [F(dec(a) * dec(b).ln()) for a, b in zip(x, py)], x, py)
        pair("Xlogy", [0, 0], [0, 0], [0, "inf"])
        pair("LogAddExp", [F((exact.exp(a) + exact.exp(b)).ln()) for a, b in zip(x, y)])
        pair("DivNoNan", [a / b for a, b in zip(x, y)] + [0], x + [F(1)], y + [0])
        for operator, function in (
            ("Equal", lambda a, b: a == b), ("NotEqual", lambda a, b: a != b), ("Less", lambda a, b: a < b),
            ("LessEqual", lambda a, b: a <= b), ("Greater", lambda a, b: a > b), ("GreaterEqual", lambda a, b: a >= b),
        ):
            same = y[:5] + x[5:]
            pair(operator, [function(a, b) for a, b in zip(x, same)] + [operator == "NotEqual"], x + ["nan"], same + ["nan"], "bool")
        scalar = numbers("float32", 1, -3, 3)
        call("Addcmul", {"input_data": tensor(x, dtype), "x1": tensor(y, dtype), "x2": tensor(z, dtype), "value": tensor([F(3, 2)], dtype)},
             {"y": tensor([a + F(3, 2) * b * c for a, b, c in zip(x, y, z)], dtype)})
        call("Addcdiv", {"input_data": tensor(x, dtype), "x1": tensor(y, dtype), "x2": tensor(z, dtype), "value": tensor([F(3, 2)], dtype)},
             {"y": tensor([a + F(3, 2) * b / c for a, b, c in zip(x, y, z)], dtype)})
        call("Lerp", {"start": tensor(x, dtype), "end": tensor(y, dtype), "weight": tensor(z, dtype)},
             {"y": tensor([a + c * (b - a) for a, b, c in zip(x, y, z)], dtype)})
        call("Muls", {"x": tensor(x, dtype), "value": tensor(scalar, "float32")}, {"y": tensor([a * scalar[0] for a in x], dtype)})
        call("ClipByValueV2", {"x": tensor(x, dtype), "clip_value_min": tensor([-2], dtype), "clip_value_max": tensor([3], dtype)},
             {"y": tensor([min(max(a, -2), 3) for a in x], dtype)})
        call("Cast", {"x": tensor(x + [F(1, 2), F(5, 2), F(-7, 2)], dtype)},
             {"y": tensor([int(a) for a in x] + [0, 2, -3], "int32")}, {"dst_type": 3})
        call("Cast", {"x": tensor([1, 2049, 65519, -(2**24) - 1, 2**30 + 65], "int32")},
             {"y": tensor([1, 2049, 65519, -(2**24) - 1, 2**30 + 65], dtype)}, {"dst_type": 0})
        call("Neg", {"x": tensor(x + ["inf", 0], dtype)}, {"y": tensor([-a for a in x] + ["-inf", "-0"], dtype)})
        call("Abs", {"x": tensor(x + ["-inf", "-0"], dtype)}, {"y": tensor([abs(a) for a in x] + ["inf", 0], dtype)})
        halves = [F(k, 2) for k in range(-5, 6)]
        call("Rint", {"x": tensor(halves, dtype)}, {"y": tensor([round(a) or ("-0" if a < 0 else 0) for a in halves], dtype)})
        call("Floor", {"x": tensor(halves, dtype)}, {"y": tensor([a.__floor__() for a in halves], dtype)})
        call("Ceil", {"x": tensor(halves, dtype)}, {"y": tensor([a.__ceil__() or ("-0" if a < 0 else 0) for a in halves], dtype)})
        call("Trunc", {"x": tensor(halves, dtype)}, {"y": tensor([int(a) or ("-0" if a < 0 else 0) for a in halves], dtype)})
        for operator, right in (("IsFinite", [1, 0, 0, 0]), ("IsInf", [0, 0, 1, 1]), ("IsNan", [0, 1, 0, 0])):
            call(operator, {"x": tensor([F(1), "nan", "inf", "-inf"], dtype)}, {"y": tensor([bool(one) for one in right], "bool")})
        foreach(dtype, x, y, z)


def foreach(dtype, x, y, z):
    def lists(values):
        return [tensor(values[:4], dtype), tensor(values[4:], dtype)]

    scalars = numbers("float32", 2, -3, 3)

    def of(place):
        return scalars[0] if place < 4 else scalars[1]

    for name, function in (("Add", lambda a, s: a + s), ("Sub", lambda a, s: a - s), ("Mul", lambda a, s: a * s), ("Div", lambda a, s: a / s),
                           ("Maximum", max), ("Minimum", min)):
        call(f"Foreach{name}Scalar", {"x": lists(x), "scalar": tensor(scalars[:1], "float32")},
             {"y": lists([function(a, scalars[0]) for a in x])})
        call(f"Foreach{name}ScalarList", {"x": lists(x), "scalars": tensor(scalars, "float32")},
             {"y": lists([function(a, of(place)) for place, a in enumerate(x)])})
    for name, function in (("Mul", lambda a, b: a * b), ("Div", lambda a, b: a / b), ("Maximum", max), ("Minimum", min)):
        call(f"Foreach{name}List", {"x1": lists(x), "x2": lists(y)}, {"y": lists([function(a, b) for a, b in zip(x, y)])})
    for name, turn in (("Add", 1), ("Sub", -1)):
        call(f"Foreach{name}List", {"x1": lists(x), "x2": lists(y), "alpha": tensor(scalars[:1], "float32")},
             {"y": lists([a + turn * scalars[0] * b for a, b in zip(x, y)])})
    for name, function in (("Addcmul", lambda b, c: b * c), ("Addcdiv", lambda b, c: b / c)):
        call(f"Foreach{name}Scalar", {"x1": lists(x), "x2": lists(y), "x3": lists(z), "scalar": tensor(scalars[:1], "float32")},
             {"y": lists([a + scalars[0] * function(b, c) for a, b, c in zip(x, y, z)])})
        call(f"Foreach{name}ScalarList", {"x1": lists(x), "x2": lists(y), "x3": lists(z), "scalars": tensor(scalars, "float32")},
             {"y": lists([a + of(place) * function(b, c) for place, (a, b, c) in enumerate(zip(x, y, z))])})
    call("ForeachLerpScalar", {"x1": lists(x), "x2": lists(y), "weight": tensor(scalars[:1], "float32")},
         {"y": lists([a + scalars[0] * (b - a) for a, b in zip(x, y)])})
    positive = [abs(value) for value in x]
    call("ForeachPowScalar", {"x": lists(positive), "scalar": tensor([F(3, 2)], "float32")},
         {"y": lists([F(dec(a).sqrt() * dec(a)) for a in positive])})
    call("ForeachPowScalarAndTensor", {"scalar": tensor([F(3, 2)], "float32"), "x": lists(x)},
         {"y": lists([F(exact.exp(dec(a) * D("1.5").ln())) for a in x])})
    call("ForeachCopy", {"x": lists(x)}, {"y": lists(x)})
    call("ForeachNeg", {"x": lists(x)}, {"y": lists([-a for a in x])})
    call("ForeachAbs", {"x": lists(x)}, {"y": lists([abs(a) for a in x])})
    call("ForeachSign", {"x": lists(x)}, {"y": lists([1 if a > 0 else -1 for a in x])})
    call("ForeachSigmoid", {"x": lists(x)}, {"y": lists([F(exact.sigmoid(a)) for a in x])})
    halves = [F(k, 2) for k in (-5, -3, -1, 1, 3, 5, 7, 8)]
    for mode, function in ((1, round), (2, lambda a: a.__floor__()), (3, lambda a: a.__ceil__()), (5, int),
                           (4, lambda a: int(a + F(1, 2)) if a > 0 else int(a - F(1, 2)))):
        call("ForeachRoundOffNumber", {"x": lists(halves), "roundMode": tensor([mode], "int8")},
             {"y": lists([function(a) or ("-0" if a < 0 else 0) for a in halves])})
    for order in (1, 2):
        size = [sum(abs(a) ** order for a in part) for part in (x[:4], x[4:])]
        call("ForeachNorm", {"x": lists(x), "scalar": tensor([order], "float32")},
             {"y": [tensor([one if order == 1 else F(dec(one).sqrt())], dtype) for one in size]})


def integers():
    for dtype, bits, signed in (("int8", 8, True), ("uint8", 8, False), ("int32", 32, True), ("int64", 64, True), ("uint64", 64, False)):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        x = [low + 1, high, 7, 100] + [random.randint(low // 4, high // 4) for _ in range(6)]
        y = [low + 3, high - 2, 3, 25] + [random.randint(1, 5) for _ in range(6)]
        for operator, function in (("BitwiseAnd", lambda a, b: a & b), ("BitwiseOr", lambda a, b: a | b), ("BitwiseXor", lambda a, b: a ^ b),
                                   ("Maximum", max), ("Minimum", min), ("FloorDiv", lambda a, b: a // b), ("FloorMod", lambda a, b: a % b),
                                   ("TruncateDiv", lambda a, b: int(F(a, b)))):
            call(operator, {"x1": tensor(x, dtype), "x2": tensor(y, dtype)}, {"z": tensor([function(a, b) for a, b in zip(x, y)], dtype)})
        small = [value // 8 for value in x]
        call("Add", {"x1": tensor(small, dtype), "x2": tensor(y[2:3] * 10, dtype)}, {"z": tensor([a + 3 for a in small], dtype)})
        call("Mul", {"x1": tensor(small, dtype), "x2": tensor([3] * 10, dtype)}, {"z": tensor([a * 3 for a in small], dtype)})
        call("Less", {"x1": tensor(x, dtype), "x2": tensor(y, dtype)}, {"z": tensor([a < b for a, b in zip(x, y)], "bool")})
        if signed:
            call("Neg", {"x": tensor(x, dtype)}, {"y": tensor([-a for a in x], dtype)})
            call("Abs", {"x": tensor(x, dtype)}, {"y": tensor([abs(a) for a in x], dtype)})
            call("Invert", {"x": tensor(x, dtype)}, {"y": tensor([~a for a in x], dtype)})
    truth = [True, True, False, False], [True, False, True, False]
    for operator, right in (("LogicalAnd", [1, 0, 0, 0]), ("LogicalOr", [1, 1, 1, 0])):
        call(operator, {"x1": tensor(truth[0], "bool"), "x2": tensor(truth[1], "bool")}, {"y": tensor([bool(one) for one in right], "bool")})
    call("LogicalNot", {"x": tensor(truth[0], "bool")}, {"y": tensor([not one for one in truth[0]], "bool")})
    call("Gcd", {"x1": tensor([12, -18, 0, 17, 2**31 - 2], "int32"), "x2": tensor([18, 12, 5, -34, 6], "int32")},
         {"y": tensor([6, 6, 5, 17, 6], "int32")})


def rows():
    """Reductions, softmax, norms, losses, products, on two rows of five."""
    for dtype in ("float16", "bfloat16", "float32"):
        x, gamma, beta = numbers(dtype, 10, -3, 3), numbers(dtype, 5, -2, 2), numbers(dtype, 5, -2, 2)
        other, two = numbers(dtype, 10, -3, 3), [0, 5]
        matrix = tensor(x, dtype, [2, 5])

        def each_row(function):
            return [value for start in two for value in function(x[start:start + 5])]

        axes = tensor([1], "int32")
        for operator, function in (("ReduceSum", sum), ("ReduceMean", mean), ("ReduceMax", max), ("ReduceMin", min)):
            call(operator, {"x": matrix, "axes": axes}, {"y": tensor(each_row(lambda row: [function(row)]), dtype)}, {"keep_dims": False})

        def softmax(row):
            powers = [exact.exp(value) for value in row]
            return [F(power / sum(powers)) for power in powers]

        call("SoftmaxV2", {"x": matrix}, {"y": tensor(each_row(softmax), dtype, [2, 5])}, {"axes": [-1]})

        def layer_norm(row, epsilon=F(1, 1024)):
            centre = mean(row)
            rstd = F(1 / dec(mean([(value - centre) ** 2 for value in row]) + epsilon).sqrt())
            return [(value - centre) * rstd * g + b for value, g, b in zip(row, gamma, beta)], centre, rstd

        def rms_norm(row, epsilon=F(1, 1024)):
            rstd = F(1 / dec(mean([value * value for value in row]) + epsilon).sqrt())
            return [value * rstd * g for value, g in zip(row, gamma)], rstd

        weights = {"gamma": tensor(gamma, dtype), "beta": tensor(beta, dtype)}
        normal = [layer_norm(x[start:start + 5]) for start in two]
        saved = {"mean": tensor([one[1] for one in normal], "float32", [2, 1]), "rstd": tensor([one[2] for one in normal], "float32", [2, 1])}
        call("LayerNormV4", {"x": matrix, "normalized_shape": tensor([5], "int32"), **weights},
             {"y": tensor(normal[0][0] + normal[1][0], dtype, [2, 5]), **saved}, {"epsilon": 1 / 1024})
        rms = [rms_norm(x[start:start + 5]) for start in two]
        rstd = tensor([one[1] for one in rms], "float32", [2, 1])
        call("RmsNorm", {"x": matrix, "gamma": tensor(gamma, dtype)}, {"y": tensor(rms[0][0] + rms[1][0], dtype, [2, 5]), "rstd": rstd},
             {"epsilon": 1 / 1024})
        added = [a + b for a, b in zip(x, other)]
        rms = [rms_norm(added[start:start + 5]) for start in two]
        call("AddRmsNorm", {"x1": matrix, "x2": tensor(other, dtype, [2, 5]), "gamma": tensor(gamma, dtype)},
             {"y": tensor(rms[0][0] + rms[1][0], dtype, [2, 5]), "rstd": tensor([one[1] for one in rms], "float32", [2, 1]),
              "x": tensor(added, dtype, [2, 5])}, {"epsilon": 1 / 1024})
        for reduction in ("none", "sum", "mean"):
            squares = [(a - b) ** 2 for a, b in zip(x, other)]
            total = {"none": squares, "sum": [sum(squares)], "mean": [mean(squares)]}[reduction]
            call("MseLoss", {"predict": tensor(x, dtype), "label": tensor(other, dtype)}, {"y": tensor(total, dtype)}, {"reduction": reduction})
            share = F(2, 10) if reduction == "mean" else 2
            call("MseLossGradV2", {"predict": tensor(x, dtype), "label": tensor(other, dtype), "dout": tensor(added, dtype)},
                 {"y": tensor([share * (a - b) * exact.value_of(exact.bits_of(c, dtype), dtype) for a, b, c in zip(x, other, added)], dtype)},
                 {"reduction": reduction})
        gradients(dtype, x, other, gamma)
        product = [sum(x[5 * row + k] * other[2 * k + column] for k in range(5)) for row in (0, 1) for column in (0, 1)]
        call("MatMulV3", {"x1": matrix, "x2": tensor(other, dtype, [5, 2])}, {"y": tensor(product, dtype, [2, 2])},
             {"transpose_x1": False, "transpose_x2": False})
        turned = [other[2 * k + column] for column in (0, 1) for k in range(5)]
        call("MatMulV3", {"x1": matrix, "x2": tensor(turned, dtype, [2, 5])}, {"y": tensor(product, dtype, [2, 2])},
             {"transpose_x1": False, "transpose_x2": True})


def gradients(dtype, x, dy, gamma):
    """Gradients of norms by difference quotients of the sum of dy * y: nothing of the closed form."""
    step = F(1, 10**20)

    def rounded(value):
        return exact.value_of(exact.bits_of(value, "float32"), "float32")

    def normal(row, scale, is_layer):
        centre = mean(row) if is_layer else F(0)
        spread = dec(mean([(value - centre) ** 2 for value in row])).sqrt()
        return [(value - centre) * g / F(spread) for value, g in zip(row, scale)]

    for operator, is_layer in (("LayerNormGradV3", True), ("RmsNormGrad", False)):
        means = [mean(x[start:start + 5]) if is_layer else F(0) for start in (0, 5)]
        spreads = [F(1 / dec(mean([(value - centre) ** 2 for value in x[start:start + 5]])).sqrt()) for start, centre in zip((0, 5), means)]
        dx, dgamma = [], []
        for start in (0, 5):
            row, grads = x[start:start + 5], dy[start:start + 5]

            def total(values, scale):
                return sum(g * y for g, y in zip(grads, normal(values, scale, is_layer)))

            for place in range(5):
                up = [value + (step if at == place else 0) for at, value in enumerate(row)]
                down = [value - (step if at == place else 0) for at, value in enumerate(row)]
                dx.append((total(up, gamma) - total(down, gamma)) / (2 * step))
                dgamma.append(grads[place] * normal(row, [F(1)] * 5, is_layer)[place])
        inputs = {"dy": tensor(dy, dtype, [2, 5]), "x": tensor(x, dtype, [2, 5]), "rstd": tensor(spreads, "float32", [2, 1])}
        # Mean and rstd are saved in single precision, which a single-precision result shows.
        outputs = {("pd_x" if is_layer else "dx"): tensor(dx, dtype, [2, 5], ulps=64 if dtype == "float32" else 1)}
        dgamma = tensor([a + b for a, b in zip(dgamma[:5], dgamma[5:])], "float32", ulps=64)
        outputs["pd_gamma" if is_layer else "dgamma"] = dgamma
        if is_layer:
            inputs["mean"] = tensor([rounded(one) for one in means], "float32", [2, 1])
            outputs["pd_beta"] = tensor([a + b for a, b in zip(dy[:5], dy[5:])], "float32")
        inputs["gamma"] = tensor(gamma, dtype)
        call(operator, inputs, outputs)


def moved():
    """What only moves elements: results are lists of places."""
    values = list(range(1, 13))
    x = tensor(values, "int16", [3, 4])

    def places(operator, inputs, right, shape, attributes=None):
        call(operator, inputs, {"y": tensor([values[at] if at is not None else 0 for at in right], "int16", shape)}, attributes)

    places("Tril", {"x": x}, [at if at % 4 <= at // 4 else None for at in range(12)], [3, 4], {"diagonal": 0})
    places("Triu", {"x": x}, [at if at % 4 >= at // 4 + 1 else None for at in range(12)], [3, 4], {"diagonal": 1})
    places("Transpose", {"x": x, "perm": tensor([1, 0], "int32")}, [4 * row + column for column in range(4) for row in range(3)], [4, 3])
    places("GatherV3", {"x": x, "indices": tensor([2, 0], "int32"), "axis": tensor([0], "int64")}, [8, 9, 10, 11, 0, 1, 2, 3], [2, 4])
    places("GatherV3", {"x": x, "indices": tensor([3, 1], "int32"), "axis": tensor([1], "int64")}, [3, 1, 7, 5, 11, 9], [3, 2])
    places("Gather", {"x1": x, "indices": tensor([1, 1], "int64")}, [4, 5, 6, 7] * 2, [2, 4], {"batch_dims": 0})
    places("CircularPad", {"x": x, "paddings": tensor([1, 2, 1, 0], "int64")},
           [4 * row + column for row in (2, 0, 1, 2) for column in (3, 0, 1, 2, 3, 0, 1)], [4, 7])
    places("ConcatDV2", {"x": [x, x]}, [4 * row + column % 4 for row in range(3) for column in range(8)], [3, 8], {"concat_dim": 1})
    places("Tile", {"x": x, "multiples": tensor([1, 2], "int64")}, [4 * row + column % 4 for row in range(3) for column in range(8)], [3, 8])
    places("DiagV2", {"x": x}, [1, 6, 11], [3], {"diagonal": 1})
    places("MaskedSelectV3", {"x": x, "mask": tensor([at % 5 == 0 for at in range(12)], "bool", [3, 4])}, [0, 5, 10], [3])
    call("ScatterElementsV2",
         {"var": x, "indices": tensor([0, 2, 1, 0], "int32", [1, 4]), "updates": tensor([50, 60, 70, 80], "int16", [1, 4])},
         {"var": tensor([50, 2, 3, 80, 5, 6, 70, 8, 9, 60, 11, 12], "int16", [3, 4])}, {"axis": 0, "reduction": "none"})
    call("ScatterElementsV2",
         {"var": x, "indices": tensor([0, 0, 0], "int32", [3, 1]), "updates": tensor([50, 60, 70], "int16", [3, 1])},
         {"var": tensor([51, 2, 3, 4, 65, 6, 7, 8, 79, 10, 11, 12], "int16", [3, 4])}, {"axis": 1, "reduction": "add"})
    call("Fill", {"dims": tensor([2, 3], "int64"), "value": tensor([7], "int32")}, {"y": tensor([7] * 6, "int32", [2, 3])})
    call("Arange", {"start": tensor([3], "int32"), "end": tensor([11], "int32"), "step": tensor([3], "int32")}, {"out": tensor([3, 6, 9], "int32")})
    call("Cross", {"x1": tensor([1, 2, 3], "int32"), "x2": tensor([4, 5, 6], "int32")}, {"y": tensor([-3, 6, -3], "int32")}, {"dim": 0})


def padded_gradients():
    """Every element of dy goes to the element that padding took it from, told by walking."""
    grads = list(range(1, 5 * 7 + 1))

    def walk(place, before, size, mode):
        at = place - before
        while not 0 <= at < size:
            at = at + size if mode == "wrap" and at < 0 else at - size if mode == "wrap" else -at if at < 0 else 2 * (size - 1) - at
        return at

    for operator, mode, paddings, attributes in (
        ("CircularPadGrad", "wrap", [2, 1, 1, 1], {}),
        ("PadV4Grad", "reflect", [1, 1, 2, 1], {"mode": "reflect", "paddings_contiguous": True}),
    ):
        right = [0] * 12
        for row in range(5):
            for column in range(7):
                right[4 * walk(row, 1, 3, mode) + walk(column, 2, 4, mode)] += grads[7 * row + column]
        call(operator, {"x": tensor(grads, "float32", [5, 7]), "paddings": tensor(paddings, "int64")},
             {"y": tensor(right, "float32", [3, 4])}, attributes)


def further():
    for dtype in ("float16", "bfloat16", "float32"):
        dy, inner, outer = numbers(dtype, 8, -2, 2), numbers(dtype, 8, -0.95, 0.95), numbers(dtype, 8, 0.2, 4)
        grad = tensor(dy, dtype)
        call("AcosGradV2", {"y": tensor(inner, dtype), "dy": grad},
             {"z": tensor([F(-dec(g) / (1 - dec(y) ** 2).sqrt()) for g, y in zip(dy, inner)], dtype)})
        call("AsinGrad", {"y": tensor(inner, dtype), "dy": grad},
             {"z": tensor([F(dec(g) / (1 - dec(y) ** 2).sqrt()) for g, y in zip(dy, inner)], dtype)})
        call("AtanGrad", {"x": tensor(outer, dtype), "dy": grad}, {"dx": tensor([g / (1 + x * x) for g, x in zip(dy, outer)], dtype)})
        call("AcoshGrad", {"y": tensor(outer, dtype), "dy": grad}, {"dx": tensor([F(dec(g) / exact.sinh(y)) for g, y in zip(dy, outer)], dtype)})
        call("AxpyV3", {"x": tensor(dy, dtype), "y": tensor(outer, dtype)}, {"z": tensor([F(3, 2) * a + b for a, b in zip(dy, outer)], dtype)}, {"a": 1.5})
        call("FusedMulAddN", {"x1": tensor(dy, dtype), "x2": tensor(outer, dtype), "x3": tensor([F(3, 2)], dtype)},
             {"y": tensor([F(3, 2) * a + b for a, b in zip(dy, outer)], dtype)})
        call("Exp", {"x": tensor(inner, dtype)}, {"y": tensor([F(exact.exp((dec(x) / 2 + 1) * D(2).ln())) for x in inner], dtype)},
             {"base": 2.0, "scale": 0.5, "shift": 1.0})
        call("DotV2", {"x1": tensor(dy, dtype), "x2": tensor(outer, dtype)}, {"y": tensor([sum(a * b for a, b in zip(dy, outer))], dtype)})
        for function, operator in ((min, "ArgMinWithValue"), (max, "ArgMaxWithValue")):
            rows = [dy[:4], dy[4:]]
            call(operator, {"x": tensor(dy, dtype, [2, 4])},
                 {"indice": tensor([row.index(function(row)) for row in rows], "int32"), "values": tensor([function(row) for row in rows], dtype)},
                 {"dimension": -1, "keep_dims": False})
        targets = [abs(value) for value in inner]
        loss = [F(dec(b) * (dec(b).ln() - dec(a))) for a, b in zip(dy, targets)]
        for reduction, right in (("none", loss), ("sum", [sum(loss)]), ("mean", [mean(loss)])):
            call("KLDivV2", {"x": tensor(dy, dtype), "target": tensor(targets, dtype)}, {"y": tensor(right, dtype)},
                 {"reduction": reduction, "log_target": False})
    values = list(range(1, 13))
    x = tensor(values, "int16", [3, 4])
    call("PackV2", {"x": x, "y": tensor([-one for one in values], "int16", [3, 4])},
         {"z": tensor([side * (4 * row + column + 1) for row in range(3) for side in (1, -1) for column in range(4)], "int16", [3, 2, 4])}, {"d": 1})
    call("Roll", {"x": x}, {"y": tensor([4 * ((row - 1) % 3) + (column + 1) % 4 + 1 for row in range(3) for column in range(4)], "int16", [3, 4])},
         {"shifts": [1, -1], "dims": [0, 1]})
    call("SliceV3", {"x": x, "begin": tensor([1, 1], "int64"), "size": tensor([-1, 2], "int64")}, {"y": tensor([6, 7, 10, 11], "int16", [2, 2])})
    call("RightShift", {"x": tensor([-9, 200, 7], "int16"), "y": tensor([1, 3, 15], "int16")}, {"z": tensor([-5, 25, 0], "int16")})
    call("PopulationCount", {"x": tensor([-1, 0, 5, 256], "int16")}, {"y": tensor([16, 0, 2, 1], "uint8")})


def quantised():
    x = [F(5, 4), F(-30), F(41, 4), F(1, 8)]
    call("AscendQuantV2", {"x": tensor(x, "float32"), "scale": tensor([F(3)], "float32"), "offset": tensor([F(1)], "float32")},
         {"y": tensor([5, -89, 32, 1], "int8")}, {"sqrt_mode": False, "round_mode": "round", "dst_type": 2, "axis": -1})
    call("AscendQuantV2", {"x": tensor([F(1000), F(-1000), F(7, 3), F(-7, 3)], "float32"), "scale": tensor([F(1)], "float32")},
         {"y": tensor([127, -128, 2, -3], "int8")}, {"sqrt_mode": False, "round_mode": "floor", "dst_type": 2, "axis": -1})
    row = [F(1), F(-2), F(127, 64), F(1, 4)]
    call("DynamicQuant", {"x": tensor(row, "float16", [1, 4])}, {"y": tensor([64, -127, 126, 16], "int8", [1, 4]),
                                                                 "scale": tensor([F(2, 127)], "float32")}, {"dst_type": 2})


unaries()
activations()
binaries()
integers()
rows()
moved()
padded_gradients()
further()
quantised()
further_calls.all_of()
spatial_calls.all_of()
step_calls.all_of()
scalar_calls.all_of()
loss_calls.all_of()
index_calls.all_of()
block_calls.all_of()
norm_calls.all_of()
quant_calls.all_of()
recurrent_calls.all_of()
routing_calls.all_of()
window_calls.all_of()
sampling_calls.all_of()
cache_calls.all_of()
expert_calls.all_of()
page_calls.all_of()
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "known.json"), "w", encoding="utf-8") as file:
    file.write("[\n" + ",\n".join(json.dumps(one) for one in CALLS) + "\n]\n")
examples.write_families()
with open(os.path.join(examples.DEFINITIONS, "examples.json"), "w", encoding="utf-8") as file:
    file.write(examples.written(CALLS))
print(len(CALLS), "calls of", len({one["operator"] for one in CALLS}), "operators")
