"""Numbers to integers with a scale, and back."""

import numpy as np

from activations import gelu_exact, gelu_tanh
from core import REQUIRED, Mismatch, Value, define

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


def per_row(value, size, relative):
    """Rows by their largest size to 127 and the scales of it. `size`: of the terms that a value was made of, whose errors it has."""
    largest = np.abs(value).max(axis=-1, keepdims=True)
    if np.any(largest == 0) or not np.all(np.isfinite(largest)):
        raise Mismatch("a row of zeros or infinities has no scale")
    scale, doubt = largest / 127.0, size.max(axis=-1, keepdims=True)
    ratio = value / scale
    whole = quantised(ratio, size / scale + np.abs(ratio) * doubt / largest, -128, 127, relative)
    return whole, Value(scale[..., 0], magnitude=doubt[..., 0] / 127.0, steps=2)


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


@define("DynamicQuant", inputs="x smooth_scales? group_index:index?", outputs="y:int8 scale:float32", ignored="dst_type")
def dynamic_quantise(x, smooth, groups, call):
    """scale = max |x| / 127 of each row; y = round(x / scale)"""
    if groups is not None:
        smooth = of_group(smooth, groups, x)
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
    return dequantised(x, weight_scale * (1.0 if activate_scale is None else activate_scale.reshape(-1, 1)), bias)


def dequantised(x, scale, bias):
    """Whole biases are added before the scale, others after it."""
    if bias is None:
        return Value(x * scale, steps=2)
    if bias.dtype.kind == "i":
        return Value((x + bias) * scale, steps=2)
    return Value(x * scale + bias, magnitude=np.abs(x * scale), steps=2)


@define("DynamicQuantV2", inputs="x smooth_scales? group_index:index?", outputs="y:int8 scale:float32 offset:float32", ignored="dst_type",
        attributes={"is_symmetrical": False, "quant_mode": "pertoken", "dst_type_max": 0.0})
def dynamic_quantise_v2(x, smooth, groups, is_symmetrical, quant_mode, dst_type_max, call):
    """scale = (max - min) / 255, offset = 127 - max / scale of each row, y = round(x / scale + offset); symmetrical as DynamicQuant"""
    if quant_mode not in ("pertoken", "pertensor") or dst_type_max != 0:
        raise Mismatch(f"the mode {quant_mode} has no definition")
    if groups is not None:
        smooth = of_group(smooth, groups, x)
    value = x if smooth is None else x * smooth
    rows = value.reshape(1, -1) if quant_mode == "pertensor" else value
    reach = 2.0**-20 if smooth is None else precision(call)
    if is_symmetrical:
        y, scale = per_row(rows, np.abs(rows), reach)
        return reshaped(y, x.shape), scale, None
    high, low = rows.max(axis=-1, keepdims=True), rows.min(axis=-1, keepdims=True)
    if np.any(high == low) or not np.all(np.isfinite(high - low)):
        raise Mismatch("a row whose elements are alike has no scale")
    scale = (high - low) / 255.0
    offset = 127.0 - high / scale
    doubt = (np.abs(rows) + 2 * np.abs(high) + np.abs(low)) / scale * (np.abs(high) + np.abs(low)) / (high - low)
    y = quantised(rows / scale + offset, doubt + np.abs(offset), -128, 127, reach)
    size = (np.abs(high) + np.abs(low)) / 255.0
    offset_size = 127.0 + np.abs(high) / scale * (1.0 + size / scale)
    return reshaped(y, x.shape), Value(scale[..., 0], magnitude=size[..., 0]), Value(offset[..., 0], magnitude=offset_size[..., 0])


def reshaped(value, shape):
    """Whole numbers with their slack in another shape."""
    return Value(value.array.reshape(shape), slack=value.slack.reshape(shape), unspecified=value.unspecified.reshape(shape))


def of_group(smooth, groups, x):
    """For each row what its group has: groups hold where each one ends."""
    ends, rows = groups.reshape(-1), x.size // x.shape[-1]
    if smooth is None or smooth.shape != (len(ends), x.shape[-1]) or np.any(np.diff(ends) < 0) or ends[0] < 0 or ends[-1] != rows:
        raise Mismatch("group_index must rise to the number of rows, with a row of scales for each group")
    return smooth[np.searchsorted(ends, np.arange(rows), side="right")].reshape(x.shape)


