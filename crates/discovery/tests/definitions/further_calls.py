"""More calls for `make_known.py`: operators that stand for themselves, one by one."""

from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec

DTYPES = ("float16", "bfloat16", "float32")


def each(*lists):
    return list(zip(*lists))


def elementwise(dtype):
    x, y, z, w = (numbers(dtype, 8, -4, 4) for _ in range(4))
    unit = numbers(dtype, 8, 0.05, 0.9)

    def of(values, other=dtype, shape=None):
        return tensor(values, other, shape)

    def two(operator, results, names=("x1", "x2"), left=x, right=y, out=dtype, **attributes):
        call(operator, {names[0]: of(left), names[1]: of(right)}, {"z": of(results, out)}, attributes)

    call("Square", {"x": of(x)}, {"y": of([a * a for a in x])})
    halves = [F(k, 2) for k in (-5, -3, -1, 1, 3, 5)]
    call("Round", {"x": of(halves)}, {"y": of([round(a) or ("-0" if a < 0 else 0) for a in halves])}, {"decimals": 0})
    call("Sign", {"x": of(x + ["inf", "-inf", 0])}, {"y": of([1 if a > 0 else -1 for a in x] + [1, -1, 0])})
    call("Signbit", {"x": of(x + ["-0", 0, "-inf"])}, {"y": of([a < 0 for a in x] + [True, False, True], "bool")})
    for operator, right in (("IsPosInf", [True, False, False, False]), ("IsNegInf", [False, True, False, False])):
        call(operator, {"x": of(["inf", "-inf", "nan", 1])}, {"y": of(right, "bool")})
    call("OnesLike", {"x": of(x)}, {"y": of([1] * 8)})
    call("ZerosLike", {"x": of(x)}, {"y": of([0] * 8)})
    call("NanToNum", {"x": of(["nan", "inf", "-inf", 2])}, {"y": of([F(1, 2), 100, -100, 2])}, {"nan": 0.5, "posinf": 100.0, "neginf": -100.0})
    two("MulNoNan", [a * b for a, b in each(x, y)] + [0], left=x + ["inf"], right=y + [0])
    two("Atan2", [F(exact.atan(dec(a) / dec(b)) + (0 if b > 0 else exact.PI if a > 0 else -exact.PI)) for a, b in each(x, y)])
    two("Xdivy", [a / b for a, b in each(x, y)] + [0], left=x + [0], right=y + [0])
    two("Xlog1py", [F(dec(a) * (1 + dec(b)).ln()) for a, b in each(x, unit)], right=unit)
    call("Heaviside", {"input": of([-2, 0, 3]), "values": of([5, 7, 9])}, {"out": of([0, 7, 1])})
    call("Adds", {"x": of(x)}, {"y": of([a + F(3, 4) for a in x])}, {"value": 0.75})
    call("Muls", {"x": of(x)}, {"y": of([a * F(3, 4) for a in x])}, {"value": 0.75})
    call("Axpy", {"x1": of(x), "x2": of(y)}, {"y": of([a + F(3, 4) * b for a, b in each(x, y)])}, {"alpha": 0.75})
    call("AxpyV2", {"x1": of(x), "x2": of(y), "alpha": of([F(3, 4)])}, {"y": of([a + F(3, 4) * b for a, b in each(x, y)])})
    call("FusedMulAdd", {"x1": of(x), "x2": of(y), "x3": of(z)}, {"y": of([a * b + c for a, b, c in each(x, y, z)])})
    call("FusedMulAddAdd", {"x1": of(x), "x2": of(y), "x3": of(z), "x4": of(w)}, {"y": of([a * b + c + d for a, b, c, d in each(x, y, z, w)])})
    chosen = [at % 3 == 0 for at in range(8)]
    call("SelectV2", {"condition": of(chosen, "bool"), "x1": of(x), "x2": of(y)}, {"y": of([a if c else b for a, b, c in each(x, y, chosen)])})
    call("MaskedFill", {"x": of(x), "mask": of(chosen, "bool"), "value": of([F(5, 2)])}, {"y": of([F(5, 2) if c else a for a, c in each(x, chosen)])})
    call("AddN", {"x": [of(x), of(y), of(z)]}, {"y": of([a + b + c for a, b, c in each(x, y, z)])}, {"N": 3})
    call("MaskedScale", {"self": of(x), "mask": of([int(c) for c in chosen], "int8")}, {"y": of([a * c * F(5, 4) for a, c in each(x, chosen)])}, {"scale": 1.25})
    two("IsClose", [True, True, False, False], left=[1, "inf", 1, "nan"], right=[1, "inf", 2, "nan"], out="bool", rtol=1e-5, atol=1e-8, equal_nan=False)
    two("NotEqualV2", [True, False], left=[1, 2], right=[3, 2], out="bool")
    call("MulSigmoid", {"x1": of(x), "x2": of(y)}, {"out": of([F(dec(b) * 2 * exact.sigmoid(dec(a) / 2)) for a, b in each(x, y)])},
         {"t1": 0.5, "t2": 0.0, "t3": 2.0})


