"""Norms whose results are quantised at once."""

import numpy as np

from batch_norms import by_channel
from core import REQUIRED, Mismatch, Value, define
from norms import adaptive, group_normalised, layer_normalised, rms_normalised, trailing
from quantise import per_row, precision, quantised

EPSILON = {"epsilon|eps": 1e-6}


def of_places(parameter, gamma):
    """A parameter of one element, or of one for each element of gamma."""
    if parameter.size == 1:
        return float(parameter.reshape(-1)[0])
    if parameter.size != gamma.size:
        raise Mismatch(f"{parameter.size} parameters for {gamma.size} places")
    return parameter.reshape(gamma.shape)


def reach(call):
    """Relative error of a norm before it is rounded to whole numbers."""
    return max(precision(call), 2.0**-18)


def by_scale(y, gamma, scale, offset, divides, call):
    """Rounded y / scale + offset or y * scale + offset; errors of y are those of its terms."""
    if scale is None:
        return None
    scale, offset = of_places(scale, gamma), 0.0 if offset is None else of_places(offset, gamma)
    if divides and np.any(np.equal(scale, 0.0)):
        raise Mismatch("a scale of zero")
    factor = 1.0 / scale if divides else scale
    size = y.magnitude * np.abs(factor) + np.abs(offset)
    return quantised(y.array * factor + offset, size, -128, 127, reach(call))


def smoothed(y, gamma, smooth, call):
    """Rows quantised by their largest element, and the scales."""
    if gamma.ndim != 1:
        raise Mismatch("what a row is of several dimensions is not defined")
    factor = 1.0 if smooth is None else of_places(smooth, gamma)
    return per_row(y.array * factor, y.magnitude * np.abs(factor), reach(call))


def must_be_last(axis):
    if axis != -1:
        raise Mismatch(f"quantisation along the dimension {axis} has no definition")


# Layer norms.


def added(x1, x2, bias):
    total, size = x1 + x2, np.abs(x1) + np.abs(x2)
    return (total, size) if bias is None else (total + bias, size + np.abs(bias))


def added_layer_norm(x1, x2, gamma, beta, bias, epsilon):
    """The layer norm of a sum, its errors being those of the terms of the sum, and the sum."""
    x, size = added(x1, x2, bias)
    y, _, rstd = layer_normalised(x, trailing(x, gamma), gamma, beta, epsilon)
    y.magnitude = y.magnitude + (size - np.abs(x)) * rstd.array * np.abs(gamma)
    return y, Value(x, magnitude=size)


@define("QuantizeAddLayerNorm", inputs="x1 x2 gamma beta bias scales~:float zero_points~?:number", outputs="y:int8 x",
        attributes={"axis": -1, "epsilon|eps": 1e-5, "additional_output": False}, ignored="dtype")
def quantised_layer_norm(x1, x2, gamma, beta, bias, scales, zero_points, axis, epsilon, additional_output, call):
    """x = x1 + x2 + bias; y = round(n / scales + zero_points), n = (x - mean) * rstd * gamma + beta"""
    must_be_last(axis)
    y, x = added_layer_norm(x1, x2, gamma, beta, bias, epsilon)
    return by_scale(y, gamma, scales, zero_points, True, call), x if additional_output else None


@define("DuaQuantizeAddLayerNorm",
        inputs="x1 x2 gamma beta bias scales1~:float scales2~:float zero_points1~?:number zero_points2~?:number",
        outputs="y1:int8 y2:int8 x", attributes={"axis": -1, "epsilon|eps": 1e-5, "additional_output": False}, ignored="dtype")
def twice_quantised_layer_norm(x1, x2, gamma, beta, bias, scales1, scales2, zero_points1, zero_points2, axis, epsilon,
                               additional_output, call):
    """x = x1 + x2 + bias; y1, y2 = round(n / scales + zero_points), n = (x - mean) * rstd * gamma + beta"""
    must_be_last(axis)
    y, x = added_layer_norm(x1, x2, gamma, beta, bias, epsilon)
    pairs = ((scales1, zero_points1), (scales2, zero_points2))
    return *(by_scale(y, gamma, scale, offset, True, call) for scale, offset in pairs), x if additional_output else None


