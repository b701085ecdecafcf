"""Calls of what is quantised, dequantised and both, and of norms that are quantised for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec
from norm_calls import EPSILON, normalised, root

HALVES = ("float16", "bfloat16")


def clip(value, low=-128, high=127):
    """Rounded to even and clipped."""
    return min(max(round(F(value)), low), high)


def by_rows(values, width):
    """Rows quantised by their largest element, and the scales."""
    whole, scales = [], []
    for start in range(0, len(values), width):
        row = values[start:start + width]
        scales.append(max(abs(v) for v in row) / 127)
        whole += [clip(v / scales[-1]) for v in row]
    return whole, scales


def silu(value, steep=1):
    return F(dec(value) * exact.sigmoid(dec(value) * steep))


def layer_norms(dtype):
    """Two rows of five."""
    x1, x2 = numbers(dtype, 10, -3, 3), numbers(dtype, 10, -3, 3)
    gamma, beta, bias, smooth, other = (numbers(dtype, 5, -2, 2) for _ in range(5))
    scales, points = numbers(dtype, 5, 0.01, 0.1), [F(v) for v in (3, -7, 0, 11, -2)]

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def norm(values, factor=gamma, shift=beta):
        normal = normalised(values[:5]) + normalised(values[5:])
        return [v * factor[at % 5] + shift[at % 5] for at, v in enumerate(normal)]

    def each(function, values, *parameters):
        return [function(v, *(one[at % 5] for one in parameters)) for at, v in enumerate(values)]

    whole, square = (lambda values: of(values, [2, 5], "int8")), [2, 5]
    total = each(lambda v, b: v + b, [a + b for a, b in zip(x1, x2)], bias)
    y = norm(total)
    divided = whole(each(lambda v, s, p: clip(v / s + p), y, scales, points))
    inverse = [1 / v for v in scales]
    factors = [exact.value_of(exact.bits_of(v, dtype), dtype) for v in inverse]
    multiplied = whole(each(lambda v, s: clip(v * s), y, factors))
    silent = {"x": of(total, square, silent=True), "scale": of([0, 0], None, "float32", silent=True)}
    inputs = {"x1": of(x1, square), "x2": of(x2, square), "gamma": of(gamma), "beta": of(beta), "bias": of(bias)}
    epsilon = {"epsilon": float(EPSILON)}
    for extra, third in ((True, of(total, square)), (False, silent["x"])):
        call("QuantizeAddLayerNorm", {**inputs, "scales": of(scales), "zero_points": of(points)}, {"y": divided, "x": third},
             {"dtype": 2, "axis": -1, **epsilon, "additional_output": extra})
    call("DuaQuantizeAddLayerNorm", {**inputs, "scales1": of(scales), "scales2": of(factors), "zero_points1": of(points)},
         {"y1": divided, "y2": whole(each(lambda v, s: clip(v / s), y, factors)), "x": of(total, square)},
         {"dtype": 2, "axis": -1, **epsilon, "additional_output": True})
    first, first_scales = by_rows(each(lambda v, s: v * s, y, smooth), 5)
    second, second_scales = by_rows(each(lambda v, s: v * s, y, other), 5)
    single = [of(one, None, "float32") for one in (first_scales, second_scales)]
    dynamic = {"quant_mode": "dynamic", **epsilon, "additional_output": True}
    both = {**inputs, "scales1": of(smooth), "scales2": of(other)}
    call("AddLayerNormQuant", both, {"y1": whole(first), "y2": whole(second), "x": of(total, square), "out_scales1": single[0],
                                     "out_scales2": single[1]}, dynamic)
    call("AddLayerNormQuant", {**inputs, "scales1": of(smooth)},
         {"y1": whole(first), "y2": {**whole(second), "silent": True}, "x": silent["x"], "out_scales1": single[0], "out_scales2": silent["scale"]},
         {**dynamic, "additional_output": False, "div_mode": True})
    for divides, right, scale, more in ((True, divided, scales, {"zero_points1": of(points)}), (False, multiplied, factors, {})):
        call("AddLayerNormQuantV2", {**inputs, "scales1": of(scale), **more},
             {"y1": right, "y2": {**right, "silent": True}, "x": silent["x"], "layernorm_res": of(y, square), "out_scales1": silent["scale"],
              "out_scales2": silent["scale"]}, {"quant_mode": "static", **epsilon, "additional_output": False, "div_mode": divides})
    alone = norm(x1)
    plain = {name: inputs[name] for name in ("gamma", "beta")}
    one = [scales[0]]
    call("LayerNormQuant", {"x": of(x1, square), **plain, "scale": of(one), "offset": of([-5], None, "int8")},
         {"result": whole([clip(v / one[0] - 5) for v in alone]), "scale_out": silent["scale"]}, {**epsilon, "quant_mode": 0})
    right, right_scales = by_rows([v * one[0] for v in alone], 5)
    call("LayerNormQuant", {"x": of(x1, square), **plain, "scale": of(one)},
         {"result": whole(right), "scale_out": of(right_scales, None, "float32")}, {**epsilon, "quant_mode": 1})
    moved = each(lambda v, s, t, u: (v * (1 + s) + t) * u, norm(x1, [F(1)] * 5, [F(0)] * 5), other, bias, smooth)
    right, right_scales = by_rows(moved, 5)
    call("AdaLayerNormQuant", {"x": of(x1, square), "scale": of(other), "shift": of(bias), "smooth_scales": of(smooth)},
         {"out": whole(right), "quant_scale": of(right_scales, None, "float32")}, epsilon)


def rms_norms(dtype):
    x1, x2, x3 = (numbers(dtype, 10, -3, 3) for _ in range(3))
    gamma, beta, smooth, other = (numbers(dtype, 5, -2, 2) for _ in range(4))
    scales, points = numbers("float32", 5, 0.01, 0.1), [3, -7, 0, 11, -2]

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def whole(values, **more):
        return of(values, [2, 5], "int8", **more)

    def norm(values, shift=None):
        rows = [values[:5], values[5:]]
        right = [v / root(mean([one * one for one in row]) + EPSILON) * g for row in rows for v, g in zip(row, gamma)]
        return [v + (shift[at % 5] if shift else 0) for at, v in enumerate(right)]

    square, epsilon = [2, 5], {"epsilon": float(EPSILON)}
    total = [a + b for a, b in zip(x1, x2)]
    y, shifted = norm(total), norm(total, beta)
    inputs = {"x1": of(x1, square), "x2": of(x2, square), "gamma": of(gamma)}
    for operator, name, more in (("AddRmsNormQuant", "beta", {}), ("AddRmsNormQuantV2", "bias", {"output_res": False})):
        attributes = {"axis": -1, **epsilon, "dst_type": 2, **more}
        right = [clip(v / scales[at % 5] + points[at % 5]) for at, v in enumerate(shifted)]
        call(operator, {**inputs, "scales1": of(scales, None, "float32"), "scales2": of(scales, None, "float32"),
                        "zero_points1": of(points, None, "int32"), name: of(beta)},
             {"y1": whole(right), "y2": whole([clip(v / scales[at % 5]) for at, v in enumerate(shifted)]), "x": of(total, square)},
             {**attributes, "div_mode": True})
        right = [clip(v * 16) for v in y]
        call(operator, {**inputs, "scales1": of([16], None, "float32")},
             {"y1": whole(right), "y2": whole(right, silent=True), "x": of(total, square)}, {**attributes, "div_mode": False})
    first, first_scales = by_rows([v * smooth[at % 5] for at, v in enumerate(shifted)], 5)
    second, second_scales = by_rows([v * other[at % 5] for at, v in enumerate(shifted)], 5)
    plain, plain_scales = by_rows(shifted, 5)

    def single(values, **more):
        return of(values, [2], "float32", **more)

    smoothing = {"smooth_scale1": of(smooth), "smooth_scale2": of(other)}
    sums = {"x": of(total, square)}
    call("AddRmsNormDynamicQuant", {**inputs, **smoothing, "beta": of(beta)},
         {"y1": whole(first), "y2": whole(second), **sums, "scale1": single(first_scales), "scale2": single(second_scales)},
         {**epsilon, "output_mask": []})
    call("AddRmsNormDynamicQuant", {**inputs, "beta": of(beta)},
         {"y1": whole(plain, silent=True), "y2": whole(plain), **sums, "scale1": single(plain_scales, silent=True),
          "scale2": single(plain_scales)}, {**epsilon, "output_mask": [False, True], "dst_type": 2})
    call("AddRmsNormDynamicQuantV2", {**inputs, "smooth_scale1": of(smooth), "beta": of(beta)},
         {"y1": whole(first), "y2": whole(first, silent=True), "y3": of(y, square, "float32"), "y4": of(y, square), **sums,
          "scale1": single(first_scales), "scale2": single(first_scales, silent=True)}, {**epsilon, "output_mask": [True, False, True, True]})
    several = [a + b + c for a, b, c in zip(x1, x2, x3)]
    y = norm(several)
    first, first_scales = by_rows([v * smooth[at % 5] for at, v in enumerate(y)], 5)
    second, second_scales = by_rows([v * other[at % 5] for at, v in enumerate(y)], 5)
    call("MultiAddRmsNormDynamicQuant", {"x1": [of(x1, square), of(x3, square)], "x2": of(x2, square), "gamma": of(gamma), **smoothing},
         {"y1": whole(first), "y2": whole(second), "x": of(several, square), "y": of(y, square), "scale1": single(first_scales),
          "scale2": single(second_scales)}, epsilon)
    right, right_scales = by_rows([v * smooth[at % 5] for at, v in enumerate(norm(x1, beta))], 5)
    call("RmsNormDynamicQuant", {"x": of(x1, square), "gamma": of(gamma), "smooth_scales": of(smooth), "beta": of(beta)},
         {"y": whole(right), "scale": single(right_scales)}, {**epsilon, "dst_type": 2})
    channel, shift, factor = numbers(dtype, 2, 1, 2), numbers(dtype, 2, -1, 1), numbers("float32", 2, 0.01, 0.1)
    normal = [v * channel[at // 5] + shift[at // 5] for at, v in enumerate(normalised(x1))]
    right = [clip(silu(v) / factor[at // 5]) for at, v in enumerate(normal)]
    centre = mean(x1)
    spread = 1 / root(mean([(v - centre) ** 2 for v in x1]) + EPSILON)
    call("GroupNormSiluQuant", {"x": of(x1, [1, 2, 5]), "gamma": of(channel), "beta": of(shift), "quantScale": of(factor, None, "float32")},
         {"yOut": of(right, [1, 2, 5], "int8"), "meanOut": of([centre], [1, 1]), "rstdOut": of([spread], [1, 1])},
         {"num_groups": 1, "eps": float(EPSILON), "activate_silu": True})


def rows(dtype):
    x, smooth = numbers(dtype, 12, -3, 3), numbers(dtype, 8, 0.5, 2)

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def whole(values):
        return of(values, [3, 4], "int8")

    def single(values, **more):
        return of(values, None, "float32", **more)

    grouped = [v * smooth[(at // 4 > 1) * 4 + at % 4] for at, v in enumerate(x)]
    right, scales = by_rows(grouped, 4)
    groups = {"x": of(x, [3, 4]), "smooth_scales": of(smooth, [2, 4]), "group_index": of([2, 3], None, "int32")}
    call("DynamicQuant", groups, {"y": whole(right), "scale": single(scales)}, {"dst_type": 2})
    call("DynamicQuantV2", groups,
         {"y": whole(right), "scale": single(scales), "offset": single([0] * 3, silent=True)},
         {"dst_type": 2, "is_symmetrical": True, "quant_mode": "pertoken", "dst_type_max": 0.0})
    for mode, width in (("pertoken", 4), ("pertensor", 12)):
        right, scales, offsets = [], [], []
        for start in range(0, 12, width):
            row = x[start:start + width]
            scales.append((max(row) - min(row)) / 255)
            offsets.append(127 - max(row) / scales[-1])
            right += [clip(v / scales[-1] + offsets[-1]) for v in row]
        call("DynamicQuantV2", {"x": of(x, [3, 4])}, {"y": whole(right), "scale": single(scales), "offset": single(offsets)},
             {"dst_type": 2, "is_symmetrical": False, "quant_mode": mode})
    # Blocks of two by two of three rows of four.
    scales = [max(abs(x[row * 4 + column]) for row in range(top, min(top + 2, 3)) for column in (left, left + 1)) / 127
              for top in (0, 2) for left in (0, 2)]
    call("DynamicBlockQuant", {"x": of(x, [3, 4])},
         {"y": whole([clip(v / scales[at // 8 * 2 + at % 4 // 2]) for at, v in enumerate(x)]), "scale": of(scales, [2, 2], "float32")},
         {"min_scale": 0.0, "round_mode": "rint", "dst_type": 2, "row_block_size": 2, "col_block_size": 2, "dst_type_max": 0.0})
    factors, points = numbers("float32", 4, 0.02, 0.1), [3, -4, 100, 0]
    for name, low, high, out in (("torch.qint8", -128, 127, "int8"), ("torch.quint8", 0, 255, "uint8"), ("torch.qint32", -(2**31), 2**31 - 1, "int32")):
        right = [clip(v / factors[at % 4] + points[at % 4], low, high) for at, v in enumerate(x)]
        call("Quantize", {"x": of(x, [3, 4]), "scales": of(factors, None, "float32"), "zero_points": of(points, None, "int32")},
             {"y": of(right, [3, 4], out)}, {"dtype": name, "axis": 1})
    call("Quantize", {"x": of(x, [3, 4]), "scales": of(factors[:1], None, "float32")},
         {"y": whole([clip(v / factors[0]) for v in x])}, {"dtype": "torch.qint8", "axis": 1})
    small, scale, offset = [-128, -3, 0, 5, 77, 127], numbers("float32", 3, 0.5, 2), numbers("float32", 3, -9, 9)
    if dtype != "float32":
        for squared in (False, True):
            right = [(v + offset[at % 3]) * scale[at % 3] ** (2 if squared else 1) for at, v in enumerate(small)]
            call("AscendAntiQuantV2", {"x": of(small, [2, 3], "int8"), "scale": of(scale, None, "float32"), "offset": of(offset, None, "float32")},
                 {"y": of(right, [2, 3])}, {"dst_type": 1, "sqrt_mode": squared})
    if dtype != "bfloat16":
        steps, zeros = numbers(dtype, 4, 0.1, 0.5), [0, 2, -1, 5]
        whole_of = [round(v / steps[at % 4]) + zeros[at % 4] for at, v in enumerate(x)]
        right = [(min(max(q, -6), 7) - zeros[at % 4]) * steps[at % 4] for at, q in enumerate(whole_of)]
        call("FakeQuantAffineCachemask", {"x": of(x, [3, 4]), "scale": of(steps), "zero_point": of(zeros, None, "int32")},
             {"y": of(right, [3, 4]), "mask": of([-6 <= q <= 7 for q in whole_of], [3, 4], "bool")}, {"axis": 1, "quant_min": -6, "quant_max": 7})


def gates(dtype):
    x = numbers(dtype, 18, -3, 3)
    smooth, offsets = numbers("float32", 6, 5, 20), numbers("float32", 6, -9, 9)
    halves = [(x[row * 6 + at], x[row * 6 + 3 + at]) for row in range(3) for at in range(3)]
    left, right = [silu(a) * b for a, b in halves], [silu(b) * a for a, b in halves]

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def single(values, **more):
        return of(values, None, "float32", **more)

    inputs, silent = {"x": of(x, [3, 6])}, single([0] * 3, silent=True)
    whole, scales = by_rows(right, 3)
    call("SwiGluQuant", inputs, {"y": of(whole, [3, 3], "int8"), "scale": silent}, {"activate_left": False, "quant_mode": "dynamic"})
    call("DequantSwigluQuant", inputs, {"y": of(whole, [3, 3], "int8"), "scale": single(scales)}, {"activate_left": False, "quant_mode": "dynamic"})
    whole, _ = by_rows([v * smooth[(at // 3 > 0) * 3 + at % 3] for at, v in enumerate(left)], 3)
    for kind, groups in ((0, [1, 3]), (1, [1, 2])):
        call("SwiGluQuant", {**inputs, "smooth_scales": of(smooth, [2, 3], "float32"), "group_index": of(groups, None, "int32")},
             {"y": of(whole, [3, 3], "int8"), "scale": silent},
             {"activate_left": True, "quant_mode": "dynamic", "group_list_type": kind, "dst_type": 2})
    whole = [clip(v * smooth[at % 3] + offsets[at % 3]) for at, v in enumerate(left)]
    call("SwiGluQuant", {**inputs, "smooth_scales": of(smooth[:3], [1, 3], "float32"), "offsets": of(offsets[:3], [1, 3], "float32")},
         {"y": of(whole, [3, 3], "int8"), "scale": silent}, {"activate_left": True, "quant_mode": "static"})
    factor, shift = numbers(dtype, 6, 5, 20), numbers(dtype, 6, -9, 9)
    gauss = [F(dec(v) / 2 * (1 + exact.erf(dec(v) / D(2).sqrt()))) for v in x]
    by_tanh = [F(dec(v) / 2 * (1 + exact.tanh((2 / exact.PI).sqrt() * (dec(v) + D("0.044715") * dec(v) ** 3)))) for v in x]
    whole, scales = by_rows([v * factor[at % 6] for at, v in enumerate(gauss)], 6)
    call("GeluQuant", {**inputs, "input_scale": of(factor)}, {"y": of(whole, [3, 6], "int8"), "out_scale": single(scales)},
         {"approximate": "none", "quant_mode": "dynamic", "dst_type": 2, "round_mode": "rint"})
    whole = [clip(v * factor[at % 6] + shift[at % 6]) for at, v in enumerate(by_tanh)]
    call("GeluQuant", {**inputs, "input_scale": of(factor), "input_offset": of(shift)}, {"y": of(whole, [3, 6], "int8"), "out_scale": silent},
         {"approximate": "tanh", "quant_mode": "static"})


def dequantised_gates():
    x, smooth = [100, -250, 33, 478, -7, 512, 90, 41, -300, 5, 64, -129], numbers("float32", 3, 5, 20)
    weights, factors, floats = numbers("float32", 6, 0.001, 0.02), numbers("float32", 2, 0.5, 2), numbers("float32", 6, -1, 1)
    wholes = [3, -20, 7, 1, 0, -50]
    for bias, out, value in ((wholes, "int32", lambda v, at: (v + wholes[at % 6]) * weights[at % 6] * factors[at // 6]),
                             (floats, "float32", lambda v, at: v * weights[at % 6] * factors[at // 6] + floats[at % 6])):
        right = [value(v, at) for at, v in enumerate(x)]
        act = [silu(right[row * 6 + at]) * right[row * 6 + 3 + at] * smooth[at] for row in (0, 1) for at in range(3)]
        whole, scales = by_rows(act, 3)
        call("DequantSwigluQuant", {"x": tensor(x, "int32", [2, 6]), "weight_scale": tensor(weights, "float32"),
                                    "activation_scale": tensor(factors, "float32", [2, 1]), "bias": tensor(bias, out),
                                    "quant_scale": tensor(smooth, "float32")},
             {"y": tensor(whole, "int8", [2, 3]), "scale": tensor(scales, "float32")}, {"activate_left": True, "quant_mode": "dynamic"})


def packed():
    scale, offset = numbers("float32", 4, -2, 2), [F(7, 4), F(-300), F(-3, 4), F(400)]
    bits = [exact.bits_of(v, "float32") // 8192 * 8192 + 2**46 for v in scale]
    call("TransQuantParamV2", {"scale": tensor(scale, "float32")}, {"y": tensor(bits, "uint64")}, {"round_mode": 0})
    nine = [2, 512 - 256, 512 - 1, 255]
    call("TransQuantParamV2", {"scale": tensor(scale, "float32"), "offset": tensor(offset, "float32")},
         {"y": tensor([one + more * 2**37 for one, more in zip(bits, nine)], "uint64")}, {"round_mode": 0})


def all_of():
    layer_norms("bfloat16")
    layer_norms("float32")
    for dtype in HALVES:
        rms_norms(dtype)
    for dtype in (*HALVES, "float32"):
        rows(dtype)
    gates("float16")
    gates("float32")
    dequantised_gates()
    packed()