def own_names(dtype):
    """Operators of samples, whose names do not say all."""
    x, y = numbers(dtype, 6, -3, 3), numbers(dtype, 6, -3, 3)

    def of(values):
        return tensor(values, dtype)

    call("AddCustom", {"x": of(x), "y": of(y)}, {"z": of([a + b for a, b in each(x, y)])})
    call("UnalignAdd", {"x": of(x), "y": of(y)}, {"z": of([a + b for a, b in each(x, y)])})
    call("SubFrameworklaunch", {"x": of(x), "y": of(y)}, {"z": of([a - b for a, b in each(x, y)])})
    call("MulSigmoidMulAddCustom", {"input": of(x), "mulscalar1": of([F(1, 2)]), "mulscalar2": of([3]), "addscalar3": of([-2])},
         {"outputs": of([F(3 * exact.sigmoid(dec(a) / 2)) - 2 for a in x])})


def activations(dtype):
    dy, x = numbers(dtype, 8, -2, 2), numbers(dtype, 8, -4, 4)
    away = [a for a in numbers(dtype, 12, 0.3, 4)][:8]

    def of(values, shape=None):
        return tensor(values, dtype, shape)

    def gradient(operator, slopes, names=("dy", "x"), at=x, **attributes):
        inputs = dict(zip(names, (of(dy), of(at))))
        call(operator, inputs, {"z": of([g * slope for g, slope in each(dy, slopes)])}, attributes)

    gradient("AsinhGrad", [F(1 / exact.cosh(a)) for a in x], ("dy", "y"))
    gradient("InvGrad", [-a * a for a in x], ("grad", "x"))
    call("Inv", {"x": of(x)}, {"y": of([1 / a for a in x])})
    step = F(1, 10**18)

    def swish(a):
        return F(dec(a) * exact.sigmoid(D("0.5") * dec(a)))

    gradient("SwishGrad", [(swish(a + step) - swish(a - step)) / (2 * step) for a in x], ("grad", "x"), scale=0.5)
    call("Relu6", {"x": of([-1, 3, 7])}, {"y": of([0, 3, 6])})
    gradient("LeakyReluGrad", [1 if a > 0 else F(1, 4) for a in x], ("gradients", "features"), negative_slope=0.25)
    gradient("ReluGrad", [1 if a > 0 else 0 for a in x], ("gradients", "features"))
    gradient("HardSwishGradV2", [0 if a < -3 else 1 if a > 3 else a / 3 + F(1, 2) for a in x], ("gradOutput", "self"))
    # One row of four: a, then b.
    a, b, grads = x[:4], x[4:], dy[:4]

    def silu(v):
        return F(dec(v) * exact.sigmoid(v))

    slopes = [(silu(v + step) - silu(v - step)) / (2 * step) for v in a]
    call("SwiGluGrad", {"y_grad": of(grads, [1, 4]), "x": of(x, [1, 8])},
         {"x_grad": of([g * o * s for g, o, s in each(grads, b, slopes)] + [g * silu(v) for g, v in each(grads, a)], [1, 8])}, {"dim": -1})

    def gelu(v):
        v = dec(v)
        return F(v / 2 * (1 + exact.tanh((2 / exact.PI).sqrt() * (v + D("0.044715") * v**3))))

    saved = [exact.value_of(exact.bits_of(gelu(v), dtype), dtype) for v in b]
    saved = [F(0) if v == "-0" else v for v in saved]
    slopes = [(gelu(v + step) - gelu(v - step)) / (2 * step) for v in b]
    call("GeGluGradV2", {"dy": of(grads, [1, 4]), "x": of(x, [1, 8]), "gelu": of(saved, [1, 4])},
         {"dx": of([g * s for g, s in each(grads, saved)] + [g * o * s for g, o, s in each(grads, a, slopes)], [1, 8])},
         {"dim": -1, "approximate": 1, "activate_left": False})
    exactly = [F(dec(v) / 2 * (1 + exact.erf(dec(v) / D(2).sqrt()))) for v in a]
    call("GeGluV2", {"x": of(x, [1, 8])}, {"y": of([g * o for g, o in each(exactly, b)], [1, 4]), "gelu": of(exactly, [1, 4])},
         {"dim": -1, "approximate": 0, "activate_left": True})
    call("SwiGlu", {"x": of(x, [8, 1])}, {"y": of([silu(v) * o for v, o in each(a, b)], [4, 1])}, {"dim": 0})
    call("FatreluMul", {"input": of(x, [1, 8]), "threshold": of([F(1, 2)])},
         {"output": of([(v if v > F(1, 2) else 0) * o for v, o in each(a, b)], [1, 4])})
    lists = {"x": [of(away[:3]), of(away[3:])]}

    def listed(operator, function, inputs=None):
        call(operator, inputs or lists, {"y": [of([function(v) for v in away[:3]]), of([function(v) for v in away[3:]])]})

    listed("ForeachLog", lambda v: F(dec(v).ln()))
    listed("ForeachAsinh", lambda v: F(exact.asinh(v)))
    over = [v + 1 for v in (F(1, 4), F(1, 2), F(3))]
    call("ForeachAcosh", {"x": [of(over)]}, {"y": [of([F(exact.acosh(v)) for v in over])]})
    under = [v / 8 for v in (F(1), F(-3), F(5))]
    call("ForeachAtanh", {"x": [of(under)]}, {"y": [of([F(exact.atanh(v)) for v in under])]})
    listed("ForeachZeroInplace", lambda v: 0)
    scalars = tensor([2, 2], "float32")
    listed("ForeachPowScalarList", lambda v: v * v, {**lists, "scalars": scalars})
    listed("ForeachPowList", lambda v: v * v * v, {"x1": lists["x"], "x2": [of([3] * 3), of([3] * 5)]})
    listed("ForeachLerpList", lambda v: v + F(1, 4) * (1 - v), {"x1": lists["x"], "x2": [of([1] * 3), of([1] * 5)], "weight": [of([F(1, 4)] * 3), of([F(1, 4)] * 5)]})


