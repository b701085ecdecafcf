"""Bits and integers."""

import numpy as np

from core import Value, define


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
