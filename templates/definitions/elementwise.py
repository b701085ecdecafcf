"""Element by element: arithmetic, roots and logarithms, trigonometry, comparisons, selection, casts."""

import math

import numpy as np

from core import REQUIRED, FLOATS, INTEGERS, Mismatch, Value, define, wide

LEFT = "x1|x|self|input|input_x|a|var"
RIGHT = "x2|y|other|input_y|b|value"


def is_float(array):
    return np.asarray(array).dtype.kind == "f"


def either_nan(*arrays):
    """Where an operand is no number: whether it is passed on or passed over is the instruction's choice, which nobody documents."""
    found = np.zeros(np.broadcast_shapes(*[np.shape(one) for one in arrays]), bool)
    for one in arrays:
        if is_float(one):
            found = found | np.isnan(one)
    return found


def by_math(function):
    """A function of Python's `math`, over arrays, NaN where it is not defined."""

    def one(value):
        try:
            return function(value)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(one, otypes=[np.float64])


erf = by_math(math.erf)
erfc = by_math(math.erfc)


# Unary functions by the name that operators and their list forms have in common.
UNARY = {
    "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh, "Atan": np.arctan, "Atanh": np.arctanh,
    "Cos": np.cos, "Cosh": np.cosh, "Sin": np.sin, "Sinh": np.sinh, "Tan": np.tan, "Tanh": np.tanh,
    "Exp": np.exp, "Expm1": np.expm1, "Log1p": np.log1p, "Log": np.log, "Log2": np.log2, "Log10": np.log10,
    "Sqrt": np.sqrt, "Rsqrt": lambda x: 1.0 / np.sqrt(x), "Reciprocal": lambda x: 1.0 / x,
    "Erf": erf, "Erfc": erfc, "Sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
}


def conditioned(name, x, result):
    """A unary result; its magnitude says how much a rounded argument alone would move it."""
    # Arguments of periodic functions are reduced with pi to the dtype's precision.
    if name in ("Sin", "Cos"):
        return Value(result, magnitude=np.abs(x))
    if name == "Tan":
        return Value(result, magnitude=np.abs(x) * (1.0 + result * result))
    # Near 1 these are small, and made of parts that are not.
    if name in ("Log", "Log2", "Log10", "Acosh"):
        return Value(result, magnitude=np.ones_like(result))
    if name in ("Sinh", "Asinh", "Atanh", "Expm1", "Log1p", "Erf", "Tanh", "Asin", "Atan"):
        return Value(result, magnitude=np.minimum(1.0, np.abs(x)) if name != "Atanh" else np.ones_like(result))
    if name in ("Acos", "Erfc"):
        return Value(result, magnitude=np.ones_like(result))
    return Value(result)


# Other names of the same.
ALSO = {
    "Acos": ["AcosV2"], "Asin": ["AsinWithAgent"], "Asinh": ["AsinhWithAgent", "AsinhV2"], "Cosh": ["CoshV2"], "Sinh": ["SinhV2"],
    "Tan": ["TanV2", "TanV3"], "Log1p": ["Log1pV2"],
}


def register_unary(name):
    @define(name, *ALSO.get(name, []), formula=f"y = {name.lower()}(x)")
    def unary(x):
        return conditioned(name, x, UNARY[name](x))


for each in UNARY:
    # `Log` has attributes, and a sigmoid is an activation.
    if each not in ("Log", "Exp", "Sigmoid"):
        register_unary(each)


@define("Log", attributes={"base": -1.0, "scale": 1.0, "shift": 0.0})
def logarithm(x, base, scale, shift):
    """y = log(scale * x + shift) to the base, or the natural one where that is -1"""
    result = np.log(scale * x + shift)
    return Value(result if base == -1.0 else result / math.log(base), magnitude=np.ones_like(result))


@define("Exp", attributes={"base": -1.0, "scale": 1.0, "shift": 0.0})
def exponential(x, base, scale, shift):
    """y = base, or e where that is -1, to the power of scale * x + shift"""
    power = (scale * x + shift) * (1.0 if base == -1.0 else math.log(base))
    result = np.exp(power)
    if base == -1.0 and scale == 1.0 and shift == 0.0:
        return result
    return Value(result, magnitude=result * np.where(np.isfinite(power), np.abs(power), 0.0))


@define("Abs", dtypes="float signed")
def absolute(x):
    """y = |x|"""
    return Value(np.abs(wide(x)) if not is_float(x) else np.abs(x), exact=True)


