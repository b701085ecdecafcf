"""Normalisations, with what they save for their gradients, and the gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define


def trailing(x, gamma):
    """The dimensions that are normalised: those of gamma, at the end."""
    shape = gamma.shape
    if len(shape) > x.ndim or x.shape[x.ndim - len(shape):] != shape:
        raise Mismatch(f"gamma of {list(shape)} for {list(x.shape)}")
    return tuple(range(x.ndim - len(shape), x.ndim))


def layer_normalised(x, axes, gamma, beta, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    rstd = 1.0 / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon)
    gamma = 1.0 if gamma is None else gamma
    beta = 0.0 if beta is None else beta
    size = (np.abs(x) + np.abs(mean)) * rstd * np.abs(gamma) + np.abs(beta)
    y = Value((x - mean) * rstd * gamma + beta, magnitude=size, steps=2)
    return y, Value(mean, magnitude=np.abs(x).mean(axis=axes, keepdims=True)), Value(rstd)


def rms_normalised(x, axes, gamma, epsilon):
    rstd = 1.0 / np.sqrt((x * x).mean(axis=axes, keepdims=True) + epsilon)
    return Value(x * rstd * gamma, steps=2), Value(rstd)


EPSILON = {"epsilon|eps": 1e-6}


@define("RmsNorm", inputs="x gamma~:float", outputs="y rstd:float32", attributes=EPSILON)
def rms_norm(x, gamma, epsilon):
    """y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)"""
    return rms_normalised(x, trailing(x, gamma), gamma, epsilon)


@define("GemmaRmsNorm", inputs="x gamma~:float", outputs="y rstd:float32", attributes=EPSILON)
def gemma_rms_norm(x, gamma, epsilon):
    """y = x * rstd * (1 + gamma), rstd = 1 / sqrt(mean(x^2) + epsilon)"""
    return rms_normalised(x, trailing(x, gamma), 1.0 + gamma, epsilon)


@define("AddRmsNorm", inputs="x1 x2 gamma", outputs="y rstd:float32 x", attributes=EPSILON)
def add_rms_norm(x1, x2, gamma, epsilon):
    """x = x1 + x2; y = x * rstd * gamma, rstd = 1 / sqrt(mean(x^2) + epsilon)"""
    x = x1 + x2
    y, rstd = rms_normalised(x, trailing(x, gamma), gamma, epsilon)
    return y, rstd, Value(x)


@define("InplaceAddRmsNorm", inputs="x1 x2 gamma", outputs="x1 rstd:float32 x2", attributes=EPSILON)
def inplace_add_rms_norm(x1, x2, gamma, epsilon):
    """x2 = x1 + x2; x1 = x2 * rstd * gamma, rstd = 1 / sqrt(mean(x2^2) + epsilon)"""
    return add_rms_norm(x1, x2, gamma, epsilon)


@define("AddRmsNormCast", inputs="x1 x2 gamma", outputs="y1:float32 y2 rstd:float32 x", attributes=EPSILON)
def add_rms_norm_cast(x1, x2, gamma, epsilon):
    """x = x1 + x2; y1 = y2 = x * rstd * gamma, y1 in single precision"""
    x = x1 + x2
    y, rstd = rms_normalised(x, trailing(x, gamma), gamma, epsilon)
    return y, Value(y.array, steps=2), rstd, Value(x)


@define("LayerNorm", inputs="x gamma beta", outputs="y", attributes={"epsilon|eps": 1e-5})
def layer_norm(x, gamma, beta, epsilon):
    """y = (x - mean) * rstd * gamma + beta along the dimensions of gamma"""
    return layer_normalised(x, trailing(x, gamma), gamma, beta, epsilon)[0]


@define("LayerNormV4", inputs="x normalized_shape~:index gamma~?:float beta~?:float", outputs="y mean:float32 rstd:float32",
        attributes={"epsilon|eps": 1e-5})
def layer_norm_v4(x, normalized_shape, gamma, beta, epsilon):
    """y = (x - mean) * rstd * gamma + beta along the last dimensions, as many as normalized_shape has"""
    shape = tuple(int(size) for size in normalized_shape.reshape(-1))
    if x.shape[x.ndim - len(shape):] != shape:
        raise Mismatch(f"normalized_shape {list(shape)} for {list(x.shape)}")
    return layer_normalised(x, tuple(range(x.ndim - len(shape), x.ndim)), gamma, beta, epsilon)


@define("AddLayerNorm", "InplaceAddLayerNorm", inputs="x1~:float x2~:float gamma~:float beta~:float bias~?:float",
        outputs="y|x1~ mean:float32 rstd:float32 x|x2~", attributes={"epsilon|eps": 1e-5, "additional_output": False})
def add_layer_norm(x1, x2, gamma, beta, bias, epsilon, additional_output):
    """x = x1 + x2 + bias; y = (x - mean) * rstd * gamma + beta"""
    x = x1 + x2 + (0.0 if bias is None else bias)
    y, mean, rstd = layer_normalised(x, trailing(x, gamma), gamma, beta, epsilon)
    size = np.abs(x1) + np.abs(x2)
    return y, mean, rstd, Value(x, magnitude=size) if additional_output else None


@define("PreLayerNorm", inputs="x y gamma beta", outputs="_", attributes={"epsilon|eps": REQUIRED})
def pre_layer_norm(x, y, gamma, beta, epsilon):
    """res_out = (s - mean) * rstd * gamma + beta, s = x + y"""
    total = x + y
    return layer_normalised(total, trailing(total, gamma), gamma, beta, epsilon)[0]


@define("DeepNorm", inputs="x gx beta gamma", outputs="mean:float32 rstd:float32 y",
        attributes={"alpha": 0.3, "epsilon|eps": 1e-6})
def deep_norm(x, gx, beta, gamma, alpha, epsilon):
    """s = alpha * x + gx; y = (s - mean) * rstd * gamma + beta"""
    total = alpha * x + gx
    y, mean, rstd = layer_normalised(total, trailing(total, gamma), gamma, beta, epsilon)
    return mean, rstd, y


def layer_norm_slopes(dy, x, rstd, mean, gamma):
    """Gradients of a layer norm: of its input, of gamma and of beta, each with the size of its terms."""
    axes = trailing(x, gamma)
    outer = tuple(range(x.ndim - len(axes)))
    normal = (x - mean) * rstd
    scaled = dy * gamma
    first = scaled.mean(axis=axes, keepdims=True)
    second = (scaled * normal).mean(axis=axes, keepdims=True)
    size = np.abs(rstd) * (np.abs(scaled) + np.abs(scaled).mean(axis=axes, keepdims=True)
                           + np.abs(normal) * np.abs(scaled * normal).mean(axis=axes, keepdims=True))
    dx = Value(rstd * (scaled - first - normal * second), magnitude=size, steps=3)
    dgamma = Value((dy * normal).sum(axis=outer), magnitude=np.abs(dy * normal).sum(axis=outer))
    dbeta = Value(dy.sum(axis=outer), magnitude=np.abs(dy).sum(axis=outer))
    return dx, dgamma, dbeta


def saved(array, x):
    """What the forward pass saved, of the rank of its input."""
    if array.ndim == x.ndim:
        return array
    if array.size == 0 or x.size % array.size != 0:
        raise Mismatch("saved values of another size")
    return array.reshape(array.shape + (1,) * (x.ndim - array.ndim))


@define("LayerNormGradV3", inputs="dy x rstd~:float32 mean~:float32 gamma~:float", outputs="pd_x pd_gamma~ pd_beta~",
        ignored="output_mask")
def layer_norm_gradient(dy, x, rstd, mean, gamma):
    """pd_x = rstd * (g - mean(g) - n * mean(g * n)), g = dy * gamma, n = (x - mean) * rstd; pd_gamma, pd_beta = sums of dy * n, dy"""
    return layer_norm_slopes(dy, x, saved(rstd, x), saved(mean, x), gamma)


@define("LayerNormalizationGrad", inputs="dy x gamma mean~:float rstd~:float", outputs="dx dgamma dbeta")
def layer_normalization_gradient(dy, x, gamma, mean, rstd):
    """dx = rstd * (g - mean(g) - n * mean(g * n)), g = dy * gamma, n = (x - mean) * rstd; dgamma, dbeta = sums of dy * n, dy"""
    return layer_norm_slopes(dy, x, saved(rstd, x), saved(mean, x), gamma)


@define("AddLayerNormGrad", inputs="dy x1 x2 rstd~:float32 mean~:float32 gamma dsum?", outputs="dx dgamma:float32 dbeta:float32")
def add_layer_norm_gradient(dy, x1, x2, rstd, mean, gamma, dsum):
    """dx = the gradient of the layer norm of x1 + x2, plus dsum; dgamma and dbeta its sums"""
    x = x1 + x2
    dx, dgamma, dbeta = layer_norm_slopes(dy, x, saved(rstd, x), saved(mean, x), gamma)
    if dsum is not None:
        dx = Value(dx.array + dsum, magnitude=dx.magnitude + np.abs(dsum), steps=3)
    return dx, dgamma, dbeta


@define("DeepNormGrad", inputs="dy x gx gamma mean~:float32 rstd~:float32", outputs="dx dgx dbeta:float32 dgamma:float32",
        attributes={"alpha": 0.3})
def deep_norm_gradient(dy, x, gx, gamma, mean, rstd, alpha):
    """dgx = the gradient of the layer norm of alpha * x + gx; dx = alpha * dgx"""
    total = alpha * x + gx
    dgx, dgamma, dbeta = layer_norm_slopes(dy, total, saved(rstd, total), saved(mean, total), gamma)
    dx = Value(alpha * dgx.array, magnitude=abs(alpha) * dgx.magnitude, steps=3)
    return dx, dgx, dbeta, dgamma


@define("RmsNormGrad", inputs="dy x rstd~:float32 gamma~:float", outputs="dx dgamma:float32")
def rms_norm_gradient(dy, x, rstd, gamma):
    """dx = rstd * (g - n * mean(g * n)), g = dy * gamma, n = x * rstd; dgamma = the sum of dy * n"""
    axes = trailing(x, gamma)
    outer = tuple(range(x.ndim - len(axes)))
    rstd = saved(rstd, x)
    normal, scaled = x * rstd, dy * gamma
    mean = (scaled * normal).mean(axis=axes, keepdims=True)
    size = np.abs(rstd) * (np.abs(scaled) + np.abs(normal) * np.abs(scaled * normal).mean(axis=axes, keepdims=True))
    dgamma = Value((dy * normal).sum(axis=outer), magnitude=np.abs(dy * normal).sum(axis=outer))
    return Value(rstd * (scaled - normal * mean), magnitude=size, steps=3), dgamma


def group_normalised(x, gamma, beta, groups, epsilon, activate):
    if x.ndim < 2 or x.shape[1] % groups != 0:
        raise Mismatch(f"{groups} groups of {list(x.shape)}")
    shape = (x.shape[0], groups, -1)
    grouped = x.reshape(shape)
    mean, variance = grouped.mean(axis=2), grouped.var(axis=2)
    rstd = 1.0 / np.sqrt(variance + epsilon)
    channels = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    gamma = np.ones(channels) if gamma is None else gamma.reshape(channels)
    beta = np.zeros(channels) if beta is None else beta.reshape(channels)
    normal = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    size = ((np.abs(grouped) + np.abs(mean[..., None])) * rstd[..., None]).reshape(x.shape)
    y = normal * gamma + beta
    size = size * np.abs(gamma) + np.abs(beta)
    if activate is not None:
        y = y / (1.0 + np.exp(-activate * y))
    mean_size = np.abs(grouped).mean(axis=2)
    return Value(y, magnitude=size, steps=3), Value(mean, magnitude=mean_size), Value(rstd)


@define("GroupNormSilu", inputs="x gamma~?:float beta~?:float", outputs="_ _ _",
        attributes={"num_groups": REQUIRED, "eps|epsilon": 1e-5, "activate_silu": True})
def group_norm_silu(x, gamma, beta, num_groups, eps, activate_silu):
    """y = n / (1 + exp(-n)), n = (x - mean) * rstd * gamma + beta, mean and rstd of each group of channels"""
    return group_normalised(x, gamma, beta, num_groups, eps, 1.0 if activate_silu else None)


@define("GroupNormSwish", inputs="x gamma beta", outputs="_ _ _",
        attributes={"num_groups": REQUIRED, "data_format": "NCHW", "eps|epsilon": 1e-5, "activate_swish": True, "swish_scale": 1.0})
def group_norm_swish(x, gamma, beta, num_groups, data_format, eps, activate_swish, swish_scale):
    """y = n / (1 + exp(-swish_scale * n)), n = (x - mean) * rstd * gamma + beta, mean and rstd of each group of channels"""
    if data_format not in ("NCHW", "ND"):
        raise Mismatch(f"the data format {data_format} has no definition")
    return group_normalised(x, gamma, beta, num_groups, eps, swish_scale if activate_swish else None)


# Norms that a condition scales and shifts.


def before_last(parameter, x):
    """A parameter of [B, H] or [B, 1, H] against [B, S, H]."""
    whole = x.shape[:-2] + (1, x.shape[-1])
    if x.ndim < 2 or parameter.shape not in (whole, x.shape[:-2] + (x.shape[-1],)):
        raise Mismatch(f"a parameter of {list(parameter.shape)} for {list(x.shape)}")
    return parameter.reshape(whole)


def adaptive(x, scale, shift, weight, bias, epsilon):
    y, mean, rstd = layer_normalised(x, (x.ndim - 1,), weight, bias, epsilon)
    factor, shift = 1.0 + before_last(scale, x), before_last(shift, x)
    return Value(y.array * factor + shift, magnitude=y.magnitude * np.abs(factor) + np.abs(shift), steps=3), mean, rstd


ADAPTIVE = "x scale shift weight~?:float bias~?:float"


@define("AdaLayerNorm", inputs=ADAPTIVE, outputs="out", attributes={"epsilon|eps": 1e-5})
def adaptive_layer_norm(x, scale, shift, weight, bias, epsilon):
    """out = ((x - mean) * rstd * weight + bias) * (1 + scale) + shift along the last dimension"""
    return adaptive(x, scale, shift, weight, bias, epsilon)[0]


@define("AdaLayerNormV2", inputs=ADAPTIVE, outputs="out mean~:float rstd~:float", attributes={"epsilon|eps": 1e-5})
def adaptive_layer_norm_v2(x, scale, shift, weight, bias, epsilon):
    """out = ((x - mean) * rstd * weight + bias) * (1 + scale) + shift along the last dimension; mean and rstd as well"""
    return adaptive(x, scale, shift, weight, bias, epsilon)


@define("AdaLayerNormGrad", inputs="dy x rstd~:float mean~:float scale gamma~:float beta~:float",
        outputs="pd_x pd_scale pd_shift pd_gamma~:float pd_beta~:float")
def adaptive_layer_norm_gradient(dy, x, rstd, mean, scale, gamma, beta):
    """gradients of ((x - mean) * rstd * gamma + beta) * (1 + scale) + shift"""
    if gamma.shape != x.shape[-1:] or beta.shape != gamma.shape:
        raise Mismatch(f"gamma of {list(gamma.shape)} for {list(x.shape)}")
    rstd, mean = saved(rstd, x), saved(mean, x)
    pd_x, pd_gamma, pd_beta = layer_norm_slopes(dy * (1.0 + before_last(scale, x)), x, rstd, mean, gamma)
    inner = dy * ((x - mean) * rstd * gamma + beta)
    size = np.abs(dy) * ((np.abs(x) + np.abs(mean)) * np.abs(rstd * gamma) + np.abs(beta))
    pd_scale = Value(inner.sum(axis=-2), magnitude=size.sum(axis=-2), steps=2)
    pd_gamma.steps = pd_beta.steps = 2
    return pd_x, pd_scale, Value(dy.sum(axis=-2), magnitude=np.abs(dy).sum(axis=-2)), pd_gamma, pd_beta


@define("Modulate", inputs="x scale? shift?", outputs="y")
def modulate(x, scale, shift):
    """y = x * (1 + scale) + shift"""
    y = x if scale is None else x * (1.0 + before_last(scale, x))
    size = np.abs(y) if scale is None else np.abs(x) * (1.0 + np.abs(before_last(scale, x)))
    if shift is not None:
        y, size = y + before_last(shift, x), size + np.abs(before_last(shift, x))
    return Value(y, magnitude=size, steps=2)


@define("ModulateGrad", inputs="grad_output input scale shift", outputs="grad_input grad_scale grad_shift")
def modulate_gradient(grad_output, x, scale, _):
    """grad_input = grad_output * (1 + scale); grad_scale, grad_shift = sums of grad_output * input, grad_output"""
    if x.ndim != 3 or grad_output.shape != x.shape:
        raise Mismatch(f"the input is {list(x.shape)}")
    scale = before_last(scale, x)
    grad_scale = Value((grad_output * x).sum(axis=1), magnitude=np.abs(grad_output * x).sum(axis=1))
    grad_shift = Value(grad_output.sum(axis=1), magnitude=np.abs(grad_output).sum(axis=1))
    return Value(grad_output * (1.0 + scale), magnitude=np.abs(grad_output) * (1.0 + np.abs(scale)), steps=2), grad_scale, grad_shift


@define("FusedAddRmsNorm", inputs="x1 x2 gamma", outputs="y rstd:float32 x", attributes={"epsilon|eps": 1e-6, "scale": 1.0})
def fused_add_rms_norm(x1, x2, gamma, epsilon, scale):
    """x = x1 * scale + x2; y = x / sqrt(mean(x^2) + epsilon) * gamma"""
    x = x1 * scale + x2
    y, _ = rms_normalised(x, trailing(x, gamma), gamma, epsilon)
    # Whether rstd is the root or one over it is left open.
    size = np.abs(x1 * scale) + np.abs(x2)
    return y, None, Value(x, magnitude=size)