QUANTISED_SUM = "x1 x2 gamma beta bias? scales1? scales2? zero_points1? zero_points2?"
MODES = {"quant_mode": "dynamic", "epsilon|eps": 1e-5, "additional_output": False, "div_mode": True}


@define("AddLayerNormQuant", inputs=QUANTISED_SUM, outputs="y1:int8 y2:int8 x out_scales1:float32 out_scales2:float32", attributes=MODES)
def add_layer_norm_quantised(x1, x2, gamma, beta, bias, scales1, scales2, zero_points1, zero_points2, quant_mode, epsilon,
                             additional_output, div_mode, call):
    """y1, y2 = n quantised by rows with scales, n = the layer norm of x = x1 + x2 + bias; static: round(n / scales + zero_points)"""
    y, x = added_layer_norm(x1, x2, gamma, beta, bias, epsilon)
    x = x if additional_output else None
    if quant_mode == "static":
        if scales1 is None:
            raise Mismatch("static quantisation without scales")
        pairs = ((scales1, zero_points1), (scales2, zero_points2))
        return *(by_scale(y, gamma, scale, offset, div_mode, call) for scale, offset in pairs), x, None, None
    if quant_mode != "dynamic" or scales1 is None and scales2 is not None:
        raise Mismatch(f"the mode {quant_mode} with scales2 alone has no definition")
    first, scale = smoothed(y, gamma, scales1, call)
    second, other = (None, None) if scales2 is None else smoothed(y, gamma, scales2, call)
    return first, second, x, scale, other


@define("AddLayerNormQuantV2", inputs=QUANTISED_SUM, attributes=MODES,
        outputs="y1:int8 y2:int8 x layernorm_res out_scales1:float32 out_scales2:float32")
def add_layer_norm_quantised_v2(*tensors, call, **attributes):
    """y1, y2 = n quantised by rows with scales, layernorm_res = n = the layer norm of x1 + x2 + bias; static: round(n / scales + ...)"""
    y, _ = added_layer_norm(*tensors[:5], attributes["epsilon"])
    y1, y2, x, scale1, scale2 = add_layer_norm_quantised(*tensors, call=call, **attributes)
    return y1, y2, x, y, scale1, scale2


@define("LayerNormQuant", inputs="x gamma beta scale offset~?:int8", outputs="result|res:int8 scale_out:float32",
        attributes={"epsilon|eps": 1e-5, "quant_mode": 0})
def layer_norm_quantised(x, gamma, beta, scale, offset, epsilon, quant_mode, call):
    """result = round(n / scale + offset), n = the layer norm of x; with the mode 1 n * scale, quantised by rows"""
    if quant_mode not in (0, 1):
        raise Mismatch(f"the mode {quant_mode} has no definition")
    y, _, _ = layer_normalised(x, trailing(x, gamma), gamma, beta, epsilon)
    return (by_scale(y, gamma, scale, offset, True, call), None) if quant_mode == 0 else smoothed(y, gamma, scale, call)


@define("AdaLayerNormQuant", inputs="x scale shift weight? bias? smooth_scales?", outputs="out:int8 quant_scale:float32",
        attributes={"epsilon|eps": 1e-5})
def adaptive_layer_norm_quantised(x, scale, shift, weight, bias, smooth_scales, epsilon, call):
    """quant_scale = max |y| / 127 of each row, out = round(y / quant_scale), y = (norm * (1 + scale) + shift) * smooth_scales"""
    y, _, _ = adaptive(x, scale, shift, weight, bias, epsilon)
    return smoothed(y, x[(0,) * (x.ndim - 1)], smooth_scales, call)


# RMS norms.


def added_rms_norm(x, size, gamma, beta, epsilon):
    """The RMS norm of a sum whose terms have this size."""
    y, rstd = rms_normalised(x, trailing(x, gamma), gamma, epsilon)
    y.magnitude = size * rstd.array * np.abs(gamma)
    return y if beta is None else Value(y.array + beta, magnitude=y.magnitude + np.abs(beta), steps=2)