@define("Abs@complex", "ComplexAbs", dtypes="complex", outputs="_:float32")
def complex_absolute(x):
    """y = |x|"""
    return np.abs(x)


@define("Neg", dtypes="float signed")
def negative(x):
    """y = -x"""
    return Value(-wide(x) if not is_float(x) else -x, exact=True)


@define("Square", "SquareV2", dtypes="float int")
def square(x):
    """y = x * x"""
    return x * x if is_float(x) else wide(x) * wide(x)


@define("Floor", dtypes="float")
def floor(x):
    """y = the greatest whole number that is not above x"""
    return Value(np.floor(x), exact=True)


@define("Ceil", "CeilV2", dtypes="float")
def ceil(x):
    """y = the least whole number that is not below x"""
    return Value(np.ceil(x), exact=True)


@define("Trunc", "TruncV2", dtypes="float int")
def truncate(x):
    """y = x without its fraction"""
    return Value(np.trunc(x) if is_float(x) else x, exact=True)


@define("Rint", dtypes="float")
def rint(x):
    """y = the nearest whole number, ties to even"""
    return Value(np.rint(x), exact=True)


@define("Round", dtypes="float", attributes={"decimals": 0})
def round_half_even(x, decimals):
    """y = the nearest whole number, ties to even"""
    if decimals != 0:
        raise Mismatch("rounding to decimals depends on how they are scaled")
    return Value(np.rint(x), exact=True)


@define("Sign", dtypes="float signed")
def sign(x):
    """y = -1, 0 or 1"""
    return Value(np.sign(x), exact=True, unspecified=either_nan(x))


@define("Signbit", outputs="_:bool")
def signbit(x):
    """y = whether the sign of x is minus"""
    return np.signbit(x)


@define("IsFinite", outputs="_:bool")
def is_finite(x):
    """y = whether x is neither infinite nor NaN"""
    return np.isfinite(x)


@define("IsInf", outputs="_:bool")
def is_inf(x):
    """y = whether x is infinite"""
    return np.isinf(x)


@define("IsNan", outputs="_:bool")
def is_nan(x):
    """y = whether x is NaN"""
    return np.isnan(x)


@define("IsPosInf", outputs="_:bool")
def is_positive_infinity(x):
    """y = whether x is infinite and above zero"""
    return np.isposinf(x)


@define("IsNegInf", outputs="_:bool")
def is_negative_infinity(x):
    """y = whether x is infinite and below zero"""
    return np.isneginf(x)


@define("OnesLike", dtypes="any")
def ones_like(x):
    """y = 1"""
    return Value(np.ones_like(x), exact=True)


@define("ZerosLike", dtypes="any")
def zeros_like(x):
    """y = 0"""
    return Value(np.zeros_like(x), exact=True)


@define("NanToNum", attributes={"nan": 0.0, "posinf": None, "neginf": None})
def nan_to_num(x, nan, posinf, neginf, call):
    """y = x with numbers in the place of NaN and infinities"""
    largest = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"), "float32": float.fromhex("0x1.fffffep127")}
    top = largest[call["inputs"][0]["instances"][0]["dtype"]]
    result = np.where(np.isnan(x), nan, x)
    result = np.where(np.isposinf(x), top if posinf is None else posinf, result)
    return np.where(np.isneginf(x), -top if neginf is None else neginf, result)


# Two operands.


def added(x, y):
    return x + y if is_float(x) or np.iscomplexobj(x) else wide(x) + wide(y)


def subtracted(x, y):
    return x - y if is_float(x) or np.iscomplexobj(x) else wide(x) - wide(y)


def multiplied(x, y):
    return x * y if is_float(x) or np.iscomplexobj(x) else wide(x) * wide(y)


def largest_of(x, y):
    return Value(np.maximum(x, y), exact=True, unspecified=either_nan(x, y))


def least_of(x, y):
    return Value(np.minimum(x, y), exact=True, unspecified=either_nan(x, y))


def power_of(x, y):
    result = np.power(x, y)
    # By way of exp(y * log(x)), which is what hardware offers.
    exponent = np.abs(y * np.log(np.abs(x)))
    magnitude = np.abs(result) * np.where(np.isfinite(exponent), exponent, 0.0)
    # Negative bases have a power only where the exponent is whole; 0 and infinities to odd powers are signed by convention.
    return Value(result, magnitude=magnitude, unspecified=(x < 0) | ((x == 0) & (y <= 0)) | either_nan(x, y))


