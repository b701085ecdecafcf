"""Norms of channels over batches, norms of groups of channels, and their gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from norms import group_normalised


def by_channel(parameter, x, axis=1):
    """A parameter for each channel, in the shape that it is broadcast from."""
    if x.ndim < 2 or parameter.size != x.shape[axis]:
        raise Mismatch(f"{parameter.size} parameters for the channels of {list(x.shape)}")
    return parameter.reshape([-1 if at == axis % x.ndim else 1 for at in range(x.ndim)])


def channels_first(call, position=0):
    """Refuses formats that have channels elsewhere."""
    given = call["inputs"][position]["instances"][0].get("format", "ND")
    if given not in ("ND", "NCL", "NCHW", "NCDHW"):
        raise Mismatch(f"the format {given} has no definition")


def sums_over_others(array):
    """For each channel, and the size of the terms."""
    axes = tuple(axis for axis in range(array.ndim) if axis != 1)
    return array.sum(axis=axes), np.abs(array).sum(axis=axes)


@define("BatchNormV3", inputs="x weight~:float bias~:float running_mean~:float running_var~:float",
        outputs="y running_mean~:float running_var~:float save_mean~:float save_rstd~:float",
        attributes={"epsilon|eps": 1e-5, "momentum": 0.1, "is_training": True})
def batch_norm(x, weight, bias, running_mean, running_var, epsilon, momentum, is_training, call):
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias, both of each channel; running_mean, running_var move by momentum"""
    channels_first(call)
    scale, shift = by_channel(weight, x), by_channel(bias, x)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    mean, variance = (x.mean(axis=axes), x.var(axis=axes)) if is_training else (running_mean.reshape(-1), running_var.reshape(-1))
    rstd = by_channel(1.0 / np.sqrt(variance + epsilon), x)
    centre = by_channel(mean, x)
    size = (np.abs(x) + np.abs(centre)) * rstd * np.abs(scale) + np.abs(shift)
    y = Value((x - centre) * rstd * scale + shift, magnitude=size, steps=2)
    if not is_training:
        return y, None, None, None, None
    # Whether save_rstd holds the variance or what it is named after depends on the chip.
    count = x.size // x.shape[1]
    unbiased = variance * (count / (count - 1.0)) if count > 1 else np.full(variance.shape, np.nan)
    mean_size = np.abs(x).mean(axis=axes)
    moved = Value((1.0 - momentum) * running_mean + momentum * mean, magnitude=np.abs(running_mean) + mean_size)
    spread = Value((1.0 - momentum) * running_var + momentum * unbiased, magnitude=np.abs(running_var) + unbiased,
                   unspecified=np.isnan(unbiased))
    return y, moved, spread, Value(mean, magnitude=mean_size), None


@define("BatchNormGradV3", inputs="dy x weight~:float running_mean~:float running_var~:float save_mean~:float save_rstd~:float",
        outputs="dx dweight~:float dbias~:float", attributes={"is_training": True, "epsilon|eps": 1e-5, "version": 0})
def batch_norm_gradient(dy, x, weight, running_mean, running_var, _, __, is_training, epsilon, version, call):
    """dx = dy * weight * rstd, dweight, dbias = sums of dy * (x - mean) * rstd, dy; of a batch norm that uses running values"""
    channels_first(call)
    if is_training or version != 0:
        raise Mismatch("only that of a batch norm with running values has a definition")
    rstd = 1.0 / np.sqrt(by_channel(running_var, x) + epsilon)
    centre = by_channel(running_mean, x)
    dweight, _ = sums_over_others(dy * (x - centre) * rstd)
    _, size = sums_over_others(dy * (np.abs(x) + np.abs(centre)) * rstd)
    dbias, bias_size = sums_over_others(dy)
    return Value(dy * by_channel(weight, x) * rstd, steps=2), Value(dweight, magnitude=size), Value(dbias, magnitude=bias_size)


@define("BnInferGrad", "BNInferGrad", inputs="grads scale~:float32 batch_variance~:float32", outputs="x_backprop",
        attributes={"epsilon": 1e-4, "format_mode": 0})
def batch_norm_inference_gradient(grads, scale, variance, epsilon, format_mode, call):
    """x_backprop = grads * scale / sqrt(batch_variance + epsilon)"""
    given = call["inputs"][0]["instances"][0].get("format", "ND")
    places = {"NCHW": [1], "NCDHW": [1], "NHWC": [-1], "NDHWC": [-1]}.get(given, [1, -1])
    places = [axis for axis in places if grads.ndim > 1 and grads.shape[axis] == scale.size]
    if format_mode != 0 or len(places) != 1 and scale.size > 1:
        raise Mismatch("where channels are is not known")
    factor = scale / np.sqrt(variance + epsilon)
    return Value(grads * by_channel(factor, grads, places[0]), steps=2)