@define("AddRmsNormQuant",
        inputs="x1 x2 gamma scales1~:float scales2~?:float zero_points1~?:number zero_points2~?:number beta|bias?",
        outputs="y1:int8 y2:int8 x", attributes={"axis": -1, **EPSILON, "div_mode": True}, ignored="dst_type")
def add_rms_norm_quantised(x1, x2, gamma, scales1, scales2, zero_points1, zero_points2, beta, axis, epsilon, div_mode, call):
    """x = x1 + x2; y1, y2 = round(n / scales + zero_points), n = x / sqrt(mean(x^2) + epsilon) * gamma + beta"""
    must_be_last(axis)
    x, size = added(x1, x2, None)
    y = added_rms_norm(x, size, gamma, beta, epsilon)
    # Where one scale serves the whole tensor, the second one may count for nothing.
    scales2 = None if scales1.size == 1 < gamma.size else scales2
    pairs = ((scales1, zero_points1), (scales2, zero_points2))
    return *(by_scale(y, gamma, scale, offset, div_mode, call) for scale, offset in pairs), Value(x, magnitude=size)


@define("AddRmsNormQuantV2",
        inputs="x1 x2 gamma scales1~:float scales2~?:float zero_points1~?:number zero_points2~?:number bias?",
        outputs="y1:int8 y2:int8 x", attributes={"axis": -1, **EPSILON, "div_mode": True, "output_res": False}, ignored="dst_type")
def add_rms_norm_quantised_v2(*tensors, output_res, call, **attributes):
    """x = x1 + x2; y1, y2 = round(n / scales + zero_points), n = x / sqrt(mean(x^2) + epsilon) * gamma + bias"""
    if output_res:
        raise Mismatch("only the sum as third output has a definition")
    return add_rms_norm_quantised(*tensors, call=call, **attributes)


def wanted(mask, smooth1, smooth2):
    """Which of the two results mean something."""
    if not mask:
        return True, smooth1 is not None and smooth2 is not None
    return bool(mask[0]), len(mask) > 1 and bool(mask[1])


@define("AddRmsNormDynamicQuant", inputs="x1 x2 gamma smooth_scale1? smooth_scale2? beta?",
        outputs="y1:int8 y2:int8 x scale1:float32 scale2:float32", attributes={**EPSILON, "output_mask": []}, ignored="dst_type")
def add_rms_norm_by_rows(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, epsilon, output_mask, call):
    """x = x1 + x2; scale = max |n * smooth| / 127 of each row, y = round(n * smooth / scale), n = the RMS norm of x + beta"""
    if smooth_scale1 is None and smooth_scale2 is not None and not output_mask:
        raise Mismatch("the second scale without the first has no definition")
    x, size = added(x1, x2, None)
    y = added_rms_norm(x, size, gamma, beta, epsilon)
    pairs = zip(wanted(output_mask, smooth_scale1, smooth_scale2), (smooth_scale1, smooth_scale2))
    (y1, scale1), (y2, scale2) = (smoothed(y, gamma, smooth, call) if one else (None, None) for one, smooth in pairs)
    return y1, y2, Value(x, magnitude=size), scale1, scale2


@define("AddRmsNormDynamicQuantV2", inputs="x1 x2 gamma smooth_scale1? smooth_scale2? beta?",
        outputs="y1:int8 y2:int8 y3:float32 y4 x scale1:float32 scale2:float32", attributes={**EPSILON, "output_mask": []},
        ignored="dst_type")
