"""Calls of norms of batches and groups, norms with conditions and norms that are quantised for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec

EPSILON = F(1, 1024)
STEP = F(1, 10**20)


def root(value):
    return F(dec(value).sqrt())


def rstd_of(values, epsilon=EPSILON):
    centre = mean(values)
    return 1 / root(mean([(v - centre) ** 2 for v in values]) + epsilon)


def normalised(values, epsilon=EPSILON):
    centre, spread = mean(values), rstd_of(values, epsilon)
    return [(v - centre) * spread for v in values]


def stored(value, dtype):
    """As it is once stored."""
    return exact.value_of(exact.bits_of(value, dtype), dtype)


def by_quotients(function, values):
    """The gradient of a function of several values, by differences far below any dtype's resolution."""
    result = []
    for place in range(len(values)):
        up, down = ([v + turn * (STEP if at == place else 0) for at, v in enumerate(values)] for turn in (1, -1))
        result.append((function(up) - function(down)) / (2 * STEP))
    return result


# Two channels of two batches: [2, 2, 3].
def channel_of(at):
    return at // 3 % 2


def of_channel(values, channel):
    return [v for at, v in enumerate(values) if channel_of(at) == channel]


def batches(dtype):
    x, dy = numbers(dtype, 12, -3, 3), numbers(dtype, 12, -2, 2)
    weight, bias, running = numbers(dtype, 2, -2, 2), numbers(dtype, 2, -2, 2), numbers("float32", 2, -1, 1)
    spread = numbers("float32", 2, 0.5, 2)

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    cube = [2, 2, 3]
    inputs = {"x": of(x, cube), "weight": of(weight), "bias": of(bias), "running_mean": of(running, None, "float32"),
              "running_var": of(spread, None, "float32")}
    means = [mean(of_channel(x, c)) for c in (0, 1)]
    variances = [mean([(v - means[c]) ** 2 for v in of_channel(x, c)]) for c in (0, 1)]
    y = [(v - means[channel_of(at)]) / root(variances[channel_of(at)] + EPSILON) * weight[channel_of(at)] + bias[channel_of(at)]
         for at, v in enumerate(x)]
    momentum = F(1, 8)
    moved = [(1 - momentum) * old + momentum * new for old, new in zip(running, means)]
    moved_spread = [(1 - momentum) * old + momentum * new * F(6, 5) for old, new in zip(spread, variances)]
    silent = of([0, 0], None, "float32", silent=True)
    attributes = {"epsilon": float(EPSILON), "momentum": float(momentum), "is_training": True}
    call("BatchNormV3", inputs, {"y": of(y, cube), "running_mean": of(moved, None, "float32"), "running_var": of(moved_spread, None, "float32"),
                                 "save_mean": of(means, None, "float32"), "save_rstd": silent}, attributes)
    factor = [1 / root(v + EPSILON) for v in spread]
    y = [(v - running[channel_of(at)]) * factor[channel_of(at)] * weight[channel_of(at)] + bias[channel_of(at)] for at, v in enumerate(x)]
    call("BatchNormV3", inputs, {"y": of(y, cube), "running_mean": silent, "running_var": silent, "save_mean": silent, "save_rstd": silent},
         {**attributes, "is_training": False})
    zeros = of([0, 0], None, "float32")
    dx = [v * weight[channel_of(at)] * factor[channel_of(at)] for at, v in enumerate(dy)]
    moments = [v * (x[at] - running[channel_of(at)]) * factor[channel_of(at)] for at, v in enumerate(dy)]
    call("BatchNormGradV3", {"dy": of(dy, cube), **{name: inputs[name] for name in ("x", "weight", "running_mean", "running_var")},
                             "save_mean": zeros, "save_rstd": zeros},
         {"dx": of(dx, cube), "dweight": of([sum(of_channel(moments, c)) for c in (0, 1)]), "dbias": of([sum(of_channel(dy, c)) for c in (0, 1)])},
         {"is_training": False, "epsilon": float(EPSILON), "version": 0})
    scales = of(weight, None, "float32")
    call("BnInferGrad", {"grads": of(dy, cube), "scale": scales, "batch_variance": inputs["running_var"]}, {"x_backprop": of(dx, cube)},
         {"epsilon": float(EPSILON), "format_mode": 0})
    last = [v * weight[at % 2] * factor[at % 2] for at, v in enumerate(dy)]
    call("BnInferGrad", {"grads": of(dy, [2, 3, 1, 2], format="NHWC"), "scale": scales, "batch_variance": inputs["running_var"]},
         {"x_backprop": of(last, [2, 3, 1, 2])}, {"epsilon": float(EPSILON), "format_mode": 0})
    mean_dy, mean_xmu, rstd = (numbers(dtype, 2, 0.5, 2) for _ in range(3))
    centres = numbers(dtype, 2, -1, 1)
    right = []
    for at, v in enumerate(dy):
        c = channel_of(at)
        right.append((v - mean_dy[c] - (x[at] - centres[c]) * rstd[c] ** 2 * mean_xmu[c]) * rstd[c] * weight[c])
    call("SyncBatchNormBackwardElemt", {"grad_output": of(dy, cube), "save_input": of(x, cube), "mean": of(centres), "invstd": of(rstd),
                                        "weight": of(weight), "mean_dy": of(mean_dy), "mean_dy_xmu": of(mean_xmu)}, {"grad_input": of(right, cube)})
    total = [p - c * s for p, c, s in zip(mean_xmu, centres, mean_dy)]
    call("SyncBatchNormBackwardReduce", {"sum_dy": of(mean_dy), "sum_dy_dx_pad": of(mean_xmu), "mean": of(centres), "invert_std": of(rstd)},
         {"sum_dy_xmu": of(total), "y": of([a * b for a, b in zip(total, rstd)])})