def of_each(parameter, x):
    """A parameter for each element or for each channel."""
    return parameter if parameter.shape == x.shape else by_channel(parameter, x)


@define("SyncBatchNormBackwardElemt",
        inputs="grad_output save_input mean~:float invstd~:float weight~:float mean_dy~:float mean_dy_xmu~:float", outputs="grad_input")
def synchronised_gradient(dy, x, mean, invstd, weight, mean_dy, mean_dy_xmu):
    """grad_input = (grad_output - mean_dy - (save_input - mean) * invstd^2 * mean_dy_xmu) * invstd * weight"""
    mean, invstd, weight, mean_dy, mean_dy_xmu = (of_each(one, x) for one in (mean, invstd, weight, mean_dy, mean_dy_xmu))
    slope = invstd * invstd * mean_dy_xmu
    size = (np.abs(dy) + np.abs(mean_dy) + (np.abs(x) + np.abs(mean)) * np.abs(slope)) * np.abs(invstd * weight)
    return Value((dy - mean_dy - (x - mean) * slope) * invstd * weight, magnitude=size, steps=3)


@define("SyncBatchNormBackwardReduce", inputs="sum_dy sum_dy_dx_pad mean invert_std", outputs="sum_dy_xmu y")
def synchronised_sums(sum_dy, sum_dy_dx_pad, mean, invert_std):
    """sum_dy_xmu = sum_dy_dx_pad - mean * sum_dy; y = sum_dy_xmu * invert_std"""
    total, size = sum_dy_dx_pad - mean * sum_dy, np.abs(sum_dy_dx_pad) + np.abs(mean * sum_dy)
    return Value(total, magnitude=size, steps=2), Value(total * invert_std, magnitude=size * np.abs(invert_std), steps=2)


@define("SyncBatchNormGatherStats", inputs="total_sum total_square_sum sample_count~:number mean variance",
        outputs="batch_mean batch_invstd mean variance", attributes={"momentum": REQUIRED, "eps": REQUIRED})
def gathered_statistics(total_sum, total_square_sum, sample_count, running_mean, running_var, momentum, eps):
    """batch_mean = sum / count, batch_invstd = 1 / sqrt(squares / count - batch_mean^2 + eps); mean, variance move by momentum"""
    count = float(sample_count.sum())
    if total_sum.ndim != 2 or sample_count.size != total_sum.shape[0] or count <= 1:
        raise Mismatch("it takes a row of sums and a count for each of the devices")
    mean, mean_size = total_sum.sum(axis=0) / count, np.abs(total_sum).sum(axis=0) / count
    square, size = total_square_sum.sum(axis=0) / count, np.abs(total_square_sum).sum(axis=0) / count
    variance, size = square - mean * mean, size + mean_size * mean_size
    if np.any(variance + eps <= 0):
        raise Mismatch("sums of which the variance is negative")
    invstd = 1.0 / np.sqrt(variance + eps)
    moved = Value((1.0 - momentum) * running_mean + momentum * mean, magnitude=np.abs(running_mean) + mean_size)
    unbiased = count / (count - 1.0)
    spread = (1.0 - momentum) * running_var + momentum * variance * unbiased
    return (Value(mean, magnitude=mean_size), Value(invstd, magnitude=invstd**3 * size), moved,
            Value(spread, magnitude=np.abs(running_var) + size * unbiased, steps=2))


@define("GroupNorm", inputs="x gamma? beta?", outputs="y mean rstd", attributes={"num_groups": REQUIRED, "eps|epsilon": 1e-5})
def group_norm(x, gamma, beta, num_groups, eps):
    """y = (x - mean) * rstd * gamma + beta, mean and rstd of each group of channels"""
    return group_normalised(x, gamma, beta, num_groups, eps, None)


