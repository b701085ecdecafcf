"""Products of matrices of small integers, and products that are quantised."""

import numpy as np

from core import Mismatch, Value, define
from products import product, turned
from quantise import per_row, precision


def one_or_each(parameter, count):
    """A parameter of one element, or of one for each column."""
    if parameter.size not in (1, count):
        raise Mismatch(f"{parameter.size} parameters for {count} columns")
    return parameter.reshape(-1)


def unpacked(scale, dtype):
    """Scales as numbers: packed ones have theirs in the lower half, in as many bits as the device takes."""
    if dtype not in ("int64", "uint64"):
        return scale
    bits = scale.astype(np.int64)
    if np.any(bits & ~np.int64((1 << 46) | 0xFFFFE000)):
        raise Mismatch("packed scales with an offset or more bits than a scale has")
    return (bits & 0xFFFFFFFF).astype(np.uint32).view(np.float32).astype(np.float64)


@define("QuantBatchMatmulV3", inputs="x1:int8 x2:int8 scale~ bias~?:number pertoken_scale~?:float32", outputs="y:float", ignored="dtype",
        attributes={"transpose_x1": False, "transpose_x2": False, "group_size": 0})
def quantised_product(x1, x2, scale, bias, pertoken_scale, transpose_x1, transpose_x2, group_size, call):
    """y = (x1 * x2 + bias) * scale * pertoken_scale for a whole bias, else x1 * x2 * scale * pertoken_scale + bias"""
    if group_size != 0:
        raise Mismatch("scales of groups have no definition")
    dtype = call["inputs"][2]["instances"][0]["dtype"]
    if dtype not in ("float32", "bfloat16", "int64", "uint64"):
        raise Mismatch(f"scales of {dtype} have no definition")
    result, size = product(turned(x1, transpose_x1), turned(x2, transpose_x2))
    if np.any(size >= 2**31):
        raise Mismatch("sums that 32 bits may not hold")
    rows, columns = result.shape[-2:]
    factor = one_or_each(unpacked(scale, dtype), columns)
    if pertoken_scale is not None:
        if pertoken_scale.size != rows:
            raise Mismatch(f"{pertoken_scale.size} scales for {rows} rows")
        factor = factor * pertoken_scale.reshape(-1, 1)
    if bias is not None and bias.size != columns:
        raise Mismatch(f"a bias of {list(bias.shape)}")
    if bias is None or bias.dtype.kind == "i":
        return Value((result + (0 if bias is None else bias.reshape(-1))) * factor, steps=3)
    bias = bias.reshape(-1)
    return Value(result * factor + bias, magnitude=np.abs(result * factor) + np.abs(bias), steps=3)


@define("WeightQuantBatchMatmulV2", inputs="x weight:int8 antiquant_scale antiquant_offset? bias~?:float", outputs="y:float",
        ignored="dtype", attributes={"transpose_x": False, "transpose_weight": False, "antiquant_group_size": 0, "inner_precise": 0})
def dequantised_product(x, weight, scale, offset, bias, transpose_x, transpose_weight, antiquant_group_size, inner_precise):
    """y = x * ((weight + antiquant_offset) * antiquant_scale) + bias"""
    if antiquant_group_size != 0 or inner_precise != 0:
        raise Mismatch("scales of groups have no definition")
    x, weight = turned(x, transpose_x), turned(weight, transpose_weight)
    factor = one_or_each(scale, weight.shape[-1])
    shift = 0.0 if offset is None else one_or_each(offset, weight.shape[-1])
    result, _ = product(x, (weight + shift) * factor)
    _, size = product(x, (np.abs(weight) + np.abs(shift)) * np.abs(factor))
    if bias is not None:
        bias = one_or_each(bias, weight.shape[-1])
        result, size = result + bias, size + np.abs(bias)
    return Value(result, magnitude=size, steps=3)


@define("RotateQuant", inputs="x rot", outputs="y:int8 scale:float32", ignored="y_dtype",
        attributes={"axis": -1, "round_mode": "rint", "scale_alg": 0, "dst_type_max": 0.0, "trans": False})
def rotate_quantise(x, rot, axis, round_mode, scale_alg, dst_type_max, trans, call):
    """scale = max |r| / 127 of each row, y = round(r / scale), r = x in parts as long as rot's sides, each times rot"""
    side = rot.shape[-1]
    if axis not in (-1, x.ndim - 1) or round_mode != "rint" or scale_alg != 0 or dst_type_max != 0 or trans:
        raise Mismatch("only rows rounded to the nearest have a definition")
    if rot.shape != (side, side) or x.shape[-1] % side != 0:
        raise Mismatch(f"a rotation of {list(rot.shape)} for {list(x.shape)}")
    result, size = product(x.reshape(-1, side), rot)
    return per_row(result.reshape(x.shape), size.reshape(x.shape), precision(call))