def reductions(dtype):
    x, y = numbers(dtype, 6, -3, 3), numbers(dtype, 6, -3, 3)

    def of(values, shape=None, other=dtype):
        return tensor(values, other, shape)

    rows = [x[:3], x[3:]]

    def product(row):
        return row[0] * row[1] * row[2]

    for operator, function in (("ReduceSumV2", sum), ("ReduceMeanV2", mean), ("ReduceMaxV2", max), ("ReduceMinV2", min), ("ReduceProdV2", product)):
        call(operator, {"x": of(x, [2, 3])}, {"y": of([function(row) for row in rows], [2, 1])}, {"axes": 1, "keepdims": 1})
    call("Trace", {"x": of(x + y[:3], [3, 3])}, {"y": of([x[0] + x[4] + y[2]])})
    for values, found in ((x, 0), (x + ["inf"], 1), (x + ["nan"], 1)):
        call("NonFiniteCheck", {"tensor_list": [of(x), of(values)]}, {"found_flag": of([found], None, "float32")})

    def log_softmax(row):
        return [F(dec(v) - sum(exact.exp(one) for one in row).ln()) for v in row]

    call("LogSoftmaxV2", {"x": of(x, [2, 3])}, {"y": of(log_softmax(rows[0]) + log_softmax(rows[1]), [2, 3])}, {"axes": [-1]})
    soft = [[F(exact.exp(v) / sum(exact.exp(one) for one in row)) for v in row] for row in rows]
    stored = [[exact.value_of(exact.bits_of(v, dtype), dtype) for v in row] for row in soft]
    right = []
    for row, grads in zip(stored, (y[:3], y[3:])):
        right += [v * (g - sum(a * b for a, b in each(row, grads))) for v, g in each(row, grads)]
    call("SoftmaxGrad", {"softmax": of(stored[0] + stored[1], [2, 3]), "grad_softmax": of(y, [2, 3])}, {"dx": of(right, [2, 3])}, {"axes": [-1]})
    masked = [F(exact.exp(2 * v) / (exact.exp(2 * x[0]) + exact.exp(2 * x[1]))) for v in x[:2]] + [0]
    call("ScaledMaskedSoftmaxV2", {"x": of(x[:3], [1, 3]), "mask": of([False, False, True], [1, 3], "bool")}, {"y": of(masked, [1, 3])},
         {"scale": 2.0, "fixed_triu_mask": False})
    distance = [abs(a - b) for a, b in each(x, y)]
    call("SmoothL1Loss", {"predict": of(x), "label": of(y)}, {"loss": of([d * d / 4 if d < 2 else d - 1 for d in distance])}, {"sigma": 2.0})
    positive = [abs(v) for v in y]
    call("KlDivTargetBackward", {"grad_output": of(x), "self": of(y), "target": of(positive)},
         {"grad_target": of([F(dec(g) * (dec(t).ln() + 1 - dec(v))) for g, v, t in each(x, y, positive)])}, {"reduction": 0, "log_target": False})
    losses = [-log_softmax(row)[target] for row, target in zip(rows, (2, 0))]
    log_prob = of(log_softmax(rows[0]) + log_softmax(rows[1]), [2, 3])
    none = of([0], [1])
    call("CrossEntropyLoss", {"input": of(x, [2, 3]), "target": of([2, 0], None, "int64")},
         {"loss": of([mean(losses)]), "log_prob": log_prob, "zloss": {**none, "silent": True}, "lse_for_zloss": {**none, "silent": True}},
         {"reduction": "mean", "ignore_index": -100, "label_smoothing": 0.0, "lse_square_scale_for_zloss": 0.0})
    call("GlobalAvgPool", {"x": of(x, [1, 2, 3])}, {"y": of([mean(row) for row in rows], [1, 2, 1])})


