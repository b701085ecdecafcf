"""Arithmetic beyond the plain operations: remainders, rounded quotients, outer products, angles and parts of complex numbers."""

import numpy as np

from core import REQUIRED, SMALLEST, Mismatch, Value, define, round_to, wide
from elementwise import LEFT, RIGHT, is_float

# By how much a quotient may be off that a fair implementation rounds, in proportion to it.
REACH = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-22}


def dtype_of(call, place=0):
    """The dtype of the first tensor of an input."""
    return call["inputs"][place]["instances"][0]["dtype"]


def on_the_edge(x, limit, call):
    """Where x is what a limit becomes once it has x's dtype, but not the limit itself: rounding says on which side that is."""
    dtype = dtype_of(call)
    if dtype not in SMALLEST:
        return np.zeros(np.shape(x), bool)
    held = round_to(np.asarray(limit, np.float64), dtype)
    return (x == held) & (held != limit)


def near(value, limit):
    """Where a computed value may be on either side of a limit."""
    return np.abs(value - limit) <= 1e-2 * np.abs(limit)


def near_whole(quotient, call):
    """Where a quotient may be a whole number or just below it, for all that its dtype tells."""
    return ~(np.abs(quotient - np.rint(quotient)) > REACH[dtype_of(call)] * np.abs(quotient))


@define("Mod", "TruncateMod", inputs=f"{LEFT} {RIGHT}", dtypes="float int")
def truncated_remainder(x, y, call):
    """z = x1 - x2 * trunc(x1 / x2)"""
    if not is_float(x):
        x, safe = wide(x), wide(np.where(y == 0, 1, y))
        rest = np.abs(x) % np.abs(safe)
        return Value(np.where(x < 0, -rest, rest), unspecified=y == 0)
    # By x2 apart where the quotient is just below a whole number or just there.
    unspecified = (y == 0) | ~np.isfinite(x) | ~np.isfinite(y) | near_whole(x / y, call)
    return Value(np.fmod(x, y), magnitude=np.abs(x), steps=2, unspecified=unspecified)


@define("DivV3", inputs="x1 x2", attributes={"mode": REQUIRED})
def divide_by_mode(x, y, mode, call):
    """y = x1 / x2 with mode 0, without its fraction with 1, rounded down with 2"""
    quotient = x / y
    if mode == 0:
        return quotient
    if mode not in (1, 2):
        raise Mismatch(f"the mode {mode} has no definition")
    slack = np.where(near_whole(quotient, call), np.maximum(1.0, 2 * REACH[dtype_of(call)] * np.abs(quotient)), 0.0)
    result = np.trunc(quotient) if mode == 1 else np.floor(quotient)
    return Value(result, exact=True, slack=slack, unspecified=(y == 0) | ~np.isfinite(quotient))


@define("DivV3@integers", inputs="x1 x2", dtypes="signed", attributes={"mode": REQUIRED})
def divide_integers_by_mode(x, y, mode):
    """y = x1 / x2 without its fraction with mode 1, rounded down with 2"""
    if mode not in (1, 2):
        raise Mismatch(f"the mode {mode} has no definition for integers")
    x, safe = wide(x), wide(np.where(y == 0, 1, y))
    quotient = x // safe if mode == 2 else np.where((x < 0) != (safe < 0), -(np.abs(x) // np.abs(safe)), np.abs(x) // np.abs(safe))
    return Value(quotient, unspecified=y == 0)


def outer(x, y):
    if x.ndim != 1 or y.ndim != 1:
        raise Mismatch("an outer product of what is no vector")
    return np.outer(x, y)


@define("Ger", inputs="x1 x2")
def outer_product(x, y):
    """y[i, j] = x1[i] * x2[j]"""
    return outer(x, y)


@define("Addr", "AddrV2", inputs="x1 x2 x3 beta alpha")
def add_outer_product(x, left, right, beta, alpha):
    """y = beta * x1 + alpha * x2 x3^T"""
    if beta.size != 1 or alpha.size != 1:
        raise Mismatch("a factor is no number")
    kept, added = float(beta.reshape(-1)[0]) * x, float(alpha.reshape(-1)[0]) * outer(left, right)
    return Value(kept + added, magnitude=np.abs(kept) + np.abs(added), steps=3)


@define("GerV2", inputs="x y A", attributes={"alpha": REQUIRED})
def add_scaled_outer_product(x, y, matrix, alpha):
    """z = A + alpha * x y^T"""
    added = alpha * outer(x, y)
    if matrix.shape != added.shape:
        raise Mismatch("the matrix has another shape than the outer product")
    return Value(matrix + added, magnitude=np.abs(matrix) + np.abs(added), steps=2)


@define("MulAddn", inputs="x1* x2*", ignored="N")
def add_products(left, right):
    """y = the sum of all x1 * x2"""
    if len(left) != len(right):
        raise Mismatch("the lists differ in length")
    products = [x * y for x, y in zip(left, right)]
    return Value(sum(products), magnitude=sum(np.abs(one) for one in products), steps=2)


