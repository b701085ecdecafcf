"""Square matrices: Cholesky factors and determinants. How far results may be off depends on how near to singular a matrix is."""

import numpy as np

from core import Mismatch, Value, define

# What a single number is rounded to, in proportion.
ROUNDING = 2.0**-24
# Of a matrix with a larger condition single precision knows little.
LARGEST_CONDITION = 1e5


def square(x):
    """Refuses what is no square matrix."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise Mismatch(f"{list(x.shape)} are no square matrices")
    if not np.all(np.isfinite(x)):
        raise Mismatch("only finite values have a definition")


def condition(x):
    values = np.linalg.svd(x, compute_uv=False)
    return np.where(values[..., -1] > 0, values[..., 0] / values[..., -1], np.inf)


def rounding_steps(x, call):
    """Steps that stand for the rounding of an elimination, which grows with the condition."""
    relative = max(call["outputs"][0]["tolerance"]["relative"], ROUNDING)
    return 1.0 + condition(x) * ROUNDING / relative


@define("Cholesky", inputs="self", outputs="out", dtypes="float32", attributes={"upper": False})
def cholesky(x, upper, call):
    """out = the lower triangle L with L * L^T = self and a positive diagonal, or L^T with upper"""
    square(x)
    if not np.array_equal(x, np.swapaxes(x, -1, -2)):
        raise Mismatch("the matrix is not symmetric")
    if np.any(np.linalg.eigvalsh(x) <= 0) or np.any(condition(x) > LARGEST_CONDITION):
        raise Mismatch("the matrix is not positive definite, or barely so")
    lower = np.linalg.cholesky(x)
    # Elements of a row are at most as large as the root of the diagonal.
    size = np.sqrt(np.diagonal(x, axis1=-2, axis2=-1))[..., None] * rounding_steps(x, call)[..., None, None]
    size = np.where(np.tril(np.ones(x.shape[-2:])) > 0, size, 0.0)
    if upper:
        lower, size = np.swapaxes(lower, -1, -2), np.swapaxes(size, -1, -2)
    return Value(lower, magnitude=size)


def determinant(x, call):
    """Sign and logarithm of the determinant, how large the terms of the logarithm are, and where nothing is known for sure."""
    square(x)
    sign, logarithm = np.linalg.slogdet(x)
    # A row or column of zeros makes zero of it, however it is computed; other singular matrices are so by a rounding.
    zero = np.any(np.all(x == 0, axis=-1), axis=-1) | np.any(np.all(x == 0, axis=-2), axis=-1)
    sign, logarithm = np.where(zero, 0.0, sign), np.where(zero, -np.inf, logarithm)
    values = np.linalg.svd(x, compute_uv=False)
    steps = np.where(zero, 1.0, rounding_steps(x, call))
    terms = np.where(zero, 1.0, np.abs(np.log(np.maximum(values, np.finfo(float).tiny))).sum(axis=-1))
    return sign, logarithm, terms + steps, ~zero & (condition(x) > LARGEST_CONDITION)


@define("Slogdet", inputs="self", outputs="signOut logOut", dtypes="float32")
def sign_and_log_of_determinant(x, call):
    """signOut = the sign of the determinant, logOut = the logarithm of its size"""
    sign, logarithm, size, unknown = determinant(x, call)
    return Value(sign, exact=True, unspecified=unknown), Value(logarithm, magnitude=size, unspecified=unknown)


@define("Logdet", inputs="self", outputs="out", dtypes="float32")
def log_of_determinant(x, call):
    """out = the logarithm of the determinant, NaN of a negative one"""
    sign, logarithm, size, unknown = determinant(x, call)
    return Value(np.where(sign < 0, np.nan, logarithm), magnitude=size, unspecified=unknown)
