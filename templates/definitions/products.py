"""Matrix products with what comes after them."""

import numpy as np

from activations import gelu_tanh
from core import REQUIRED, Mismatch, Value, define


def product(a, b):
    """A matrix product, and the size of the terms of its sums."""
    if a.shape[-1] != b.shape[-2]:
        raise Mismatch(f"{list(a.shape)} times {list(b.shape)}")
    return np.matmul(a, b), np.matmul(np.abs(a), np.abs(b))


def turned(matrix, is_transposed):
    return np.swapaxes(matrix, -1, -2) if is_transposed else matrix


@define("MatMulV3", "MatMulV2", "MatMul", inputs="x1 x2 bias~?:float", outputs="y",
        attributes={"transpose_x1|adj_x1": False, "transpose_x2|adj_x2": False, "offset_x": 0},
        ignored="enable_hf32 opImplMode enable_uncache fixed_shift_value")
def matrix_product(x1, x2, bias, transpose_x1, transpose_x2, offset_x):
    """y = x1 * x2 + bias"""
    if offset_x != 0:
        raise Mismatch("an offset has no definition")
    result, size = product(turned(x1, transpose_x1), turned(x2, transpose_x2))
    if bias is not None:
        result, size = result + bias, size + np.abs(bias)
    return Value(result, magnitude=size)


@define("MatmulFp32", inputs="x1 x2 bias?", outputs="y", dtypes="float32", attributes={"transpose_x1": False, "transpose_x2": False})
def single_product(x1, x2, bias, transpose_x1, transpose_x2):
    """y = x1 * x2 + bias"""
    return matrix_product(x1, x2, bias, transpose_x1, transpose_x2, 0)


@define("BatchMatMulV3", "BatchMatMulV2", "BatchMatMul", inputs="x1 x2 bias~?:float", outputs="y",
        attributes={"adj_x1": False, "adj_x2": False, "offset_x": 0},
        ignored="enable_hf32 opImplMode enable_uncache fixed_shift_value")
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


@define("GemmV3", inputs="a b c~?:float", outputs="y:float", ignored="enable_hf32",
        attributes={"alpha": 1.0, "beta": 1.0, "transpose_a": False, "transpose_b": False})
def general_product_v3(a, b, c, alpha, beta, transpose_a, transpose_b):
    """y = alpha * a * b + beta * c"""
    result, size = product(turned(a, transpose_a), turned(b, transpose_b))
    result, size = alpha * result, abs(alpha) * size
    if c is not None:
        if c.shape != result.shape:
            raise Mismatch(f"{list(c.shape)} added to {list(result.shape)}")
        result, size = result + beta * c, size + np.abs(beta * c)
    return Value(result, magnitude=size, steps=2)


@define("FusedMatmulGelu", inputs="x weight bias?", outputs="y", dtypes="float16 bfloat16", attributes={"approximate": 1})
def product_with_gelu(x, weight, bias, approximate):
    """y = gelu of x * transposed weight + bias, in its approximation by tanh"""
    if approximate != 1:
        raise Mismatch(f"the approximation {approximate} has no definition")
    if weight.ndim != 2:
        raise Mismatch(f"weights of {list(weight.shape)}")
    result, size = product(np.atleast_2d(x), weight.T)
    if bias is not None:
        result, size = result + bias, size + np.abs(bias)
    return Value(gelu_tanh(result), magnitude=size, steps=2)


@define("TransposeBatchMatMul", inputs="x1 x2", outputs="y", ignored="enable_hf32",
        attributes={"perm_x1": [0, 1, 2], "perm_x2": [0, 1, 2], "perm_y": REQUIRED, "batch_split_factor": 1})