def blas():
    x = [F(3, 2), F(-4), F(1, 4), F(2), F(-7, 2)]
    pairs = [(x[0], x[1]), (x[2], x[3]), (F(0), F(1)), (x[4], F(1))]
    single, several = tensor(x, "float32"), tensor(pairs, "complex64")
    size = [abs(a) + abs(b) for a, b in pairs]
    call("Sasum", {"x": single}, {"result": tensor([abs(x[0]) + abs(x[2]) + abs(x[4])], "float32")}, {"n": 3, "incx": 2})
    call("Scasum", {"x": several}, {"result": tensor([sum(size)], "float32")}, {"n": 4, "incx": 1})
    call("Snrm2", {"x": single}, {"result": tensor([F(dec(sum(v * v for v in x)).sqrt())], "float32")}, {"n": 5, "incx": 1})
    call("Scnrm2", {"x": several}, {"result": tensor([F(dec(sum(a * a + b * b for a, b in pairs)).sqrt())], "float32")}, {"n": 4, "incx": 1})
    for operator, tensor_of, right in (("Isamax", single, 2), ("Isamin", single, 3), ("Icamax", several, 1), ("Icamin", several, 3)):
        call(operator, {"x": tensor_of}, {"result": tensor([right], "int32")}, {"n": 5 if tensor_of is single else 4, "incx": 1})
    call("Scopy", {"x": single}, {"y": single}, {"n": 5, "incx": 1, "incy": 1})
    call("ComplexV3", {"real": tensor([1, 2], "float32"), "imag": tensor([3, -4], "float32")}, {"out": tensor([(1, 3), (2, -4)], "complex64")})
    angle = F(5, 8)
    call("Polar", {"input": tensor([2], "float32"), "angle": tensor([angle], "float32")},
         {"out": tensor([(2 * F(exact.cos(angle)), 2 * F(exact.sin(angle)))], "complex64")})
    call("Abs", {"x": tensor([(3, -4)], "complex64")}, {"y": tensor([5], "float32")})
    for operator, right in (("ReduceAny", [True, False]), ("ReduceAll", [False, False])):
        call(operator, {"x": tensor([True, False, False, False], "bool", [2, 2]), "axes": tensor([1], "int32")}, {"y": tensor(right, "bool")},
             {"keep_dims": False})


