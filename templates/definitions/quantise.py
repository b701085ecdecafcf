"""Numbers to integers with a scale, and back."""

import numpy as np

from core import Mismatch, Value, define

ROUND = {
    "round": np.rint,
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}


def quantised(value, size, low, high, relative, rounding=np.rint):
    """Rounded and clipped; one step of slack where the value lies on an edge within the precision of its dtype."""
    whole = np.clip(rounding(value), low, high)
    reach = relative * size + 1e-6
    lower, upper = np.clip(rounding(value - reach), low, high), np.clip(rounding(value + reach), low, high)
    return Value(whole, slack=np.maximum(upper - whole, whole - lower), unspecified=np.isnan(value))


def precision(call, position=0):
    """Relative error of one rounding to the dtype of an input."""
    return {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(call["inputs"][position]["instances"][0]["dtype"], 2.0**-20)


@define("AscendQuantV2", inputs="x scale offset?", outputs="y:int8", ignored="dst_type",
        attributes={"sqrt_mode": False, "round_mode": "round", "axis": -1})
def quantise(x, scale, offset, sqrt_mode, round_mode, axis, call):
    """y = round(x * scale + offset) between -128 and 127; the scale twice with sqrt_mode"""
    if round_mode not in ROUND:
        raise Mismatch(f"the round mode {round_mode} has no definition")
    scale, offset = along(scale, x, axis), 0.0 if offset is None else along(offset, x, axis)
    value = x * scale * (scale if sqrt_mode else 1.0) + offset
    size = np.abs(x * scale) + np.abs(offset)
    return quantised(value, size, -128, 127, precision(call), ROUND[round_mode])


def along(parameter, x, axis):
    """A parameter of one element, or of one for each place of an axis, against a tensor."""
    if parameter.size == 1:
        return float(parameter.reshape(-1)[0])
    axis = axis % x.ndim
    if parameter.size != x.shape[axis]:
        raise Mismatch(f"{parameter.size} parameters for {x.shape[axis]} places")
    return parameter.reshape([-1 if at == axis else 1 for at in range(x.ndim)])


@define("DynamicQuant", inputs="x smooth_scales?", outputs="y:int8 scale:float32", ignored="dst_type")
def dynamic_quantise(x, smooth, call):
    """scale = max |x| / 127 of each row; y = round(x / scale)"""
    value = x if smooth is None else x * smooth
    scale = np.abs(value).max(axis=-1, keepdims=True) / 127.0
    if np.any(scale == 0) or not np.all(np.isfinite(scale)):
        raise Mismatch("a row of zeros or infinities has no scale")
    ratio = value / scale
    reach = 2.0**-20 if smooth is None else precision(call)
    return quantised(ratio, np.abs(ratio), -128, 127, reach), Value(scale.reshape(x.shape[:-1]), steps=1)


@define("GroupQuant", inputs="x scale group_index:index offset?", outputs="y:int8", ignored="dst_type")
def group_quantise(x, scale, groups, offset, call):
    """y = round(x * scale[g] + offset), g = the group of the row: group_index holds where each one ends"""
    ends = groups.reshape(-1)
    if x.ndim != 2 or scale.shape != (len(ends), x.shape[1]) or np.any(np.diff(ends) < 0) or ends[-1] != x.shape[0]:
        raise Mismatch("group_index must rise to the number of rows, with a row of scales for each group")
    if offset is not None and offset.size != 1:
        raise Mismatch(f"an offset of {offset.size} elements")
    rows = np.searchsorted(ends, np.arange(x.shape[0]), side="right")
    shift = 0.0 if offset is None else float(offset.reshape(-1)[0])
    value = x * scale[rows] + shift
    return quantised(value, np.abs(x * scale[rows]) + abs(shift), -128, 127, precision(call))


@define("DequantBias", inputs="x:int32 weight_scale~:float activate_scale~?:float32 bias~?:number", outputs="y:float",
        ignored="output_dtype")
def dequantise(x, weight_scale, activate_scale, bias):
    """y = (x + bias) * weight_scale * activate_scale for a whole bias, else x * weight_scale * activate_scale + bias"""
    scale = weight_scale * (1.0 if activate_scale is None else activate_scale.reshape(-1, 1))
    if bias is None:
        return Value(x * scale, steps=2)
    if bias.dtype.kind == "i":
        return Value((x + bias) * scale, steps=2)
    return Value(x * scale + bias, magnitude=np.abs(x * scale), steps=2)