def transposed_product(x1, x2, perm_x1, perm_x2, perm_y, batch_split_factor):
    """y[m, b, n] = x1 * x2, batch by batch, of x1 turned by perm_x1; a part of the batches each with batch_split_factor"""
    if list(perm_x1) not in ([0, 1, 2], [1, 0, 2]) or list(perm_x2) != [0, 1, 2] or list(perm_y) != [1, 0, 2]:
        raise Mismatch(f"the orders {perm_x1}, {perm_x2} and {perm_y} have no definition")
    if x1.ndim != 3 or x2.ndim != 3 or x1.shape[perm_x1[0]] != x2.shape[0]:
        raise Mismatch(f"{list(x1.shape)} times {list(x2.shape)}")
    batches, rows, columns = len(x2), x1.shape[perm_x1[1]], x2.shape[2]
    if batch_split_factor < 1 or batches % batch_split_factor:
        raise Mismatch(f"{batches} batches in {batch_split_factor} parts")
    results = [np.transpose(one, (1, 0, 2)) for one in product(np.transpose(x1, perm_x1), x2)]
    if batch_split_factor > 1:
        parts = (rows, batch_split_factor, batches // batch_split_factor * columns)
        results = [np.transpose(one.reshape(parts), (1, 0, 2)) for one in results]
    return Value(results[0], magnitude=results[1])


@define("ComplexMatMul", inputs="x y bias?", outputs="z", dtypes="complex")
def complex_product(x, y, bias):
    """z = x * y + bias of complex matrices"""
    result, size = product(x, y)
    if bias is not None:
        if bias.shape != result.shape:
            raise Mismatch(f"{list(bias.shape)} added to {list(result.shape)}")
        result, size = result + bias, size + np.abs(bias)
    return Value(result, magnitude=size)


@define("ComplexMatDot", inputs="matx maty", outputs="result", dtypes="complex", ignored="m n")
def complex_products(matx, maty):
    """result = matx * maty, element by element, of complex numbers"""
    if matx.shape != maty.shape:
        raise Mismatch(f"{list(matx.shape)} and {list(maty.shape)}")
    return Value(matx * maty)


@define("AddMatMatElementsPlus", inputs="c a b beta alpha", outputs="c|cOut")
def added_products(c, a, b, beta, alpha):
    """c = beta * c + alpha * a * b, element by element"""
    if beta.size != 1 or alpha.size != 1:
        raise Mismatch("factors are single numbers")
    terms = beta.reshape(-1)[0] * c, alpha.reshape(-1)[0] * a * b
    return Value(terms[0] + terms[1], magnitude=np.abs(terms[0]) + np.abs(terms[1]), steps=3)


@define("AddMatMatElements", inputs="a b c", outputs="c_out|cOut", attributes={"alpha": REQUIRED, "beta": REQUIRED})
def scaled_products(a, b, c, alpha, beta):
    """c_out = beta * c + alpha * a * b, element by element"""
    return added_products(c, a, b, np.float64(beta), np.float64(alpha))


@define("FusedPatchMlp", inputs="x weights biases~:float", outputs="y", attributes={"num_layers": REQUIRED})
def patches_through_layers(x, weights, biases, num_layers):
    """y = x through num_layers layers, each h * w + b, with gelu by tanh between them; w and b lie one after the other"""
    if num_layers <= 0 or biases.size % num_layers:
        raise Mismatch(f"{num_layers} layers with {biases.size} biases")
    hidden = biases.size // num_layers
    counts = [x.shape[-1]] + [hidden] * (num_layers - 1)
    if weights.size != sum(counts) * hidden:
        raise Mismatch(f"{weights.size} weights for layers of {counts} to {hidden}")
    y, size, begin = x, np.abs(x), 0
    for layer, count in enumerate(counts):
        matrix = weights.reshape(-1)[begin:begin + count * hidden].reshape(count, hidden)
        bias = biases.reshape(-1)[layer * hidden:(layer + 1) * hidden]
        begin += count * hidden
        # The slope of gelu is nowhere larger than 1.13.
        y, size = (y if layer == 0 else gelu_tanh(y)), (size if layer == 0 else 1.13 * size)
        y, size = np.matmul(y, matrix) + bias, np.matmul(size, np.abs(matrix)) + np.abs(bias)
    return Value(y, magnitude=size, steps=2 * num_layers)


@define("Dot", "DotV2", inputs="_ _")
def dot(x, y):
    """y = the sum of x1 * x2"""
    if x.ndim != 1 or y.shape != x.shape:
        raise Mismatch("only vectors of one length have a definition")
    return Value(np.reshape((x * y).sum(), (1,)), magnitude=np.reshape(np.abs(x * y).sum(), (1,)))