@define("DynamicBlockQuant", inputs="x", outputs="y:int8 scale:float32", ignored="dst_type",
        attributes={"min_scale": 0.0, "round_mode": "rint", "row_block_size": 1, "col_block_size": 128, "dst_type_max": 0.0})
def block_quantise(x, min_scale, round_mode, row_block_size, col_block_size, dst_type_max, call):
    """scale = max |x| / 127 of each block, y = round(x / scale)"""
    if min_scale != 0 or round_mode != "rint" or dst_type_max != 0 or x.ndim != 2 or min(row_block_size, col_block_size) < 1:
        raise Mismatch("only matrices without a least scale have a definition")
    rows, columns = (-(-size // block) for size, block in zip(x.shape, (row_block_size, col_block_size)))
    padded = np.zeros((rows * row_block_size, columns * col_block_size))
    padded[: x.shape[0], : x.shape[1]] = np.abs(x)
    largest = padded.reshape(rows, row_block_size, columns, col_block_size).max(axis=(1, 3))
    if np.any(largest == 0) or not np.all(np.isfinite(largest)):
        raise Mismatch("a block of zeros or infinities has no scale")
    scale = largest / 127.0
    of_each = np.repeat(np.repeat(scale, row_block_size, 0), col_block_size, 1)[: x.shape[0], : x.shape[1]]
    return quantised(x / of_each, np.abs(x) / of_each, -128, 127, 2.0**-20), Value(scale)


@define("FakeQuantAffineCachemask", inputs="x scale~:float zero_point~:number", outputs="y mask:bool",
        attributes={"axis": REQUIRED, "quant_min": REQUIRED, "quant_max": REQUIRED})
def fake_quantise(x, scale, zero_point, axis, quant_min, quant_max, call):
    """y = (min(quant_max, max(quant_min, q)) - zero_point) * scale, q = round(x / scale) + zero_point; mask = whether q is between them"""
    if np.any(zero_point != np.rint(zero_point)):
        raise Mismatch("a zero point between whole numbers")
    scale, zero_point = along(scale, x, axis), along(zero_point, x, axis)
    ratio = x / scale
    reach = precision(call) * np.abs(ratio) + 1e-6
    # On the edge between two whole numbers either may be meant.
    either = (np.rint(ratio - reach) != np.rint(ratio + reach)) | ~np.isfinite(ratio)
    whole = np.rint(ratio) + zero_point
    clipped = np.clip(whole, quant_min, quant_max)
    inside = (whole >= quant_min) & (whole <= quant_max)
    beyond = (np.rint(ratio - reach) + zero_point > quant_max) | (np.rint(ratio + reach) + zero_point < quant_min)
    return Value((clipped - zero_point) * scale, steps=2, unspecified=either & ~beyond), Value(inside, unspecified=either & ~beyond)


LIMITS = {"torch.qint8": ("int8", -128, 127), "torch.quint8": ("uint8", 0, 255), "torch.qint32": ("int32", -(2**31), 2**31 - 1)}


@define("Quantize", inputs="x scales~:float zero_points~?:number", outputs="y:int", attributes={"dtype": REQUIRED, "axis": 1})
def quantise_by_division(x, scales, zero_points, dtype, axis, call):
    """y = round(x / scales + zero_points) between the least and the greatest of dtype"""
    if LIMITS.get(dtype, ("",))[0] != call["outputs"][0]["dtype"]:
        raise Mismatch(f"the dtype {dtype} for {call['outputs'][0]['dtype']}")
    scales, offset = along(scales, x, axis), 0.0 if zero_points is None else along(zero_points, x, axis)
    value = x / scales + offset
    return quantised(value, np.abs(x / scales) + np.abs(offset), *LIMITS[dtype][1:], precision(call))


@define("AscendAntiQuantV2", inputs="x:int8 scale~:float offset~?:float", outputs="y:float", ignored="dst_type",
        attributes={"sqrt_mode": False})
def dequantise_by_scale(x, scale, offset, sqrt_mode):
    """y = (x + offset) * scale; the scale twice with sqrt_mode"""
    scale, offset = along(scale, x, -1), 0.0 if offset is None else along(offset, x, -1)
    factor = scale * scale if sqrt_mode else scale
    return Value((x + offset) * factor, magnitude=(np.abs(x) + np.abs(offset)) * np.abs(factor), steps=3)


@define("TransQuantParamV2", inputs="scale~:float32 offset~?:float32", outputs="y:uint64", attributes={"round_mode": 0})
def pack_scale(scale, offset, round_mode):
    """y = the upper 19 bits of scale, bit 46, and offset in nine bits from bit 37"""
    if round_mode != 0:
        raise Mismatch(f"the round mode {round_mode} has no definition")
    bits = scale.astype("<f4").view("<u4").astype(np.uint64) & np.uint64(0xFFFFE000) | np.uint64(1 << 46)
    if offset is None:
        return Value(bits, exact=True)
    if not np.all(np.isfinite(offset)):
        raise Mismatch("an offset that is not finite")
    whole = np.clip(np.rint(offset), -256, 255).astype(np.int64) & 0x1FF
    bits, whole, halves = np.broadcast_arrays(bits, whole.astype(np.uint64), offset - np.floor(offset) == 0.5)
    return Value(bits | whole << np.uint64(37), exact=True, unspecified=halves)


def gated(x, activate_left):
    """The product of one half of the last dimension and the other through x * sigmoid(x)."""
    if x.shape[-1] % 2 != 0:
        raise Mismatch(f"halves of {x.shape[-1]}")
    left, right = np.split(x, 2, axis=-1)
    gate, other = (left, right) if activate_left else (right, left)
    return gate / (1.0 + np.exp(-gate)) * other


@define("SwiGluQuant", inputs="x smooth_scales~?:float32 offsets~?:float32 group_index:index?", outputs="y:int8 scale:float32",
        attributes={"activate_left": False, "quant_mode": "dynamic", "group_list_type": 0}, ignored="dst_type")
def swiglu_quantise(x, smooth, offsets, groups, activate_left, quant_mode, group_list_type, call):
    """y = round(s * 127 / max |s|) of each row, s = a * sigmoid(a) * b * smooth_scales, x = [b, a]; static: y = round(s + offsets)"""
    act = gated(x, activate_left)
    rows = act.size // act.shape[-1]
    open_rows = np.zeros(rows, bool)
    if groups is None:
        smooth, offsets = (None if one is None else flat_row(one, act.shape[-1]) for one in (smooth, offsets))
    else:
        if group_list_type not in (0, 1) or np.any(groups < 0):
            raise Mismatch(f"groups of the type {group_list_type}")
        ends = groups.reshape(-1) if group_list_type == 0 else np.cumsum(groups.reshape(-1))
        if np.any(np.diff(ends) < 0) or ends[-1] > rows:
            raise Mismatch("groups must rise to the number of rows at most")
        group = np.searchsorted(ends, np.arange(rows), side="right")
        open_rows = group == len(ends)
        smooth, offsets = (None if one is None else of_rows(one, group, len(ends), act) for one in (smooth, offsets))
    value = act if smooth is None else act * smooth
    open_rows = np.broadcast_to(open_rows.reshape(act.shape[:-1] + (1,)), act.shape)
    relative = precision(call)
    if quant_mode == "static":
        if smooth is None:
            raise Mismatch("static quantisation without scales")
        shift = 0.0 if offsets is None else offsets
        y = quantised(value + shift, np.abs(value) + np.abs(shift), -128, 127, relative)
    elif quant_mode == "dynamic" and offsets is None:
        # Rows that belong to no group have no result; what they hold must not matter.
        y, _ = per_row(np.where(open_rows, 1.0, value), np.where(open_rows, 1.0, np.abs(value)), relative)
    else:
        raise Mismatch(f"the mode {quant_mode} has no definition")
    y.unspecified = y.unspecified | open_rows
    # Whether scale is 127 / max or the reverse is left open.
    return y, None


def flat_row(parameter, width):
    if parameter.size not in (1, width):
        raise Mismatch(f"{parameter.size} parameters for {width} places")
    return parameter.reshape(-1)


def of_rows(parameter, group, count, act):
    """For each row what its group has; the last group's for rows that have none."""
    if parameter.size not in (count, count * act.shape[-1]):
        raise Mismatch(f"{parameter.size} parameters for {count} groups")
    rows = parameter.reshape(count, -1)[np.minimum(group, count - 1)]
    return np.broadcast_to(rows, (len(group), act.shape[-1])).reshape(act.shape)


@define("DequantSwigluQuant",
        inputs="x:number weight_scale~?:float32 activation_scale~?:float32 bias~?:number quant_scale~?:float32",
        outputs="y:int8 scale:float32", ignored="dst_type",
        attributes={"activate_left": False, "quant_mode": "static", "round_mode": "rint", "activate_dim": -1, "swiglu_mode": 0,
                    "clamp_limit": 7.0, "glu_alpha": 1.702, "glu_bias": 1.0})
def dequantise_swiglu_quantise(x, weight_scale, activation_scale, bias, quant_scale, activate_left, quant_mode, round_mode, activate_dim,
                               swiglu_mode, clamp_limit, glu_alpha, glu_bias, call):
    """scale = max |s| / 127 of each row, y = round(s / scale), s = a * sigmoid(a) * b * quant_scale, [b, a] = the dequantised x"""
    if quant_mode != "dynamic" or round_mode != "rint" or activate_dim not in (-1, x.ndim - 1) or swiglu_mode != 0:
        raise Mismatch("only dynamic quantisation of plain gates has a definition")
    value = Value(x)
    if x.dtype.kind == "i":
        if weight_scale is None or weight_scale.size != x.shape[-1]:
            raise Mismatch("weight_scale must have as many elements as x has columns")
        if activation_scale is not None and activation_scale.size != x.size // x.shape[-1]:
            raise Mismatch("activation_scale must have as many elements as x has rows")
        scales = weight_scale.reshape(-1) * (1.0 if activation_scale is None else activation_scale.reshape(x.shape[:-1] + (1,)))
        value = dequantised(x, scales, bias)
    elif any(one is not None for one in (weight_scale, activation_scale, bias)):
        raise Mismatch("floats are not dequantised")
    act, size = gated(value.array, activate_left), gated_size(value, activate_left)
    if quant_scale is not None:
        factor = flat_row(quant_scale, act.shape[-1])
        act, size = act * factor, size * np.abs(factor)
    return per_row(act, size, max(precision(call), 2.0**-18))


def gated_size(value, activate_left):
    """Of the terms that a gate's result has the errors of: its slope is at most 1.1."""
    doubt = np.abs(value.array) if value.magnitude is None else value.magnitude + np.abs(value.array)
    (left, right), (first, second) = np.split(np.abs(value.array), 2, axis=-1), np.split(doubt, 2, axis=-1)
    return 1.1 * first * right + left * second if activate_left else 1.1 * second * left + right * first


@define("GeluQuant", inputs="x input_scale~?:float input_offset~?:float", outputs="y:int8 out_scale:float32", ignored="dst_type",
        attributes={"approximate": "none", "quant_mode": "dynamic", "round_mode": "rint"})
def gelu_quantise(x, input_scale, input_offset, approximate, quant_mode, round_mode, call):
    """out_scale = max |g| / 127 of each row, y = round(g / out_scale), g = gelu(x) * input_scale; static: y = round(g + input_offset)"""
    if approximate not in ("none", "tanh") or round_mode != "rint" or quant_mode not in ("dynamic", "static"):
        raise Mismatch(f"{approximate}, {quant_mode} and {round_mode} have no definition")
    value, size = gelu_exact(x) if approximate == "none" else gelu_tanh(x), np.abs(x)
    relative = max(precision(call), 2.0**-16)
    if input_scale is not None:
        factor = flat_row(input_scale, x.shape[-1])
        value, size = value * factor, size * np.abs(factor)
    if quant_mode == "dynamic":
        return per_row(value, size, relative)
    if input_scale is None:
        raise Mismatch("static quantisation without a scale")
    shift = 0.0 if input_offset is None else flat_row(input_offset, x.shape[-1])
    return quantised(value + shift, size + np.abs(shift), -128, 127, relative), None
