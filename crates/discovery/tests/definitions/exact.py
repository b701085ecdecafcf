"""Functions and rounding for `make_known.py`, in `decimal` and `fractions`: nothing of NumPy, and nothing of the definitions."""

import struct
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 80
getcontext().Emin, getcontext().Emax = -99999, 99999
D = Decimal

# Bits of the fraction, least and greatest exponent, bits of the format.
FORMATS = {"float16": (10, -14, 15, 16), "bfloat16": (7, -126, 127, 16), "float32": (23, -126, 127, 32)}


def bits_of(value, dtype):
    """The bit pattern of the nearest number, ties to even; value: a Fraction, a Decimal, or 'nan', 'inf', '-inf', '-0'."""
    fraction_bits, least, greatest, width = FORMATS[dtype]
    exponent_bits = width - 1 - fraction_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if value == "nan":
        return infinity | 1 << (fraction_bits - 1)
    if value in ("inf", "-inf"):
        return infinity | (1 << (width - 1) if value == "-inf" else 0)
    if value == "-0":
        return 1 << (width - 1)
    value = Fraction(value)
    sign, size = (1 << (width - 1) if value < 0 else 0), abs(value)
    if size == 0:
        return 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    exponent = max(exponent, least)
    steps = round(size / Fraction(2) ** (exponent - fraction_bits))  # Python rounds a Fraction to even
    if steps >= 1 << (fraction_bits + 1):
        steps, exponent = steps >> 1, exponent + 1
    if exponent > greatest:
        return sign | infinity
    if steps < 1 << fraction_bits:
        return sign | steps
    return sign | (exponent - least + 1) << fraction_bits | (steps - (1 << fraction_bits))


def value_of(bits, dtype):
    """What a bit pattern stands for, as a Fraction or one of the words of `bits_of`."""
    fraction_bits, least, _, width = FORMATS[dtype]
    sign = -1 if bits >> (width - 1) else 1
    exponent = bits >> fraction_bits & ((1 << (width - 1 - fraction_bits)) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    if exponent == (1 << (width - 1 - fraction_bits)) - 1:
        return "nan" if fraction else "inf" if sign > 0 else "-inf"
    if exponent == 0:
        value = Fraction(fraction) * Fraction(2) ** (least - fraction_bits)
    else:
        value = Fraction(fraction + (1 << fraction_bits)) * Fraction(2) ** (exponent - 1 + least - fraction_bits)
    return "-0" if value == 0 and sign < 0 else sign * value


def pack(bits, dtype):
    return bits.to_bytes(FORMATS[dtype][3] // 8, "little").hex()


def pack_integer(value, dtype):
    letter = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "bool": "?"}
    return struct.pack("<" + letter[dtype], value).hex()


def dec(value):
    value = Fraction(value)
    return D(value.numerator) / D(value.denominator)


def pi():
    """By Machin's formula."""
    return 16 * arctan_series(D(1) / 5) - 4 * arctan_series(D(1) / 239)


def arctan_series(x):
    total, power, place = D(0), x, 0
    while abs(power) > D(10) ** -90:
        total += (power if place % 2 == 0 else -power) / (2 * place + 1)
        power, place = power * x * x, place + 1
    return total


PI = pi()


def sin(x):
    x = dec(x) % (2 * PI)
    total, term, place = D(0), x, 1
    while abs(term) > D(10) ** -78:
        total += term
        term = -term * x * x / ((place + 1) * (place + 2))
        place += 2
    return total


def cos(x):
    return sin_of_decimal(PI / 2 - dec(x))


def sin_of_decimal(x):
    x = x % (2 * PI)
    total, term, place = D(0), x, 1
    while abs(term) > D(10) ** -78:
        total += term
        term = -term * x * x / ((place + 1) * (place + 2))
        place += 2
    return total


def tan(x):
    return sin(x) / cos(x)


def atan(x):
    x = dec(x) if not isinstance(x, D) else x
    halvings = 0
    while abs(x) > D("0.1"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    return arctan_series(x) * 2**halvings


def asin(x):
    x = dec(x)
    return PI / 2 * x if abs(x) == 1 else atan(x / (1 - x * x).sqrt())


def acos(x):
    return PI / 2 - asin(x)


def exp(x):
    return (x if isinstance(x, D) else dec(x)).exp()


def ln(x):
    return (x if isinstance(x, D) else dec(x)).ln()


def sinh(x):
    return (exp(x) - exp(-x)) / 2


def cosh(x):
    return (exp(x) + exp(-x)) / 2


def tanh(x):
    x = x if isinstance(x, D) else dec(x)
    return (exp(x) - exp(-x)) / (exp(x) + exp(-x))


def asinh(x):
    x = dec(x)
    size = (abs(x) + (x * x + 1).sqrt()).ln()
    return size if x >= 0 else -size


def acosh(x):
    x = dec(x)
    return (x + (x * x - 1).sqrt()).ln()


def atanh(x):
    x = dec(x)
    return ((1 + x) / (1 - x)).ln() / 2


def erf(x):
    x = x if isinstance(x, D) else dec(x)
    total, term, place = D(0), x, 0
    while abs(term) > D(10) ** -78:
        total += term / (2 * place + 1)
        place += 1
        term = -term * x * x / place
    return 2 * total / PI.sqrt()


def sigmoid(x):
    x = x if isinstance(x, D) else dec(x)
    return 1 / (1 + exp(-x))