@define("Add", "AddV2", "AddCustom", "AddExample", "UnalignAdd", inputs="_ _", dtypes="float int complex")
def add(x, y):
    """z = x + y"""
    return added(x, y)


@define("Sub", "SubV2", "SubFrameworklaunch", inputs=f"{LEFT} {RIGHT}", dtypes="float int complex")
def subtract(x, y):
    """z = x - y"""
    return subtracted(x, y)


@define("Mul", "MulV2", inputs="_ _", dtypes="float int complex")
def multiply(x, y):
    """z = x * y"""
    return multiplied(x, y)


@define("Div", "RealDiv", "DivV2", inputs=f"{LEFT} {RIGHT}")
def divide(x, y):
    """z = x / y"""
    return x / y


@define("DivNoNan", inputs=f"{LEFT} {RIGHT}")
def divide_no_nan(x, y):
    """z = x / y, 0 where y is 0"""
    return np.where(y == 0, 0.0, x / y)


@define("MulNoNan", inputs=f"{LEFT} {RIGHT}")
def multiply_no_nan(x, y):
    """z = x * y, 0 where y is 0"""
    return np.where(y == 0, 0.0, x * y)


@define("TruncateDiv", inputs=f"{LEFT} {RIGHT}", dtypes="int")
def truncate_divide(x, y):
    """z = x / y without its fraction"""
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(wide(x)) // np.abs(wide(safe))
    return Value(np.where((x < 0) != (safe < 0), -quotient, quotient), unspecified=y == 0)


@define("FloorDiv", inputs=f"{LEFT} {RIGHT}", dtypes="int")
def floor_divide(x, y):
    """z = the greatest whole number that is not above x / y"""
    return Value(wide(x) // wide(np.where(y == 0, 1, y)), unspecified=y == 0)


@define("FloorMod", inputs=f"{LEFT} {RIGHT}", dtypes="int")
def floor_modulo(x, y):
    """z = x - y * floor(x / y)"""
    return Value(wide(x) % wide(np.where(y == 0, 1, y)), unspecified=y == 0)


@define("Maximum", "MaximumV2", inputs="_ _", dtypes="number")
def maximum(x, y):
    """z = the greater of both"""
    return largest_of(x, y)


@define("Minimum", inputs="_ _", dtypes="number")
def minimum(x, y):
    """z = the lesser of both"""
    return least_of(x, y)


@define("Pow", "Pows", "Pow2", inputs=f"{LEFT} {RIGHT}|exponent")
def power(x, y):
    """z = x to the power of y"""
    return power_of(x, y)


@define("SquaredDifference", inputs="_ _")
def squared_difference(x, y):
    """z = (x - y)^2"""
    return (x - y) ** 2


@define("Atan2", inputs=f"{LEFT} {RIGHT}")
def arctangent2(x, y):
    """z = the angle of the point (y, x)"""
    return Value(np.arctan2(x, y), magnitude=np.ones(np.broadcast_shapes(x.shape, y.shape)))


@define("Xlogy", inputs=f"{LEFT} {RIGHT}")
def xlogy(x, y):
    """z = x * log(y), 0 where x is 0"""
    result = np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))
    return Value(result, magnitude=np.abs(x) + np.zeros_like(y))


@define("Xdivy", inputs=f"{LEFT} {RIGHT}")
def xdivy(x, y):
    """z = x / y, 0 where x is 0"""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x / y)


@define("Xlog1py", inputs=f"{LEFT} {RIGHT}")
def xlog1py(x, y):
    """z = x * log(1 + y), 0 where x is 0"""
    result = np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))
    return Value(result, magnitude=np.abs(x) + np.zeros_like(y))


@define("Heaviside", inputs="input|x|self values")
def heaviside(x, values):
    """y = 0 below zero, values at zero, 1 above"""
    return Value(np.where(x < 0, 0.0, np.where(x == 0, values, 1.0)), exact=True, unspecified=np.isnan(x) | np.zeros_like(values, bool))


@define("LogAddExp", inputs="_ _")
def log_add_exp(x, y):
    """z = log(exp(x) + exp(y))"""
    return Value(np.logaddexp(x, y), magnitude=np.maximum(np.abs(x), np.abs(y)))


