"""Calls of activations, their gradients, special functions, further arithmetic and fused steps for `make_known.py`."""

import math
from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec

DTYPES = ("float16", "bfloat16", "float32")
COUNT = 6
HALF = F(1, 2)
STEP = F(1, 10**18)
# Thirds and sixths are no binary numbers: in float64 a result may fall on the other side of the middle between two numbers of a dtype.
CLOSE = {"ulps": 1}


def slope(function, at):
    """By a difference quotient, with a step far below any dtype's resolution."""
    return (F(function(at + STEP)) - F(function(at - STEP))) / (2 * STEP)


def held(values, dtype):
    """Values as they are once stored."""
    found = [exact.value_of(exact.bits_of(value, dtype), dtype) for value in values]
    return [F(0) if value == "-0" else value for value in found]


def sigmoid(x):
    return F(exact.sigmoid(x))


def softplus(x):
    return (1 + exact.exp(x)).ln()


def mish(x):
    return dec(x) * exact.tanh(softplus(x))


def silu(x):
    return x * sigmoid(x)


def expm1(x):
    return F(exact.exp(x) - 1)


def elu(alpha, scale, inner):
    return lambda x: scale * x if x > 0 else scale * alpha * expm1(inner * x)


SELU = F("1.6732632423543772848170429916717"), F("1.0507009873554804934193349852946")
selu = elu(*SELU, 1)