def group_slopes(dy, mean, rstd, x, gamma, groups):
    """Gradients of a group norm: of its input, of gamma and of beta, each with the size of its terms."""
    if x.ndim < 2 or groups < 1 or x.shape[1] % groups != 0 or mean.size != x.shape[0] * groups or rstd.size != mean.size:
        raise Mismatch(f"{groups} groups of {list(x.shape)}, {mean.size} means")
    shape = (x.shape[0], groups, -1)
    mean, rstd = mean.reshape(x.shape[0], groups, 1), rstd.reshape(x.shape[0], groups, 1)
    normal = (x.reshape(shape) - mean) * rstd
    normal_size = (np.abs(x.reshape(shape)) + np.abs(mean)) * np.abs(rstd)
    scaled = (dy * by_channel(gamma, x)).reshape(shape)
    first, second = scaled.mean(axis=2, keepdims=True), (scaled * normal).mean(axis=2, keepdims=True)
    size = np.abs(scaled) + np.abs(scaled).mean(axis=2, keepdims=True)
    size = np.abs(rstd) * (size + normal_size * (np.abs(scaled) * normal_size).mean(axis=2, keepdims=True))
    dx = (rstd * (scaled - first - normal * second)).reshape(x.shape)
    dgamma, _ = sums_over_others(dy * normal.reshape(x.shape))
    _, gamma_size = sums_over_others(dy * normal_size.reshape(x.shape))
    dbeta, beta_size = sums_over_others(dy)
    return (Value(dx, magnitude=size.reshape(x.shape), steps=3), Value(dgamma, magnitude=gamma_size, steps=2),
            Value(dbeta, magnitude=beta_size, steps=2))


def asked_for(values, flags):
    return tuple(value if flag else None for value, flag in zip(values, flags))


def must_be_channels_first(data_format):
    if data_format not in ("NCHW", "NCDHW", "ND"):
        raise Mismatch(f"the data format {data_format} has no definition")


@define("GroupNormGrad", inputs="dy mean~:float rstd~:float x gamma~:float", outputs="dx dgamma~:float dbeta~:float",
        attributes={"num_groups": REQUIRED, "data_format": "NCHW", "dx_is_require": True, "dgamma_is_require": True,
                    "dbeta_is_require": True})
def group_norm_gradient(dy, mean, rstd, x, gamma, num_groups, data_format, **asked):
    """dx = rstd * (g - mean(g) - n * mean(g * n)) in each group, g = dy * gamma, n = (x - mean) * rstd; dgamma, dbeta its sums"""
    must_be_channels_first(data_format)
    flags = [asked[f"{name}_is_require"] for name in ("dx", "dgamma", "dbeta")]
    return asked_for(group_slopes(dy, mean, rstd, x, gamma, num_groups), flags)


@define("GroupNormSwishGrad", inputs="dy mean~:float rstd~:float x gamma~:float beta~:float",
        outputs="dx dgamma~:float dbeta~:float",
        attributes={"num_groups": REQUIRED, "data_format": "NCHW", "swish_scale": 1.0, "dgamma_is_require": True,
                    "dbeta_is_require": True})
def group_norm_swish_gradient(dy, mean, rstd, x, gamma, beta, num_groups, data_format, swish_scale, **asked):
    """as of a group norm, for dy * (s + swish_scale * t * s * (1 - s)), t = n * gamma + beta, s = sigmoid(swish_scale * t)"""
    must_be_channels_first(data_format)
    if mean.size != x.shape[0] * num_groups:
        raise Mismatch(f"{num_groups} groups of {list(x.shape)}, {mean.size} means")
    grouped = x.reshape(x.shape[0], num_groups, -1)
    normal = (grouped - mean.reshape(x.shape[0], num_groups, 1)) * rstd.reshape(x.shape[0], num_groups, 1)
    total = normal.reshape(x.shape) * by_channel(gamma, x) + by_channel(beta, x)
    gate = 1.0 / (1.0 + np.exp(-swish_scale * total))
    slope = gate + swish_scale * total * gate * (1.0 - gate)
    values = group_slopes(dy * slope, mean, rstd, x, gamma, num_groups)
    # The slope's own error is in proportion to dy, whatever the slope is.
    doubt = group_slopes(np.abs(dy) * (1.0 + np.abs(total)), mean, rstd, x, gamma, num_groups)
    for value, other in zip(values, doubt):
        value.magnitude, value.steps = other.magnitude, 4
    return asked_for(values, [True, asked["dgamma_is_require"], asked["dbeta_is_require"]])


@define("GroupNormalizationGrad", inputs="x dy gamma mean rstd", outputs="dx")
def group_normalization_gradient(x, dy, gamma, mean, rstd):
    """dx = rstd * (g - mean(g) - n * mean(g * n)) in each group of [N, G, M], g = dy * gamma, n = (x - mean) * rstd"""
    if x.ndim < 3 or gamma.shape != x.shape or dy.shape != x.shape or mean.size != x.shape[0] * x.shape[1]:
        raise Mismatch("gamma must have the shape of x, [N, G, M]")
    ones = np.ones(x.shape[1])
    dx, _, _ = group_slopes(dy * gamma, mean, rstd, x, ones, x.shape[1])
    return dx