@define("Muls", inputs="x|self|input value~:number")
def multiply_scalar(x, value):
    """y = x * value"""
    if not is_float(x) and np.any(value != np.trunc(value)):
        raise Mismatch("an integer times a fraction is rounded as the interface does not say")
    if not is_float(x):
        return wide(x) * wide(np.asarray(value, np.int64).reshape(-1)[0])
    return x * float(np.asarray(value).reshape(-1)[0])


@define("Muls@attribute", attributes={"value": REQUIRED})
def multiply_attribute(x, value):
    """y = x * value"""
    return x * value


@define("Adds", attributes={"value": REQUIRED})
def add_attribute(x, value):
    """y = x + value"""
    return Value(x + value, magnitude=np.full_like(x, abs(value)))


@define("Axpy", inputs="x1|x y|x2", attributes={"alpha": REQUIRED})
def axpy(x, y, alpha):
    """z = x + alpha * y"""
    return Value(x + alpha * y, magnitude=np.abs(alpha * y))


@define("AxpyV3", inputs="x y", attributes={"a": REQUIRED})
def axpy_v3(x, y, a):
    """z = a * x + y"""
    return Value(a * x + y, magnitude=np.abs(a * x))


@define("AxpyV2", inputs="x1|x x2|y alpha~:number")
def axpy_v2(x, y, alpha):
    """z = x + alpha * y"""
    return Value(x + alpha * y, magnitude=np.abs(alpha * y))


# Three operands and more.


@define("Addcmul", inputs="input_data|self|x x1|tensor1 x2|tensor2 value~:number", dtypes="float int32")
def addcmul(data, x1, x2, value):
    """y = input_data + value * x1 * x2"""
    if is_float(data):
        term = value * x1 * x2
        return Value(data + term, magnitude=np.abs(term), steps=2)
    return wide(data) + wide(np.asarray(value, np.int64)) * wide(x1) * wide(x2)


@define("Addcdiv", inputs="input_data|self|x x1|tensor1 x2|tensor2 value~:number")
def addcdiv(data, x1, x2, value):
    """y = input_data + value * x1 / x2"""
    term = value * x1 / x2
    return Value(data + term, magnitude=np.abs(term), steps=2)


@define("Lerp", inputs="start|self|x1 end|x2 weight")
def lerp(start, end, weight):
    """y = start + weight * (end - start)"""
    return Value(start + weight * (end - start), magnitude=np.abs(weight) * (np.abs(start) + np.abs(end)) + np.abs(start), steps=2)


@define("FusedMulAdd", inputs="x1 x2 x3")
def fused_multiply_add(x, y, z):
    """y = x1 * x2 + x3"""
    return Value(x * y + z, magnitude=np.abs(x * y))


@define("FusedMulAddAdd", inputs="x1 x2 x3 x4")
def fused_multiply_add_add(x, y, z, w):
    """y = x1 * x2 + x3 + x4"""
    return Value(x * y + z + w, magnitude=np.abs(x * y) + np.abs(z) + np.abs(w))


@define("ClipByValue", "ClipByValueV2", inputs="x|input|self clip_value_min|min clip_value_max|max", dtypes="number")
def clip(x, low, high):
    """y = min(max(x, clip_value_min), clip_value_max)"""
    return Value(np.minimum(np.maximum(x, low), high), exact=True, unspecified=either_nan(x, low, high) | (low > high))


@define("Select", "SelectV2", inputs="condition:bool x1|then x2|else", dtypes="any")
def select(condition, x1, x2):
    """y = x1 where the condition holds, else x2"""
    return Value(np.where(condition, x1, x2), exact=True)


@define("MaskedFill", inputs="x|self mask:bool value", dtypes="any")
def masked_fill(x, mask, value):
    """y = value where the mask holds, else x"""
    return Value(np.where(mask, np.asarray(value).reshape(-1)[0], x), exact=True)


@define("AddN", "AccumulateNV2", "AccumulateNv2", "AccumulateNv2V2", inputs="x*", dtypes="float int", ignored="N")
def add_n(tensors):
    """y = the sum of all tensors"""
    total, size = tensors[0], np.abs(tensors[0])
    for one in tensors[1:]:
        total, size = added(total, one), size + np.abs(one)
    return Value(total, magnitude=size)


@define("FusedMulAddN", inputs="x1 x2 x3")
def fused_multiply_add_n(x1, x2, x3):
    """y = x1 * x3 + x2, x3 a scalar"""
    scalar = float(np.asarray(x3).reshape(-1)[0])
    return Value(x1 * scalar + x2, magnitude=np.abs(x1 * scalar))