def norms(dtype):
    x, other = numbers(dtype, 10, -3, 3), numbers(dtype, 10, -3, 3)
    gamma, beta = numbers(dtype, 5, -2, 2), numbers(dtype, 5, -2, 2)
    epsilon = F(1, 1024)

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def rows_of(values):
        return [values[:5], values[5:]]

    def layer(values, scale=gamma, shift=beta):
        y, centres, spreads = [], [], []
        for row in rows_of(values):
            centre = mean(row)
            spread = F(1 / dec(mean([(v - centre) ** 2 for v in row]) + epsilon).sqrt())
            y += [(v - centre) * spread * g + b for v, g, b in each(row, scale, shift)]
            centres.append(centre)
            spreads.append(spread)
        return y, centres, spreads

    def rms(values, scale):
        y, spreads = [], []
        for row in rows_of(values):
            spreads.append(F(1 / dec(mean([v * v for v in row]) + epsilon).sqrt()))
            y += [v * spreads[-1] * g for v, g in each(row, scale)]
        return y, spreads

    matrix, second = of(x, [2, 5]), of(other, [2, 5])
    weights = {"gamma": of(gamma), "beta": of(beta)}
    attributes = {"epsilon": 1 / 1024}
    added = [a + b for a, b in each(x, other)]
    y, spreads = rms(x, [1 + g for g in gamma])
    call("GemmaRmsNorm", {"x": matrix, "gamma": of(gamma)}, {"y": of(y, [2, 5]), "rstd": of(spreads, [2, 1], "float32")}, attributes)
    y, spreads = rms(added, gamma)
    saved = of(spreads, [2, 1], "float32")
    call("InplaceAddRmsNorm", {"x1": matrix, "x2": second, "gamma": of(gamma)}, {"x1": of(y, [2, 5]), "rstd": saved, "x2": of(added, [2, 5])}, attributes)
    if dtype != "float32":
        call("AddRmsNormCast", {"x1": matrix, "x2": second, "gamma": of(gamma)},
             {"y1": of(y, [2, 5], "float32"), "y2": of(y, [2, 5]), "rstd": saved, "x": of(added, [2, 5])}, attributes)
    call("LayerNorm", {"x": matrix, **weights}, {"y": of(layer(x)[0], [2, 5])}, attributes)
    y, centres, spreads = layer(added)
    call("AddLayerNorm", {"x1": matrix, "x2": second, **weights},
         {"y": of(y, [2, 5]), "mean": of(centres, [2, 1], "float32"), "rstd": of(spreads, [2, 1], "float32"), "x": of(added, [2, 5])},
         {**attributes, "additional_output": True})
    shift = numbers(dtype, 5, -1, 1)
    biased, biased_means, biased_spreads = layer([a + shift[at % 5] for at, a in enumerate(added)])
    call("AddLayerNorm", {"x1": matrix, "x2": second, **weights, "bias": of(shift)},
         {"y": of(biased, [2, 5]), "mean": of(biased_means, [2, 1], "float32"), "rstd": of(biased_spreads, [2, 1], "float32"),
          "x": of([a + shift[at % 5] for at, a in enumerate(added)], [2, 5])}, {**attributes, "additional_output": True})
    plain, centres, spreads = layer(x, [F(1)] * 5, [F(0)] * 5)
    call("LayerNormV4", {"x": matrix, "normalized_shape": of([5], None, "int32")},
         {"y": of(plain, [2, 5]), "mean": of(centres, [2, 1], "float32"), "rstd": of(spreads, [2, 1], "float32")}, attributes)
    call("PreLayerNorm", {"x": matrix, "y": second, **weights}, {"res_out": of(y, [2, 5])}, attributes)
    deep = [F(3, 4) * a + b for a, b in each(x, other)]
    y, centres, spreads = layer(deep)
    call("DeepNorm", {"x": matrix, "gx": second, **weights},
         {"mean": of(centres, [2, 1], "float32"), "rstd": of(spreads, [2, 1], "float32"), "y": of(y, [2, 5])}, {**attributes, "alpha": 0.75})
    # Five channels of two, each a group, without weights and activation.
    normal, means, spreads = [], [], []
    for start in range(0, 10, 2):
        centre = mean(x[start:start + 2])
        spread = F(1 / dec(mean([(v - centre) ** 2 for v in x[start:start + 2]]) + epsilon).sqrt())
        normal += [(v - centre) * spread for v in x[start:start + 2]]
        means.append(centre)
        spreads.append(spread)
    call("GroupNormSilu", {"x": of(x, [1, 5, 2])}, {"y": of(normal, [1, 5, 2]), "mean": of(means, [1, 5]), "rstd": of(spreads, [1, 5])},
         {"num_groups": 5, "eps": 1 / 1024, "activate_silu": False})
    # Two channels of five, in one group.
    channel, shift = gamma[:2], beta[:2]
    centre = mean(x)
    spread = F(1 / dec(mean([(v - centre) ** 2 for v in x]) + epsilon).sqrt())
    normal = [(v - centre) * spread * channel[at // 5] + shift[at // 5] for at, v in enumerate(x)]
    for operator, steep, more in (("GroupNormSilu", D(1), {"activate_silu": True}),
                                  ("GroupNormSwish", D("0.5"), {"activate_swish": True, "swish_scale": 0.5, "data_format": "NCHW"})):
        call(operator, {"x": of(x, [1, 2, 5]), "gamma": of(channel), "beta": of(shift)},
             {"y": of([F(dec(v) * exact.sigmoid(steep * dec(v))) for v in normal], [1, 2, 5]), "mean": of([centre], [1, 1]), "rstd": of([spread], [1, 1])},
             {"num_groups": 1, "eps": 1 / 1024, **more})


def norm_gradients(dtype):
    """By difference quotients of the sum of dy * y over the row, mean and variance included."""
    x, other, dy, extra = (numbers(dtype, 5, -3, 3) for _ in range(4))
    gamma = numbers(dtype, 5, -2, 2)
    step = F(1, 10**20)

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def slopes(total):
        def value(row):
            centre = mean(row)
            spread = F(dec(mean([(v - centre) ** 2 for v in row])).sqrt())
            return sum(g * (v - centre) / spread * s for g, v, s in each(dy, row, gamma))

        result = []
        for place in range(5):
            up, down = ([v + turn * (step if at == place else 0) for at, v in enumerate(total)] for turn in (1, -1))
            result.append((value(up) - value(down)) / (2 * step))
        centre = mean(total)
        spread = F(1 / dec(mean([(v - centre) ** 2 for v in total])).sqrt())
        saved = {"rstd": of([spread], [1, 1], "float32"), "mean": of([centre], [1, 1], "float32")}
        sums = {"dgamma": of([g * (v - centre) * spread for g, v in each(dy, total)], None, "float32", ulps=64), "dbeta": of(dy, None, "float32")}
        return result, saved, sums

    near = 64 if dtype == "float32" else 1
    dx, saved, sums = slopes([a + b for a, b in each(x, other)])
    call("AddLayerNormGrad", {"dy": of(dy, [1, 5]), "x1": of(x, [1, 5]), "x2": of(other, [1, 5]), **saved, "gamma": of(gamma), "dsum": of(extra, [1, 5])},
         {"dx": of([a + b for a, b in each(dx, extra)], [1, 5], ulps=near), **sums})
    dx, saved, sums = slopes([F(3, 4) * a + b for a, b in each(x, other)])
    call("DeepNormGrad", {"dy": of(dy, [1, 5]), "x": of(x, [1, 5]), "gx": of(other, [1, 5]), "gamma": of(gamma), **saved},
         {"dx": of([F(3, 4) * v for v in dx], [1, 5], ulps=near), "dgx": of(dx, [1, 5], ulps=near), "dbeta": sums["dbeta"], "dgamma": sums["dgamma"]},
         {"alpha": 0.75})


def others():
    x = tensor([1, 2, 3, 4, 5, 6], "int16", [2, 3])
    call("DiagFlat", {"x": tensor([7, 8], "int16")}, {"y": tensor([0, 7, 0, 0, 0, 8, 0, 0, 0], "int16", [3, 3])}, {"diagonal": 1})
    call("Reshape", {"x": x, "shape": tensor([3, 2], "int32")}, {"y": tensor([1, 2, 3, 4, 5, 6], "int16", [3, 2])}, {"axis": 0, "num_axes": -1})
    call("TensorMove", {"x": x}, {"y": x})
    call("BroadcastTo", {"x": tensor([1, 2], "int16", [2, 1]), "shape": tensor([2, 3], "int64")}, {"y": tensor([1, 1, 1, 2, 2, 2], "int16", [2, 3])})
    call("Pack", {"x": [tensor([1, 2], "int16"), tensor([3, 4], "int16")]}, {"y": tensor([1, 3, 2, 4], "int16", [2, 2])}, {"axis": 1})
    call("ConcatV2", {"x1": x, "x2": x}, {"y": tensor([1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6], "int16", [2, 6])}, {"d": 1})
    call("DiagPart", {"x": tensor([1, 2, 3, 4], "int16", [2, 2])}, {"y": tensor([1, 4], "int16")})
    call("BiasAdd", {"x": tensor([1, 2, 3, 4], "int32", [2, 2]), "bias": tensor([10, 20], "int32")}, {"y": tensor([11, 22, 13, 24], "int32", [2, 2])},
         {"data_format": "NHWC"})
    call("PadV3GradReplicate", {"x": tensor([1, 2, 4, 8, 16], "float32", [1, 5]), "paddings": tensor([0, 0, 2, 1], "int64")},
         {"y": tensor([7, 24], "float32", [1, 2])}, {"mode": "edge", "paddings_contiguous": True})
    call("LinSpace", {"start": tensor([1], "float32"), "stop": tensor([3], "float32"), "num": tensor([5], "int64")},
         {"output": tensor([1, F(3, 2), 2, F(5, 2), 3], "float32")})
    call("Eye", {"y": tensor([0] * 6, "int32", [2, 3])}, {"y": tensor([1, 0, 0, 0, 1, 0], "int32", [2, 3])},
         {"num_rows": 2, "num_columns": 3, "batch_shape": [], "dtype": 3})
    call("GatherElementsV2", {"x": x, "index": tensor([2, 0, 1, 1], "int64", [2, 2])}, {"y": tensor([3, 1, 5, 5], "int16", [2, 2])}, {"dim": 1})
    call("GroupQuant", {"x": tensor([1, 2, 3, 4, 5, 6], "float32", [3, 2]), "scale": tensor([2, 3, 10, 20], "float32", [2, 2]),
                        "group_index": tensor([2, 3], "int32")}, {"y": tensor([2, 6, 6, 12, 50, 120], "int8", [3, 2])}, {"dst_type": 2})
    call("AscendQuantV2", {"x": tensor([1, 2, 3, 4], "float32", [2, 2]), "scale": tensor([2, 3], "float32"), "offset": tensor([1, -1], "float32")},
         {"y": tensor([5, 17, 13, 35], "int8", [2, 2])}, {"sqrt_mode": True, "round_mode": "rint", "dst_type": 2, "axis": -1})
    call("DequantBias", {"x": tensor([4, -6], "int32", [1, 2]), "weight_scale": tensor([F(1, 2), F(1, 4)], "float32"), "bias": tensor([1, 2], "float32")},
         {"y": tensor([3, F(1, 2)], "float16", [1, 2])}, {"output_dtype": 1})
    call("DequantBias", {"x": tensor([4, -6], "int32", [1, 2]), "weight_scale": tensor([F(1, 2), F(1, 4)], "float32"),
                         "activate_scale": tensor([2], "float32"), "bias": tensor([1, 2], "int32")},
         {"y": tensor([5, -2], "float16", [1, 2])}, {"output_dtype": 1})


def products():
    a, b, bias = [1, 2, 3, 4], [F(1, 2), -2, 3, F(1, 4)], [10, -40]
    half = {"a": tensor(a, "float16", [2, 2]), "b": tensor(b, "float16", [2, 2])}
    right = [a[2 * row] * b[column] + a[2 * row + 1] * b[2 + column] for row in (0, 1) for column in (0, 1)]
    summed = [value + bias[at % 2] for at, value in enumerate(right)]
    call("Mmad", {**half, "bias": tensor(bias, "float32")}, {"c": tensor(summed, "float32", [2, 2])})
    call("MatmulLeakyrelu", {**half, "bias": tensor(bias, "float32")},
         {"c": tensor([value if value > 0 else value / 1000 for value in summed], "float32", [2, 2])})
    call("BatchMatMulV3", {"x1": tensor(a + a, "float32", [2, 2, 2]), "x2": tensor(b + b, "float32", [2, 2, 2])},
         {"y": tensor(right + right, "float32", [2, 2, 2])}, {"adj_x1": False, "adj_x2": False})
    call("GemmV2", {**half, "alpha": tensor([2], "float16"), "beta": tensor([F(1, 2)], "float16"), "c": tensor([8, 8, 8, 8], "float32", [2, 2])},
         {"c": tensor([2 * value + 4 for value in right], "float32", [2, 2])}, {"transpose_a": False, "transpose_b": False})


def all_of():
    for dtype in DTYPES:
        elementwise(dtype)
        own_names(dtype)
        activations(dtype)
        reductions(dtype)
        norms(dtype)
        norm_gradients(dtype)
    blas()
    others()
    products()