@define("AngleV2@integers", dtypes="int8 int16 int32 int64 uint8 bool", outputs="_:float32")
@define("AngleV2")
def angle(x):
    """y = 0 above zero, pi below"""
    x = np.asarray(x, np.float64)
    return np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0.0))


@define("AngleV2@complex", dtypes="complex", outputs="_:float32")
def complex_angle(x):
    """y = the angle of x in the plane"""
    # What zeros of both signs mean is a convention.
    unspecified = (x.imag == 0) & (np.signbit(x.imag) | (x.real == 0)) | ~np.isfinite(x.real) | ~np.isfinite(x.imag)
    return Value(np.angle(x), magnitude=np.ones(x.shape), unspecified=unspecified)


@define("Real@complex", "RealV2@complex", dtypes="complex", outputs="_:float32", ignored="Tout")
@define("Real", "RealV2", dtypes="float", ignored="Tout")
def real_part(x):
    """y = the real part of x"""
    return Value(np.real(x), exact=True)


@define("FillV2", inputs="x fill_value", outputs="x|y", dtypes="number bool")
def fill_with(x, value):
    """x = fill_value in every element"""
    if value.size != 1:
        raise Mismatch(f"a value of {value.size} elements")
    return Value(np.full_like(x, value.reshape(-1)[0]), exact=True)


@define("TensorEqual", inputs="_ _", dtypes="number bool", outputs="_:bool")
def tensors_equal(x, y):
    """z = whether both have the same shape and the same elements"""
    return np.reshape(x.shape == y.shape and bool(np.all(x == y)), (1,))


@define("IsinPartV1", inputs="value index~:int32 elementsNum~:index", dtypes="float32 int32", outputs="_:bool")
def is_in_by_order(value, index, count):
    """z[i] = whether element i is among those after the first elementsNum, of which value and index are what sorting gave"""
    count = int(count.reshape(-1)[0]) if count.size == 1 else -1
    value, index = value.reshape(-1), index.reshape(-1)
    if not 0 <= count <= value.size or not np.array_equal(np.sort(index), np.arange(value.size)) or np.any(value[1:] < value[:-1]):
        raise Mismatch("value and index are not what sorting gives")
    elements = np.empty_like(value)
    elements[index] = value
    elements, others = elements[:count], elements[count:]
    # Nobody says whether elements may be there twice, which neighbours in the order would not tell from others.
    _, places, times = np.unique(elements, return_inverse=True, return_counts=True)
    return Value(np.isin(elements, others), unspecified=(times[places.reshape(-1)] > 1) | np.isnan(elements))


@define("MulMulReduceMeanDTwice", inputs="mul0_input0 mul0_input1 mul1_input0 add_y gamma beta")
def normalised_product(x, y, factor, epsilon, gamma, beta):
    """output = (p - mean) / sqrt(variance + add_y) * gamma + beta along dimension 1, p = mul0_input0 * mul0_input1 * mul1_input0"""
    if x.ndim != 2 or y.shape != x.shape or factor.size != 1 or epsilon.size != 1:
        raise Mismatch("there must be two matrices of one shape and two numbers")
    product = x * y * float(factor.reshape(-1)[0])
    centre = product.mean(axis=1, keepdims=True)
    size = np.abs(product).mean(axis=1, keepdims=True)
    scale = gamma / np.sqrt(((product - centre) ** 2).mean(axis=1, keepdims=True) + float(epsilon.reshape(-1)[0]))
    return Value((product - centre) * scale + beta, magnitude=(np.abs(product) + size) * np.abs(scale) + np.abs(beta), steps=4)


@define("AddSigmoidMulReduceSumD", dtypes="float16", inputs="add_0_input0 add_0_input1 mul_0_input1 mult_1_input1 mult_2_input1")
def sum_of_gated(x, bias, factor, first, second):
    """out = the sum along dimension 1 of sigmoid((add_0_input0 + add_0_input1) * mul_0_input1) * mult_1_input1 * mult_2_input1"""
    if x.ndim != 3:
        raise Mismatch(f"{x.ndim} dimensions")
    terms = first * second / (1.0 + np.exp(-(x + bias) * factor))
    # A rounded argument moves the sigmoid by no more than its size.
    size = np.abs(first * second) * (1.0 + (np.abs(x) + np.abs(bias)) * np.abs(factor) / 4)
    return Value(terms.sum(axis=1), magnitude=np.broadcast_to(size, terms.shape).sum(axis=1), steps=3)


@define("SelectReduceMaxDSubExpReduceSumDRealDiv", inputs="sel:bool input1 input2")
def softmax_of_selected(chosen, x1, x2):
    """output = softmax along the last dimension of input1 where sel holds, else input2"""
    taken = np.where(chosen, x1, x2)
    if not np.all(np.isfinite(x1) & np.isfinite(x2)):
        raise Mismatch("what is not chosen is multiplied by zero, and must be finite")
    powers = np.exp(taken - taken.max(axis=-1, keepdims=True))
    return Value(powers / powers.sum(axis=-1, keepdims=True), steps=3)
