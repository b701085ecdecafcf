"""Bits and integers."""

import numpy as np

from core import Mismatch, Value, define


@define("BitwiseAnd", inputs="_ _", dtypes="int")
def bitwise_and(x, y):
    """z = the bits that both have"""
    return x & y


@define("BitwiseOr", inputs="_ _", dtypes="int")
def bitwise_or(x, y):
    """z = the bits that one has"""
    return x | y


@define("BitwiseXor", inputs="_ _", dtypes="int")
def bitwise_xor(x, y):
    """z = the bits that just one has"""
    return x ^ y


@define("Invert", "InvertV2", "BitwiseNot", dtypes="signed")
def invert(x):
    """y = the bits that x has not"""
    return ~x


@define("Invert@unsigned", "InvertV2@unsigned", "BitwiseNot@unsigned", dtypes="uint8 uint16 uint32 uint64")
def invert_unsigned(x, call):
    """y = the bits that x has not"""
    top = np.iinfo(call["inputs"][0]["instances"][0]["dtype"]).max
    return x ^ x.dtype.type(top)


@define("RightShift", inputs="x|x1 y|x2", dtypes="int")
def right_shift(x, y, call):
    """z = x shifted to the right by y bits, with its sign"""
    bits = np.iinfo(call["inputs"][0]["instances"][0]["dtype"]).bits
    outside = (y < 0) | (y >= bits)
    return Value(x >> np.where(outside, 0, y).astype(x.dtype), unspecified=outside)


@define("PopulationCount", dtypes="int16 uint16", outputs="_:uint8")
def population_count(x):
    """y = the number of bits that are set"""
    bits = x.astype(np.int64) & 0xFFFF
    count = np.zeros(bits.shape, np.int64)
    for place in range(16):
        count += (bits >> place) & 1
    return count


@define("Gcd", inputs="_ _", dtypes="signed")
def greatest_common_divisor(x, y):
    """z = the greatest number that divides both"""
    return np.gcd(x, y)


@define("SignBitsPack", inputs="x", outputs="y:uint8", attributes={"size": 1})
def pack_signs(x, size):
    """y = eight signs of x in a byte, the first in the lowest bit: 1 where it is not below 0; in size rows"""
    values = x.reshape(-1)
    if np.any(np.isnan(values)) or np.any((values == 0) & np.signbit(values)):
        raise Mismatch("the sign of NaN and of -0 is not defined")
    raw = np.packbits(values >= 0, bitorder="little")
    if size <= 0 or raw.size % size:
        raise Mismatch(f"{raw.size} bytes in {size} rows")
    return Value(raw.reshape(size, -1).astype(np.int64), exact=True)


@define("SignBitsUnpack", inputs="self|x:uint8", outputs="y:float", ignored="size dtype")
def unpack_signs(raw, call):
    """y = 1 for every bit that is set, else -1, the lowest of a byte first"""
    bits = np.unpackbits(raw.astype(np.uint8).reshape(-1), bitorder="little")
    shape = call["outputs"][0]["shape"]
    result = np.where(bits == 1, 1.0, -1.0)
    return Value(result if shape is None or int(np.prod(shape)) != bits.size else result.reshape(shape), exact=True)