def add_rms_norm_by_rows_v2(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, epsilon, output_mask, call):
    """as AddRmsNormDynamicQuant; y3 = y4 = x / sqrt(mean(x^2) + epsilon) * gamma without beta, y3 in single precision"""
    y1, y2, x, scale1, scale2 = add_rms_norm_by_rows(x1, x2, gamma, smooth_scale1, smooth_scale2, beta, epsilon, output_mask, call)
    plain = added_rms_norm(x.array, x.magnitude, gamma, None, epsilon)
    single = Value(plain.array, magnitude=plain.magnitude, steps=2)
    y3, y4 = (one if len(output_mask) <= place or output_mask[place] else None for place, one in ((2, single), (3, plain)))
    return y1, y2, y3, y4, x, scale1, scale2


@define("MultiAddRmsNormDynamicQuant", inputs="x1* x2 gamma smooth_scale1? smooth_scale2?",
        outputs="y1:int8 y2:int8 x y scale1:float32 scale2:float32", attributes=EPSILON)
def sums_rms_norm_by_rows(x1, x2, gamma, smooth_scale1, smooth_scale2, epsilon, call):
    """x = the sum of x1 and x2; y = its RMS norm; scale = max |y * smooth| / 127 of each row, y1, y2 = round(y * smooth / scale)"""
    if smooth_scale1 is None and smooth_scale2 is not None:
        raise Mismatch("the second scale without the first has no definition")
    x, size = sum(x1) + x2, sum(np.abs(one) for one in x1) + np.abs(x2)
    y = added_rms_norm(x, size, gamma, None, epsilon)
    y1, scale1 = smoothed(y, gamma, smooth_scale1, call)
    y2, scale2 = (None, None) if smooth_scale2 is None else smoothed(y, gamma, smooth_scale2, call)
    return y1, y2, Value(x, magnitude=size), y, scale1, scale2


@define("RmsNormDynamicQuant", inputs="x gamma smooth_scales? beta?", outputs="y:int8 scale:float32", attributes=EPSILON,
        ignored="dst_type")
def rms_norm_by_rows(x, gamma, smooth_scales, beta, epsilon, call):
    """scale = max |n * smooth_scales| / 127 of each row, y = round(n * smooth_scales / scale), n = the RMS norm of x + beta"""
    y = added_rms_norm(x, np.abs(x), gamma, beta, epsilon)
    return smoothed(y, gamma, smooth_scales, call)


@define("RmsNormDynamicQuant@two", inputs="x gamma smooth_scale1? smooth_scale2? beta?", outputs="y1:int8 y2:int8 scale1:float32 scale2:float32",
        attributes={**EPSILON, "output_mask": []}, ignored="dst_type")
def rms_norm_by_rows_twice(x, gamma, smooth1, smooth2, beta, epsilon, output_mask, call):
    """scale = max |n * smooth| / 127 of each row, y = round(n * smooth / scale), n = the RMS norm of x + beta; the second with a scale of its own"""
    if smooth1 is None and smooth2 is not None and not output_mask:
        raise Mismatch("the second scale without the first has no definition")
    y = added_rms_norm(x, np.abs(x), gamma, beta, epsilon)
    pairs = zip(wanted(output_mask, smooth1, smooth2), (smooth1, smooth2))
    (y1, scale1), (y2, scale2) = (smoothed(y, gamma, smooth, call) if one else (None, None) for one, smooth in pairs)
    return y1, y2, scale1, scale2


@define("GroupNormSiluQuant", inputs="x gamma? beta? quantScale|quant_scale~:float32", outputs="_:int8 _ _",
        attributes={"num_groups": REQUIRED, "eps|epsilon": 1e-5, "activate_silu": True})
def group_norm_silu_quantised(x, gamma, beta, quant_scale, num_groups, eps, activate_silu, call):
    """y = round(s / quantScale), s = n / (1 + exp(-n)), n = the group norm of x; mean and rstd of each group"""
    if not activate_silu:
        raise Mismatch("without silu it has no definition")
    y, mean, rstd = group_normalised(x, gamma, beta, num_groups, eps, 1.0)
    scale = float(quant_scale.reshape(-1)[0]) if quant_scale.size == 1 else by_channel(quant_scale, x)
    return quantised(y.array / scale, 1.1 * y.magnitude / np.abs(scale), -128, 127, reach(call)), mean, rstd