@define("MaskedScale", inputs="self|x mask~:number", attributes={"scale|value": REQUIRED})
def masked_scale(x, mask, scale):
    """y = x * mask * scale"""
    return Value(x * mask * scale, steps=2)


@define("IsClose", inputs="x1 x2", dtypes="float int32", outputs="_:bool",
        attributes={"rtol": 1e-5, "atol": 1e-8, "equal_nan": False})
def is_close(x1, x2, rtol, atol, equal_nan):
    """y = whether |x1 - x2| is at most atol + rtol * |x2|"""
    reach = atol + rtol * np.abs(x2)
    distance = np.abs(x1 - x2)
    result = (x1 == x2) | (np.isfinite(x2) & (distance <= reach))
    if is_float(x1):
        result = result | (equal_nan & np.isnan(x1) & np.isnan(x2))
    # Where the distance is the reach but for rounding, either is right.
    edge = np.abs(distance - reach) <= 1e-2 * reach
    return Value(result, unspecified=edge & (x1 != x2))


@define("ComplexV3", "ComplexV2", "Complex", inputs="real|x1 imag|x2", dtypes="float32", outputs="_:complex64")
def complex_number(real, imag):
    """out = real + i * imag"""
    return Value(real + 1j * imag, exact=True)


@define("Polar", inputs="input|abs angle", dtypes="float32", outputs="_:complex64")
def polar(size, angle):
    """out = input * exp(i * angle)"""
    return Value(size * np.exp(1j * angle), magnitude=np.abs(size) * (1.0 + np.abs(angle)))


@define("MulSigmoid", inputs="x1 x2", attributes={"t1": REQUIRED, "t2": REQUIRED, "t3": REQUIRED})
def multiply_sigmoid(x1, x2, t1, t2, t3):
    """out = sigmoid(x1 * t1) * x2 * t3"""
    if t2 != 0:
        raise Mismatch("the interface does not say what t2 does")
    return Value(x2 * t3 / (1.0 + np.exp(-x1 * t1)), steps=4)


@define("MulSigmoidMulAddCustom", inputs="input mulscalar1 mulscalar2 addscalar3", outputs="_")
def multiply_sigmoid_multiply_add(x, first, second, third):
    """outputs = sigmoid(input * mulscalar1) * mulscalar2 + addscalar3"""
    first, second, third = (float(one.reshape(-1)[0]) for one in (first, second, third))
    term = second / (1.0 + np.exp(-x * first))
    return Value(term + third, magnitude=np.abs(term), steps=3)


# Comparisons.


def register_comparison(name, function, formula):
    @define(name, inputs=f"{LEFT} {RIGHT}", dtypes="number bool", outputs="_:bool", formula=formula)
    def comparison(x, y):
        return function(x, y)


for each, compare, words in (
    ("Equal", np.equal, "y = whether x1 is x2"),
    ("NotEqual", np.not_equal, "y = whether x1 is not x2"),
    ("NotEqualV2", np.not_equal, "y = whether x1 is not x2"),
    ("Less", np.less, "y = whether x1 is below x2"),
    ("LessEqual", np.less_equal, "y = whether x1 is not above x2"),
    ("Greater", np.greater, "y = whether x1 is above x2"),
    ("GreaterEqual", np.greater_equal, "y = whether x1 is not below x2"),
):
    register_comparison(each, compare, words)


@define("LogicalNot", dtypes="bool")
def logical_not(x):
    """y = whether x does not hold"""
    return ~x


@define("LogicalAnd", inputs="_ _", dtypes="bool")
def logical_and(x, y):
    """z = whether both hold"""
    return x & y


@define("LogicalOr", inputs="_ _", dtypes="bool")
def logical_or(x, y):
    """z = whether one holds"""
    return x | y


# Casts.


@define("Cast", "CastV2", inputs="x~", outputs="y|z~", ignored="dst_type")
def cast(x, call):
    """y = x in another dtype"""
    to = call["outputs"][0]["dtype"]
    if np.iscomplexobj(x):
        raise Mismatch("the interface does not say what becomes of the imaginary part")
    if to == "bool":
        return x != 0
    if to in FLOATS:
        return Value(x.astype(np.float64), exact=True)
    if to in INTEGERS and is_float(x):
        if to in ("int8", "uint8", "int16"):
            raise Mismatch("small integers are reached by way of half on some chips, and rounded twice")
        return Value(np.trunc(np.where(np.isfinite(x), x, np.inf)), exact=True)
    return Value(x, exact=True)