def activations(dtype):
    x = numbers(dtype, COUNT, -5, 5) + [F(3), F(-3), HALF, F(-1, 4)]

    def unary(operator, function, attributes=None, more=(), **allowed):
        values = x + [value for value, _ in more]
        right = [F(function(value)) for value in x] + [result for _, result in more]
        call(operator, {"x": tensor(values, dtype)}, {"y": tensor(right, dtype, **allowed)}, attributes)

    unary("EluV2", elu(HALF, 3, F(1, 4)), {"alpha": 0.5, "scale": 3.0, "inputScale": 0.25}, [("inf", "inf"), ("-inf", F(-3, 2)), (0, 0)])
    unary("Elu", elu(1, 1, 1))
    unary("CeluV2", lambda a: a if a > 0 else 2 * expm1(a / 2), {"alpha": 2.0}, [("inf", "inf"), ("-inf", -2), (0, 0)])
    unary("CeluV3", lambda a: a if a > 0 else expm1(a), {"alpha": 1.0})
    unary("Selu", selu, None, [("inf", "inf"), ("-inf", -SELU[0] * SELU[1]), (0, 0)])
    unary("HardSigmoidV2", lambda a: min(max(a / 6 + HALF, F(0)), F(1)), None, [("inf", 1), ("-inf", 0)], **CLOSE)
    unary("HardSigmoid", lambda a: min(max(a / 4 + HALF, F(0)), F(1)), {"alpha": 0.25, "beta": 0.5})
    unary("HardSwishV2", lambda a: a * min(max(a + 3, F(0)), F(6)) / 6, **CLOSE)
    unary("HardShrink", lambda a: a if abs(a) > HALF else 0, {"lambd": 0.5})
    unary("Softshrink", lambda a: a - HALF if a > HALF else a + HALF if a < -HALF else 0, {"lambd": 0.5}, [("inf", "inf"), (0, 0)])
    unary("Shrink", lambda a: a - 2 if a > HALF else a + 2 if a < -HALF else 0, {"lambd": 0.5, "bias": 2.0})
    unary("ThresholdV2", lambda a: a if a > HALF else F(7), {"threshold": 0.5, "value": 7.0})
    unary("LogsigmoidV2", lambda a: -softplus(-a))
    unary("SoftPlusV2", softplus)
    unary("SoftplusV2", lambda a: a if 2 * a > 4 else softplus(2 * a) / 2, {"beta": 2.0, "threshold": 4.0})
    unary("ReluV2", lambda a: max(a, F(0)))
    unary("LeakyreluV2", lambda a: a if a > 0 else a / 4, {"negativeSlope": 0.25})
    unary("SwishV2", lambda a: dec(a) * exact.sigmoid(a / 2), {"scale": 0.5})
    call("ReluV3", {"x": tensor(x[:8], dtype)}, {"y": tensor([max(a, F(0)) for a in x[:8]], dtype), "mask": tensor([0], "uint8", silent=True)})
    for weights in ([F(1, 4)], [F(1, 4), F(-2), F(3)]):
        right = [a if a > 0 else a * weights[at // 2 % len(weights)] for at, a in enumerate(x[:6])]
        call("Prelu", {"x": tensor(x[:6], dtype, [1, 3, 2]), "weight": tensor(weights, dtype)}, {"y": tensor(right, dtype, [1, 3, 2])})


def slopes(dtype):
    x = numbers(dtype, COUNT, -5, 5) + [F(3), F(-3), HALF, F(-1, 4)]
    dy = numbers(dtype, len(x), -2, 2)

    def gradient(operator, function, names, attributes=None, at=None, **allowed):
        at = at or x
        values = {names[0]: tensor(dy, dtype), names[1]: tensor(at, dtype)}
        call(operator, values, {"z": tensor([g * F(function(a)) for g, a in zip(dy, at)], dtype, **allowed)}, attributes)

    def if_above(limit):
        return lambda a: 1 if a > limit else 0

    gradient("ReluGradV2", if_above(0), ("gradients", "features"))
    gradient("ReluGradV3", if_above(0), ("y", "x"))
    gradient("Relu6Grad", lambda a: 1 if 0 < a < 6 else 0, ("gradients", "features"))
    gradient("LeakyReluGradV2", lambda a: 1 if a > 0 else F(1, 4), ("dy", "x"), {"negativeSlope": 0.25})
    gradient("ThresholdGradV2D", if_above(HALF), ("input_gradient", "input_feature"), {"threshold": 0.5})
    far = [a for a in x if a not in (HALF, F(3), F(-3))] * 2
    gradient("HardtanhGrad", lambda a: 1 if F(-3) < a < F(1, 2) else 0, ("grad", "result"), {"min_val": -3.0, "max_val": 0.5}, far[:len(x)])
    gradient("HardShrinkGrad", lambda a: 1 if abs(a) > HALF else 0, ("grad_output", "self"), {"lambd": 0.5})
    gradient("SoftshrinkGrad", lambda a: 1 if abs(a) > HALF else 0, ("input_grad", "input_x"), {"lambd": 0.5})
    gradient("HardSigmoidGradV2", lambda a: F(1, 6) if abs(a) < 3 else 0, ("grad_output", "self"), **CLOSE)
    gradient("HardSwishGrad", lambda a: 0 if a < -3 else 1 if a > 3 else a / 3 + HALF, ("grad", "x"), None, far[:len(x)], **CLOSE)
    gradient("EluGrad", lambda y: min(y, 0) + 1, ("grads", "activations"))
    shaped = {"alpha": 0.5, "scale": 3.0, "input_scale": 0.25}
    curve = elu(HALF, 3, F(1, 4))
    gradient("EluGradV2", lambda a: slope(curve, a), ("dy", "x"), {**shaped, "is_result": False})
    # Of results: as many that are not below what the curve nears.
    results = [a / 4 for a in x]
    gradient("EluGradV2", lambda y: 3 if y > 0 else (y + F(3, 2)) / 4, ("grads", "activations"), {**shaped, "is_result": True}, results)
    gradient("SeluGrad", lambda y: SELU[1] if y >= 0 else y + SELU[0] * SELU[1], ("gradients", "outputs"))
    gradient("SoftplusGrad", lambda a: slope(softplus, a), ("gradients", "features"))
    gradient("SoftplusV2Grad", lambda a: 1 if 2 * a > 4 else sigmoid(2 * a), ("gradOutput", "self"), {"beta": 2.0, "threshold": 4.0})
    gradient("SoftsignGrad", lambda a: 1 / (1 + abs(a)) ** 2, ("gradients", "features"))
    gradient("LogSigmoidGrad", lambda a: slope(lambda one: -softplus(-one), a), ("grads", "features"))
    gradient("MishGrad", lambda a: slope(mish, a), ("grad", "x"))
    gradient("AbsGrad", lambda a: 1 if a > 0 else -1, ("dy", "y"))
    inside = numbers(dtype, len(x) - 2, 0.02, 0.98) + [F(-1), F(2)]
    for eps in (-1.0, 0.125):
        right = [g / (a * (1 - a)) if F(max(eps, 0)) <= a <= 1 - F(max(eps, 0)) else "nan" if eps < 0 else 0 for g, a in zip(dy, inside)]
        call("LogitGrad", {"x": tensor(inside, dtype), "dy": tensor(dy, dtype)}, {"dx": tensor(right, dtype)}, {"eps": eps})
    mask = [at % 3 for at in range(len(x))]
    call("ReluGradV4", {"gradients": tensor(dy, dtype), "features": tensor(mask, "uint8")},
         {"backprops": tensor([g if m else 0 for g, m in zip(dy, mask)], dtype)})
    logs = held([F(-1), F(-3, 2), F(-3, 4), F(-2)], dtype)
    right = [g - F(exact.exp(a)) * sum(dy[at // 2 * 2:at // 2 * 2 + 2]) for at, (g, a) in enumerate(zip(dy, logs))]
    call("LogSoftmaxGrad", {"input_dy": tensor(dy[:4], dtype, [2, 2]), "input_x": tensor(logs, dtype, [2, 2])},
         {"output_z": tensor(right, dtype, [2, 2])}, {"axis": [-1]})


def gelu_erf(x):
    return F(dec(x) / 2 * (1 + exact.erf(dec(x) / D(2).sqrt())))


def gelu_tanh(x):
    return F(dec(x) / 2 * (1 + exact.tanh((2 / exact.PI).sqrt() * (dec(x) + D("0.044715") * dec(x)**3))))


def gates(dtype):
    a, b, dy = (numbers(dtype, 4, -4, 4) for _ in range(3))

    def of(values, shape=None):
        return tensor(values, dtype, shape or [1, len(values)])

    def gate(operator, function, attributes=None, name="x"):
        call(operator, {name: of(a + b)}, {"y": of([function(*pair) for pair in zip(a, b)])}, attributes)

    def gradient(operator, function, attributes=None, names=("grad_y", "x")):
        """`function` of both halves; the slopes by each of them."""
        first = [g * slope(lambda one, v=v: function(one, v), u) for g, u, v in zip(dy, a, b)]
        second = [g * slope(lambda one, u=u: function(u, one), v) for g, u, v in zip(dy, a, b)]
        call(operator, {names[0]: of(dy), names[1]: of(a + b)}, {"dx": of(first + second)}, attributes)

    gate("GLU", lambda u, v: u * sigmoid(v), {"dim": -1})
    gradient("GLUGrad", lambda u, v: u * sigmoid(v), {"dim": -1}, ("grad_out", "self"))
    call("SiluMul", {"x": of(a), "y": of(b)}, {"z": of([silu(u) * v for u, v in zip(a, b)])})
    gate("GeluMul", lambda u, v: gelu_erf(u) * v, {"approximate": "none"}, "input")
    gate("GeluMul", lambda u, v: gelu_tanh(u) * v, {"approximate": "tanh"}, "input")
    gate("SwigluClamp", lambda u, v: min(silu(u), 2) * min(max(v, -2), 2), {"limit": 2.0})

    def clipped(u, v):
        u, v = min(u, F(2)), min(max(v, F(-2)), F(2))
        return u * sigmoid(u * 3 / 2) * (v + HALF)

    numbers_of = {"alpha": 1.5, "limit": 2.0, "bias": 0.5}
    gate("ClippedSwiglu", clipped, {"dim": -1, **numbers_of, "interleaved": False, "clamp_mode": 0})
    gate("ClippedSwiglu", lambda u, v: min(silu(u), 2) * min(max(v, -2), 2), {"dim": 1, **numbers_of, "interleaved": False, "clamp_mode": 1})
    gradient("ClippedSwigluGrad", clipped, {"dim": -1, **numbers_of, "interleaved": False})
    # Two rows, of which the groups count one; nothing is said of the other, and the gradient of it is none.
    mixed = [one for pair in zip(a, b) for one in pair]
    groups = {"group_index": tensor([1, 0], "int64")}
    right = [clipped(u, v) for u, v in zip(a, b)]
    call("ClippedSwiglu", {"x": of(mixed, [2, 4]), **groups}, {"y": of(right, [2, 2])},
         {"dim": -1, **numbers_of, "interleaved": True, "clamp_mode": 0})
    first = [g * slope(lambda one, v=v: clipped(one, v), u) for g, u, v in zip(dy, a[:2], b)]
    second = [g * slope(lambda one, u=u: clipped(u, one), v) for g, u, v in zip(dy, a, b[:2])]
    call("ClippedSwigluGrad", {"grad_y": of(dy, [2, 2]), "x": of(mixed, [2, 4]), **groups},
         {"grad_x": of([first[0], second[0], first[1], second[1]] + [0] * 4, [2, 4])}, {"dim": -1, **numbers_of, "interleaved": True})
    for linear in (0, 3):
        def situ(u, v, linear=linear):
            return 2 * F(exact.tanh(u / 2)) * sigmoid(u) * (linear * F(exact.tanh(v / linear)) if linear else v)

        attributes = {"dim": -1, "beta": 2.0, "linear_beta": float(linear), "activate_left": True}
        gate("SituGlu", situ, attributes)
        gradient("SituGluGrad", situ, attributes)
        attributes["activate_left"] = False
        gate("SituGlu", lambda u, v, situ=situ: situ(v, u), attributes)
        gradient("SituGluGrad", lambda u, v, situ=situ: situ(v, u), attributes)


def inverse_erf(x):
    """By Newton's method on the series."""
    x = dec(x)
    result = D(0)
    for _ in range(60):
        result -= (exact.erf(result) - x) * exact.PI.sqrt() / 2 * (result * result).exp()
    return result


def dawson(x):
    """The series of alternating terms."""
    x = dec(x)
    total, term, place = D(0), x, 0
    while abs(term) > D(10) ** -70:
        total += term
        place += 1
        term = -term * 2 * x * x / (2 * place + 1)
    return total


def dilogarithm(z):
    total, power, place = D(0), D(1), 0
    while abs(power) > D(10) ** -40:
        place += 1
        power *= z
        total += power / place**2
    return total


def spence(x):
    """By its series, and by Landen's identity where that does not end."""
    z = 1 - dec(x)
    if z < D("-0.95"):
        return -dilogarithm(z / (z - 1)) - (1 - z).ln() ** 2 / 2
    return dilogarithm(z)


def bessel(order):
    def scaled(x):
        x = dec(x)
        total, term, place = D(0), (x / 2) ** order if order else D(1), 0
        while abs(term) > D(10) ** -60 or place < abs(x):
            total += term
            place += 1
            term = term * x * x / (4 * place * (place + order))
        return total * (-abs(x)).exp()

    return scaled


def special(dtype):
    for operator, function, ranges, more in (
        ("ErfInv", inverse_erf, ((-0.9, 0.9), (0.9, 0.99)), [("nan", "nan"), (1, "inf"), (-1, "-inf"), (2, "nan"), (0, 0)]),
        ("Dawsn", dawson, ((-3, 3), (5, 12)), [("nan", "nan"), ("inf", 0), (0, 0)]),
        ("Spence", spence, ((0.1, 0.49), (0.5, 1.5), (1.5, 2.5), (3, 20)), [("nan", "nan"), (-1, "nan"), (1, 0), (0, F(exact.PI**2 / 6))]),
        ("BesselI0e", bessel(0), ((-8, 8), (25, 60)), [("nan", "nan"), ("inf", 0), (0, 1)]),
        ("BesselI1e", bessel(1), ((-8, 8), (-60, -25), (25, 60)), [("nan", "nan"), ("inf", 0), (0, 0)]),
    ):
        x = [value for low, high in ranges for value in numbers(dtype, 3, low, high)]
        call(operator, {"x": tensor(x + [value for value, _ in more], dtype)},
             {"y": tensor([F(function(value)) for value in x] + [right for _, right in more], dtype)})


def arithmetic(dtype):
    x, y = numbers(dtype, COUNT, -20, 20), [F(3, 4), F(-5, 4), F(7, 2), F(-9, 4), F(3), F(-7)]

    def of(values, shape=None, other=dtype):
        return tensor(values, other, shape)

    # Quotients half-way between whole numbers, whose remainders no rounding moves.
    left = [(F(at) + HALF) * b for at, b in zip((3, -2, 0, 4, -1, 2), y)]
    rest = [a - int(a / b) * b for a, b in zip(left, y)]
    call("Mod", {"x1": of(left), "x2": of(y)}, {"y": of(rest)})
    for mode, function in ((0, lambda q: q), (1, int), (2, lambda q: q.__floor__())):
        call("DivV3", {"x1": of(left), "x2": of(y)}, {"y": of([function(a / b) for a, b in zip(left, y)])}, {"mode": mode})
    short, long, matrix = x[:2], x[2:5], numbers(dtype, 6, -3, 3)
    products = [a * b for a in short for b in long]
    call("Ger", {"x1": of(short), "x2": of(long)}, {"y": of(products, [2, 3])})
    call("AddrV2", {"x1": of(matrix, [2, 3]), "x2": of(short), "x3": of(long), "beta": of([HALF]), "alpha": of([F(3)])},
         {"y": of([m / 2 + 3 * p for m, p in zip(matrix, products)], [2, 3])})
    call("GerV2", {"x": of(short), "y": of(long), "A": of(matrix, [2, 3])},
         {"z": of([m + HALF * p for m, p in zip(matrix, products)], [2, 3])}, {"alpha": 0.5})
    columns, rows = [of(short, [1, 2, 1]), of(matrix[:2], [1, 2, 1])], [of(long, [1, 1, 3]), of(matrix[2:5], [1, 1, 3])]
    others = [a * b for a in matrix[:2] for b in matrix[2:5]]
    call("MulAddn", {"x1": columns, "x2": rows}, {"y": of([a + b for a, b in zip(products, others)], [1, 2, 3])}, {"N": 2})
    call("AngleV2", {"x": of(x + [0, "inf", "-inf"])}, {"y": of([F(exact.PI) if a < 0 else 0 for a in x] + [0, 0, F(exact.PI)])})
    call("Real", {"input": of(x)}, {"output": of(x)}, {"Tout": 0})
    call("FillV2", {"x": of(x), "fill_value": of([F(5, 2)])}, {"x": of([F(5, 2)] * COUNT)})
    for other, right in ((x, True), (x[::-1], False)):
        call("TensorEqual", {"input_x": of(x), "input_y": of(other)}, {"output_z": of([right], None, "bool")})
    first, second, gamma, beta = (numbers(dtype, count, -2, 2) for count in (6, 6, 3, 3))
    product = [a * b * F(3, 2) for a, b in zip(first, second)]
    right = []
    for row in (product[:3], product[3:]):
        spread = F(1 / dec(mean([(one - mean(row)) ** 2 for one in row]) + F(1, 64)).sqrt())
        right += [(one - mean(row)) * spread * g + b for one, g, b in zip(row, gamma, beta)]
    call("MulMulReduceMeanDTwice", {"mul0_input0": of(first, [2, 3]), "mul0_input1": of(second, [2, 3]), "mul1_input0": of([F(3, 2)]),
                                    "add_y": of([F(1, 64)]), "gamma": of(gamma, [1, 3]), "beta": of(beta, [1, 3])},
         {"output": of(right, [2, 3], dtype)})
    chosen = [at % 2 == 0 for at in range(6)]
    taken = [a if c else b for a, b, c in zip(first, second, chosen)]
    powers = [exact.exp(one) for one in taken]
    soft = [F(p / sum(powers[at // 3 * 3:at // 3 * 3 + 3])) for at, p in enumerate(powers)]
    call("SelectReduceMaxDSubExpReduceSumDRealDiv", {"sel": of(chosen, [2, 1, 3], "bool"), "input1": of(first, [2, 1, 3]),
                                                     "input2": of(second, [2, 1, 3])}, {"ouput": of(soft, [2, 1, 3])})
    qkv, bias = numbers(dtype, 24, -3, 3), numbers(dtype, 12, -3, 3)
    shares = {"q": 1 / F(D(2).sqrt()), "k": F(1), "v": F(1)}
    outputs = {}
    for part, (name, share) in enumerate(shares.items()):
        places = [(row, 4 * part + 2 * head + depth) for head in range(2) for row in range(2) for depth in range(2)]
        outputs[name] = of([(qkv[12 * row + at] + bias[at]) * share for row, at in places], [1, 2, 2, 2])
    call("TransformBiasRescaleQkv", {"qkv": of(qkv, [1, 2, 12]), "qkv_bias": of(bias)}, outputs, {"num_heads": 2})


def one_dtype():
    """What there is for one dtype only, or for integers."""
    x, y = [17, -17, 100, -5, 0, 127], [5, 5, -7, -5, 3, 2]
    for dtype in ("int8", "int32"):
        pair = {"x1": tensor(x, dtype), "x2": tensor(y, dtype)}
        call("TruncateMod", pair, {"y": tensor([a - int(F(a, b)) * b for a, b in zip(x, y)], dtype)})
        for mode, function in ((1, int), (2, math.floor)):
            call("DivV3", pair, {"y": tensor([function(F(a, b)) for a, b in zip(x, y)], dtype)}, {"mode": mode})
        call("AngleV2", {"x": tensor(x, dtype)}, {"y": tensor([F(exact.PI) if a < 0 else 0 for a in x], "float32")})
        call("ReluGradV2", {"gradients": tensor(x, dtype), "features": tensor(y, dtype)},
             {"backprops": tensor([a if b > 0 else 0 for a, b in zip(x, y)], dtype)})
        call("ThresholdGradV2D", {"input_gradient": tensor(x, dtype), "input_feature": tensor(y, dtype)},
             {"output_backprops": tensor([a if b > 2 else 0 for a, b in zip(x, y)], dtype)}, {"threshold": 2.0})
    elements, others = [7, -2, 9, 4], [4, 5, 7, 4]
    order = sorted(range(8), key=lambda at: (elements + others)[at])
    call("IsinPartV1", {"value": tensor([(elements + others)[at] for at in order], "int32"), "index": tensor(order, "int32"),
                        "elementsNum": tensor([4], "int32")}, {"z": tensor([True, False, False, True], "bool")})
    pairs = [(F(3), F(-4)), (F(-1), F(2)), (F(0), F(5))]
    angles = [exact.atan(D(-4) / 3), exact.PI - exact.atan(D(2)), exact.PI / 2]
    call("AngleV2", {"x": tensor(pairs, "complex64")}, {"y": tensor([F(one) for one in angles], "float32")})
    call("Real", {"input": tensor(pairs, "complex64")}, {"output": tensor([a for a, _ in pairs], "float32")}, {"Tout": 0})
    a, bias, first, second = (numbers("float16", count, -2, 2) for count in (12, 2, 6, 12))
    right = []
    for batch in range(2):
        for column in range(2):
            terms = [sigmoid((a[at] + bias[column]) * F(3, 2)) * first[at // 2] * second[at]
                     for at in range(6 * batch + column, 6 * batch + 6, 2)]
            right.append(sum(terms))
    call("AddSigmoidMulReduceSumD", {"add_0_input0": tensor(a, "float16", [2, 3, 2]), "add_0_input1": tensor(bias, "float16", [1, 1, 2]),
                                     "mul_0_input1": tensor([F(3, 2)], "float16"), "mult_1_input1": tensor(first, "float16", [2, 3, 1]),
                                     "mult_2_input1": tensor(second, "float16", [2, 3, 2])}, {"out": tensor(right, "float16", [2, 2])})


def fused_steps(dtype):
    """Lists of two tensors, the second of which is two elements long."""
    var, grad, m = (numbers(dtype, 5, -2, 2) for _ in range(3))
    v = numbers(dtype, 5, 0.1, 3)
    lr, decay, momentum, damping = F(1, 16), F(1, 32), F(3, 8), F(1, 4)

    def lists(values):
        return [tensor(values[:3], dtype), tensor(values[3:], dtype)]

    for nesterov, maximize, first, scale in ((False, False, True, None), (True, False, False, F(4)), (False, True, False, None)):
        kept = [g / (scale or 1) for g in grad]
        totals = [(-g if maximize else g) + decay * w for g, w in zip(kept, var)]
        moments = totals if first else [momentum * one + (1 - damping) * t for one, t in zip(m, totals)]
        steps = [t + momentum * one for t, one in zip(totals, moments)] if nesterov else moments
        more = {} if scale is None else {"grad_scale": tensor([scale], "float32")}
        call("FusedSgd", {"params": lists(var), "grads": lists(grad), "x": lists(m), **more},
             {"params": lists([w - lr * one for w, one in zip(var, steps)]), "grads": lists(kept), "y": lists(moments)},
             {"weight_decay": float(decay), "momentum": float(momentum), "lr": float(lr), "dampening": float(damping), "nesterov": nesterov,
              "maximize": maximize, "is_first_step": first})
    beta1, beta2, epsilon = F(3, 4), F(7, 8), F(1, 64)
    for maximize, maxima in ((False, False), (True, True)):
        results = [], [], []
        for at, (w, g, one, two) in enumerate(zip(var, grad, m, v)):
            step, g = (2, 5)[at >= 3], -g if maximize else g
            one, two = beta1 * one + (1 - beta1) * g, beta2 * two + (1 - beta2) * g * g
            root = F(dec(two / (1 - beta2**step)).sqrt()) + epsilon
            for result, value in zip(results, (w - lr * (one / (1 - beta1**step) / root + decay * w), one, two)):
                result.append(value)
        names = ("params", "exp_avgs", "exp_avg_sqs")
        inputs = {"params": lists(var), "grads": lists(grad), "exp_avgs": lists(m), "exp_avg_sqs": lists(v)}
        outputs = {name: lists(result) for name, result in zip(names, results)}
        if maxima:
            inputs["max_exp_avg_sqs"] = lists(v)
            outputs["max_exp_avg_sqs"] = [{**one, "silent": True} for one in lists(v)]
        inputs["state_steps"] = [tensor([2], "float32"), tensor([5], "float32")]
        call("FusedAdamw", inputs, outputs,
             {"lr": float(lr), "beta1": float(beta1), "beta2": float(beta2), "weight_decay": float(decay), "eps": float(epsilon),
              "amsgrad": False, "maximize": maximize})


def all_of():
    for dtype in DTYPES:
        activations(dtype)
        special(dtype)
        arithmetic(dtype)
    # What differs between dtypes is not in these.
    for dtype in DTYPES[1:]:
        slopes(dtype)
    for dtype in DTYPES[::2]:
        gates(dtype)
    fused_steps("float32")
    one_dtype()