def gathered(dtype):
    sums, squares = numbers(dtype, 6, -4, 4), numbers(dtype, 6, 8, 16)
    running, spread = numbers(dtype, 3, -1, 1), numbers(dtype, 3, 0.5, 2)
    count, momentum = 9, F(1, 8)
    means = [(sums[c] + sums[3 + c]) / count for c in range(3)]
    variances = [(squares[c] + squares[3 + c]) / count - means[c] ** 2 for c in range(3)]
    call("SyncBatchNormGatherStats",
         {"total_sum": tensor(sums, dtype, [2, 3]), "total_square_sum": tensor(squares, dtype, [2, 3]), "sample_count": tensor([4, 5], "int32"),
          "mean": tensor(running, dtype), "variance": tensor(spread, dtype)},
         {"batch_mean": tensor(means, dtype), "batch_invstd": tensor([1 / root(v + EPSILON) for v in variances], dtype),
          "mean": tensor([(1 - momentum) * old + momentum * new for old, new in zip(running, means)], dtype),
          "variance": tensor([(1 - momentum) * old + momentum * new * F(9, 8) for old, new in zip(spread, variances)], dtype)},
         {"momentum": float(momentum), "eps": float(EPSILON)})


def groups(dtype):
    """One batch of four channels of three in two groups: a group is a half."""
    x, gamma, beta = numbers(dtype, 12, -3, 3), numbers(dtype, 4, -2, 2), numbers(dtype, 4, -2, 2)
    halves = [x[:6], x[6:]]
    normal = normalised(halves[0]) + normalised(halves[1])
    y = [v * gamma[at // 3] + beta[at // 3] for at, v in enumerate(normal)]
    call("GroupNorm", {"x": tensor(x, dtype, [1, 4, 3]), "gamma": tensor(gamma, dtype), "beta": tensor(beta, dtype)},
         {"y": tensor(y, dtype, [1, 4, 3]), "mean": tensor([mean(half) for half in halves], dtype, [1, 2]),
          "rstd": tensor([rstd_of(half) for half in halves], dtype, [1, 2])}, {"num_groups": 2, "eps": float(EPSILON)})


def group_gradients():
    """By difference quotients of the sum of dy * y, mean and variance included; saved values are rounded once."""
    dtype, near = "float32", 256
    x, dy = numbers(dtype, 12, -3, 3), numbers(dtype, 12, -2, 2)
    gamma, beta = numbers(dtype, 4, -2, 2), numbers(dtype, 4, -2, 2)
    halves = [x[:6], x[6:]]

    def of(values, shape=None, **more):
        return tensor(values, dtype, shape, **more)

    def normal(values):
        return normalised(values[:6], 0) + normalised(values[6:], 0)

    saved = {"mean": of([mean(half) for half in halves], [1, 2]), "rstd": of([rstd_of(half, 0) for half in halves], [1, 2])}
    inputs = {"dy": of(dy, [1, 4, 3]), **saved, "x": of(x, [1, 4, 3]), "gamma": of(gamma)}

    def loss(function):
        return lambda values, scale=gamma, shift=beta: sum(g * function(n * scale[at // 3] + shift[at // 3])
                                                           for at, (g, n) in enumerate(zip(dy, normal(values))))

    def slopes(function):
        whole = loss(function)
        return {"dx": of(by_quotients(whole, x), [1, 4, 3], ulps=near),
                "dgamma": of(by_quotients(lambda scale: whole(x, scale), gamma), ulps=near),
                "dbeta": of(by_quotients(lambda shift: whole(x, gamma, shift), beta), ulps=near)}

    plain = slopes(lambda v: v)
    attributes = {"num_groups": 2, "data_format": "NCHW", "dx_is_require": True, "dgamma_is_require": True, "dbeta_is_require": True}
    call("GroupNormGrad", inputs, plain, attributes)
    call("GroupNormGrad", inputs, {**plain, "dgamma": {**plain["dgamma"], "silent": True}}, {**attributes, "dgamma_is_require": False})
    steep = slopes(lambda v: F(dec(v) * exact.sigmoid(dec(v) * D("1.5"))))
    call("GroupNormSwishGrad", {**inputs, "beta": of(beta)}, steep,
         {"num_groups": 2, "data_format": "NCHW", "swish_scale": 1.5, "dgamma_is_require": True, "dbeta_is_require": True})
    whole = [gamma[at // 3] for at in range(12)]
    call("GroupNormalizationGrad", {"x": of(x, [1, 2, 6]), "dy": of(dy, [1, 2, 6]), "gamma": of(whole, [1, 2, 6]), **saved},
         {"dx": {**plain["dx"], "shape": [1, 2, 6]}})


def conditions(dtype):
    """Two batches of two rows of three: [2, 2, 3], with scale and shift for each batch."""
    x, dy = numbers(dtype, 12, -3, 3), numbers(dtype, 12, -2, 2)
    scale, shift = numbers(dtype, 6, -2, 2), numbers(dtype, 6, -2, 2)
    weight, bias = numbers(dtype, 3, -2, 2), numbers(dtype, 3, -2, 2)
    rows = [x[start:start + 3] for start in range(0, 12, 3)]
    cube = [2, 2, 3]

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    def of_batch(values, at):
        return values[at // 6 * 3 + at % 3]

    def adapted(normal, weight, bias):
        return [(v * weight[at % 3] + bias[at % 3]) * (1 + of_batch(scale, at)) + of_batch(shift, at) for at, v in enumerate(normal)]

    normal = [v for row in rows for v in normalised(row)]
    attributes = {"epsilon": float(EPSILON)}
    condition = {"x": of(x, cube), "scale": of(scale, [2, 3]), "shift": of(shift, [2, 3])}
    call("AdaLayerNorm", condition, {"out": of(adapted(normal, [1] * 3, [0] * 3), cube)}, attributes)
    call("AdaLayerNormV2", {**condition, "weight": of(weight), "bias": of(bias)},
         {"out": of(adapted(normal, weight, bias), cube), "mean": of([mean(row) for row in rows], [2, 2, 1]),
          "rstd": of([rstd_of(row) for row in rows], [2, 2, 1])}, attributes)
    moved = [v * (1 + of_batch(scale, at)) + of_batch(shift, at) for at, v in enumerate(x)]
    call("Modulate", {**condition, "scale": of(scale, [2, 1, 3])}, {"y": of(moved, cube)})
    call("Modulate", {"x": of(x, cube), "shift": of(shift, [2, 3])}, {"y": of([v + of_batch(shift, at) for at, v in enumerate(x)], cube)})

    def sums(values):
        return [values[start] + values[start + 3] for start in (0, 1, 2, 6, 7, 8)]

    call("ModulateGrad", {"grad_Output": of(dy, cube), "Input": of(x, cube), "Scale": of(scale, [2, 3]), "Shift": of(shift, [2, 3])},
         {"grad_input": of([v * (1 + of_batch(scale, at)) for at, v in enumerate(dy)], cube),
          "grad_scale": of(sums([a * b for a, b in zip(dy, x)]), [2, 3]), "grad_shift": of(sums(dy), [2, 3])})
    x2, factor = numbers(dtype, 12, -2, 2), F(3, 4)
    total = [a * factor + b for a, b in zip(x, x2)]
    right = []
    for start in range(0, 12, 3):
        row = total[start:start + 3]
        right += [v / root(mean([one * one for one in row]) + EPSILON) * g for v, g in zip(row, weight)]
    call("FusedAddRmsNorm", {"x1": of(x, cube), "x2": of(x2, cube), "gamma": of(weight)},
         {"y": of(right, cube), "rstd": of([0] * 4, [2, 2, 1], "float32", silent=True), "x": of(total, cube)}, {**attributes, "scale": 0.75})


def condition_gradients():
    """By difference quotients, as for groups."""
    dtype, near = "float32", 256
    x, dy = numbers(dtype, 8, -3, 3), numbers(dtype, 8, -2, 2)
    scale, gamma, beta = (numbers(dtype, 4, -2, 2) for _ in range(3))
    rows = [x[:4], x[4:]]

    def of(values, shape=None, **more):
        return tensor(values, dtype, shape, **more)

    def loss(values, factors=scale, weight=gamma, bias=beta):
        normal = normalised(values[:4], 0) + normalised(values[4:], 0)
        return sum(g * (n * weight[at % 4] + bias[at % 4]) * (1 + factors[at % 4]) for at, (g, n) in enumerate(zip(dy, normal)))

    saved = {"rstd": of([rstd_of(row, 0) for row in rows], [2]), "mean": of([mean(row) for row in rows], [2])}

    def plain(values, weight=gamma, bias=beta):
        return loss(values, [0] * 4, weight, bias)

    call("LayerNormalizationGrad", {"dy": of(dy, [2, 4]), "x": of(x, [2, 4]), "gamma": of(gamma), **saved},
         {"dx": of(by_quotients(plain, x), [2, 4], ulps=near), "dgamma": of(by_quotients(lambda v: plain(x, v), gamma), ulps=near),
          "dbeta": of([a + b for a, b in zip(dy[:4], dy[4:])])})
    call("AdaLayerNormGrad",
         {"dy": of(dy, [2, 4]), "x": of(x, [2, 4]), "rstd": of([rstd_of(row, 0) for row in rows], [2, 1]),
          "mean": of([mean(row) for row in rows], [2, 1]), "scale": of(scale), "gamma": of(gamma), "beta": of(beta)},
         {"pd_x": of(by_quotients(loss, x), [2, 4], ulps=near), "pd_scale": of(by_quotients(lambda v: loss(x, v), scale), ulps=near),
          "pd_shift": of([a + b for a, b in zip(dy[:4], dy[4:])]),
          "pd_gamma": of(by_quotients(lambda v: loss(x, scale, v), gamma), ulps=near),
          "pd_beta": of(by_quotients(lambda v: loss(x, scale, gamma, v), beta), ulps=near)})


def all_of():
    for dtype in ("bfloat16", "float32"):
        batches(dtype)
        conditions(dtype)
    groups("float16")
    for dtype in ("float16", "float32"):
        gathered(dtype)
    group_gradients()
    condition_gradients()
