"""Matrix products with what comes after them."""

import numpy as np

from core import Mismatch, Value, define


def product(a, b):
    """A matrix product, and the size of the terms of its sums."""
    if a.shape[-1] != b.shape[-2]:
        raise Mismatch(f"{list(a.shape)} times {list(b.shape)}")
    return np.matmul(a, b), np.matmul(np.abs(a), np.abs(b))


def turned(matrix, is_transposed):
    return np.swapaxes(matrix, -1, -2) if is_transposed else matrix


@define("MatMulV3", "MatMulV2", "MatMul", inputs="x1 x2 bias~?:float", outputs="y",
        attributes={"transpose_x1|adj_x1": False, "transpose_x2|adj_x2": False, "offset_x": 0},
        ignored="enable_hf32 opImplMode")
def matrix_product(x1, x2, bias, transpose_x1, transpose_x2, offset_x):
    """y = x1 * x2 + bias"""
    if offset_x != 0:
        raise Mismatch("an offset has no definition")
    result, size = product(turned(x1, transpose_x1), turned(x2, transpose_x2))
    if bias is not None:
        result, size = result + bias, size + np.abs(bias)
    return Value(result, magnitude=size)


@define("BatchMatMulV3", "BatchMatMulV2", "BatchMatMul", inputs="x1 x2 bias~?:float", outputs="y",
        attributes={"adj_x1": False, "adj_x2": False, "offset_x": 0}, ignored="enable_hf32")
def batched_matrix_product(x1, x2, bias, adj_x1, adj_x2, offset_x):
    """y = x1 * x2 + bias, batch by batch"""
    return matrix_product(x1, x2, bias, adj_x1, adj_x2, offset_x)


@define("Mmad", "MatmulApiConstant", inputs="a b bias~:float32", outputs="c:float32")
def product_with_bias(a, b, bias):
    """c = a * b + bias"""
    result, size = product(a, b)
    return Value(result + bias, magnitude=size + np.abs(bias))


@define("MatmulLeakyrelu", inputs="a b bias~:float32", outputs="c:float32")
def product_with_leaky_relu(a, b, bias):
    """c = s above zero, 0.001 * s below, s = a * b + bias"""
    result, size = product(a, b)
    result = result + bias
    return Value(np.where(result > 0, result, 0.001 * result), magnitude=size + np.abs(bias))


@define("GemmV2", inputs="a b alpha beta c~:float32", outputs="c:float32", attributes={"transpose_a": False, "transpose_b": False})
def general_product(a, b, alpha, beta, c, transpose_a, transpose_b):
    """c = alpha * a * b + beta * c"""
    alpha, beta = float(alpha.reshape(-1)[0]), float(beta.reshape(-1)[0])
    result, size = product(turned(a, transpose_a), turned(b, transpose_b))
    return Value(alpha * result + beta * c, magnitude=abs(alpha) * size + np.abs(beta * c))


@define("Dot", "DotV2", inputs="_ _")
def dot(x, y):
    """y = the sum of x1 * x2"""
    if x.ndim != 1 or y.shape != x.shape:
        raise Mismatch("only vectors of one length have a definition")
    return Value(np.reshape((x * y).sum(), (1,)), magnitude=np.reshape(np.abs(x * y).sum(), (1,)))
