"""Sums, extremes and norms over elements; softmax; losses and their gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define


def sum_of(terms, axis=None, keepdims=False):
    """A sum; its magnitude is that of its terms, which single-precision accumulation rounds one after the other."""
    return np.sum(terms, axis=axis, keepdims=keepdims), np.sum(np.abs(terms), axis=axis, keepdims=keepdims)


def axes_of(axes, x):
    """Axes as NumPy takes them; an empty list stands for all."""
    axes = [int(axis) for axis in np.asarray(axes).reshape(-1)]
    if any(axis < -x.ndim or axis >= x.ndim for axis in axes):
        raise Mismatch(f"axes {axes} of {x.ndim} dimensions")
    return tuple(sorted({axis % x.ndim for axis in axes})) if axes else None


REDUCE = {"inputs": "x|input axes|dim~:index", "attributes": {"keep_dims|keepdims": False, "noop_with_empty_axes": False}}


def reduced(x, axes, keep_dims, noop, function):
    axes = axes_of(axes, x)
    if axes is None and noop:
        raise Mismatch("no axes, and noop_with_empty_axes")
    return function(x, axes, keep_dims)


@define("ReduceSum", dtypes="float", **REDUCE)
def reduce_sum(x, axes, keep_dims, noop_with_empty_axes):
    """y = the sum along axes"""
    total, size = reduced(x, axes, keep_dims, noop_with_empty_axes, sum_of)
    return Value(total, magnitude=size)


@define("ReduceMean", dtypes="float", **REDUCE)
def reduce_mean(x, axes, keep_dims, noop_with_empty_axes):
    """y = the mean along axes"""
    total, size = reduced(x, axes, keep_dims, noop_with_empty_axes, sum_of)
    count = x.size / max(total.size, 1)
    return Value(total / count, magnitude=size / count)


@define("ReduceMax", dtypes="number", **REDUCE)
def reduce_max(x, axes, keep_dims, noop_with_empty_axes):
    """y = the greatest along axes"""
    return extreme(x, axes, keep_dims, noop_with_empty_axes, np.max)


@define("ReduceMin", dtypes="number", **REDUCE)
def reduce_min(x, axes, keep_dims, noop_with_empty_axes):
    """y = the least along axes"""
    return extreme(x, axes, keep_dims, noop_with_empty_axes, np.min)


def extreme(x, axes, keep_dims, noop, function):
    def taken(array, axes, keep_dims):
        return function(array, axis=axes, keepdims=keep_dims)

    def any_nan(array, axes, keep_dims):
        return np.any(np.isnan(array), axis=axes, keepdims=keep_dims)

    unspecified = reduced(x, axes, keep_dims, noop, any_nan) if x.dtype.kind == "f" else None
    return Value(reduced(x, axes, keep_dims, noop, taken), exact=True, unspecified=unspecified)


@define("ReduceAny", dtypes="bool", **REDUCE)
def reduce_any(x, axes, keep_dims, noop_with_empty_axes):
    """y = whether one holds along axes"""
    return reduced(x, axes, keep_dims, noop_with_empty_axes, lambda x, axes, keep: np.any(x, axis=axes, keepdims=keep))


@define("ReduceAll", dtypes="bool", **REDUCE)
def reduce_all(x, axes, keep_dims, noop_with_empty_axes):
    """y = whether all hold along axes"""
    return reduced(x, axes, keep_dims, noop_with_empty_axes, lambda x, axes, keep: np.all(x, axis=axes, keepdims=keep))


def along_one(x, axes, keepdims, function):
    """Along the one axis that an attribute names."""
    axis = axes_of([axes], x)
    return function(x, axis, bool(keepdims))


ALONG = {"attributes": {"axes": REQUIRED, "keepdims": 1}}


@define("ReduceSumV2", **ALONG)
def reduce_sum_v2(x, axes, keepdims):
    """y = the sum along axes"""
    total, size = along_one(x, axes, keepdims, sum_of)
    return Value(total, magnitude=size)


@define("ReduceMeanV2", **ALONG)
def reduce_mean_v2(x, axes, keepdims):
    """y = the mean along axes"""
    total, size = along_one(x, axes, keepdims, sum_of)
    return Value(total / x.shape[axes], magnitude=size / x.shape[axes])


@define("ReduceMaxV2", **ALONG)
def reduce_max_v2(x, axes, keepdims):
    """y = the greatest along axes"""
    return extreme(x, [axes], bool(keepdims), False, np.max)


@define("ReduceMinV2", **ALONG)
def reduce_min_v2(x, axes, keepdims):
    """y = the least along axes"""
    return extreme(x, [axes], bool(keepdims), False, np.min)


@define("ReduceProdV2", attributes={"axes": 0, "keepdims": 1})
def reduce_product_v2(x, axes, keepdims):
    """y = the product along axes"""
    result = np.prod(x, axis=axes, keepdims=bool(keepdims))
    return Value(result, steps=max(1, int(np.sqrt(x.shape[axes]))))


def first_along(x, dimension, keep_dims, function):
    index = np.expand_dims(function(x, axis=dimension), dimension)
    best = np.take_along_axis(x, index, dimension)
    nan = np.any(np.isnan(best)) if x.dtype.kind == "f" else False
    if nan:
        raise Mismatch("where a row has NaN, which index is given is the instruction's choice")
    if not keep_dims:
        index, best = np.squeeze(index, dimension), np.squeeze(best, dimension)
    return Value(index, exact=True), Value(best, exact=True)


@define("ArgMaxWithValue", dtypes="float int16 int32", outputs="_:int32 _", attributes={"dimension": REQUIRED, "keep_dims": False})
def argmax_with_value(x, dimension, keep_dims):
    """indice = where the greatest comes first along a dimension; values = the greatest"""
    return first_along(x, dimension, keep_dims, np.argmax)


@define("ArgMinWithValue", dtypes="float int16 int32", outputs="_:int32 _", attributes={"dimension": REQUIRED, "keep_dims": False})
def argmin_with_value(x, dimension, keep_dims):
    """indice = where the least comes first along a dimension; values = the least"""
    return first_along(x, dimension, keep_dims, np.argmin)


@define("Trace", "TraceV2", dtypes="float", outputs="_~")
def trace(x):
    """y = the sum of the diagonal"""
    total, size = sum_of(np.diagonal(x))
    return Value(np.asarray(total).reshape(1), magnitude=np.asarray(size).reshape(1))


@define("NonFiniteCheck", inputs="tensor_list*", outputs="_:float32")
def non_finite_check(tensors):
    """found_flag = 1 where some element is infinite or NaN, else 0"""
    found = any(not np.all(np.isfinite(one)) for one in tensors)
    return Value(np.full(1, float(found)), exact=True)


def strided(x, n, incx):
    """The elements that a call of the BLAS looks at."""
    if n <= 0 or incx <= 0 or 1 + (n - 1) * incx > x.size:
        raise Mismatch(f"n = {n}, incx = {incx} of {x.size} elements")
    return x.reshape(-1)[: 1 + (n - 1) * incx : incx]


BLAS = {"attributes": {"n": 0, "incx": 1}}


@define("Sasum", dtypes="float32", **BLAS)
def absolute_sum(x, n, incx):
    """result = the sum of |x|"""
    return np.abs(strided(x, n, incx)).sum().reshape(1)


@define("Scasum", dtypes="complex", outputs="_:float32", **BLAS)
def complex_absolute_sum(x, n, incx):
    """result = the sum of |Re x| + |Im x|"""
    part = strided(x, n, incx)
    return (np.abs(part.real) + np.abs(part.imag)).sum().reshape(1)


@define("Snrm2", dtypes="float32", **BLAS)
def euclidean_norm(x, n, incx):
    """result = the square root of the sum of x^2"""
    return np.sqrt((strided(x, n, incx) ** 2).sum()).reshape(1)


@define("Scnrm2", dtypes="complex", outputs="_:float32", **BLAS)
def complex_euclidean_norm(x, n, incx):
    """result = the square root of the sum of |x|^2"""
    return np.sqrt((np.abs(strided(x, n, incx)) ** 2).sum()).reshape(1)


def first_extreme(size, function):
    """Index from 1 of the first extreme element; where another comes as near as rounding, which one is left open."""
    best = function(size)
    near = np.abs(size - size[best]) <= 1e-6 * np.abs(size[best])
    if np.count_nonzero(near) > 1 or np.any(np.isnan(size)):
        raise Mismatch("several elements come equally close")
    return np.asarray([best + 1], np.int64)


@define("Isamax", dtypes="float32", outputs="_:int32", **BLAS)
def index_of_greatest(x, n, incx):
    """result = the index from 1 of the greatest |x|"""
    return first_extreme(np.abs(strided(x, n, incx)), np.argmax)


@define("Isamin", dtypes="float32", outputs="_:int32", **BLAS)
def index_of_least(x, n, incx):
    """result = the index from 1 of the least |x|"""
    return first_extreme(np.abs(strided(x, n, incx)), np.argmin)


def parts_size(x):
    return np.abs(x.real) + np.abs(x.imag)


@define("Icamax", dtypes="complex", outputs="_:int32", **BLAS)
def complex_index_of_greatest(x, n, incx):
    """result = the index from 1 of the greatest |Re x| + |Im x|"""
    return first_extreme(parts_size(strided(x, n, incx)), np.argmax)


@define("Icamin", dtypes="complex", outputs="_:int32", **BLAS)
def complex_index_of_least(x, n, incx):
    """result = the index from 1 of the least |Re x| + |Im x|"""
    return first_extreme(parts_size(strided(x, n, incx)), np.argmin)


# Softmax.


def softmax(x, axis):
    shifted = x - np.max(x, axis=axis, keepdims=True)
    powers = np.exp(shifted)
    return powers / powers.sum(axis=axis, keepdims=True)


@define("SoftmaxV2", "Softmax", attributes={"axes|axis|dim": [-1]}, ignored="half_to_float")
def softmax_of(x, axes):
    """y = exp(x) / the sum of exp(x) along axes"""
    axes = tuple(axes) if isinstance(axes, list) else axes
    return Value(softmax(x, axes), steps=3)


@define("LogSoftmaxV2", "LogSoftmax", attributes={"axes|axis|dim": [-1]})
def log_softmax(x, axes):
    """y = x - the logarithm of the sum of exp(x) along axes"""
    axes = tuple(axes) if isinstance(axes, list) else axes
    shifted = x - np.max(x, axis=axes, keepdims=True)
    result = shifted - np.log(np.exp(shifted).sum(axis=axes, keepdims=True))
    return Value(result, magnitude=np.abs(shifted) + 1.0, steps=2)


@define("SoftmaxGrad", inputs="softmax|y grad_softmax|dy", attributes={"axes|axis|dim": [-1]})
def softmax_gradient(y, dy, axes):
    """dx = y * (dy - the sum of y * dy along axes)"""
    axes = tuple(axes) if isinstance(axes, list) else axes
    total, size = sum_of(y * dy, axis=axes, keepdims=True)
    return Value(y * (dy - total), magnitude=np.abs(y) * (np.abs(dy) + size), steps=2)


@define("ScaledMaskedSoftmaxV2", inputs="x mask:bool?", attributes={"scale": 1.0, "fixed_triu_mask": False})
def scaled_masked_softmax(x, mask, scale, fixed_triu_mask):
    """y = softmax of scale * x along the last dimension, with -10000 where the mask holds"""
    if fixed_triu_mask:
        raise Mismatch("a triangular mask has no definition")
    scaled = x * scale
    if mask is not None:
        scaled = np.where(mask, -10000.0, scaled)
    return Value(softmax(scaled, -1), steps=4)


# Losses.


def reduced_loss(loss, reduction, shape_of_one=(1,)):
    if reduction == "none":
        return Value(loss, steps=2)
    total, size = sum_of(loss)
    if reduction == "mean":
        total, size = total / loss.size, size / loss.size
    elif reduction != "sum":
        raise Mismatch(f"the reduction {reduction} has no definition")
    return Value(np.reshape(total, shape_of_one), magnitude=np.reshape(size, shape_of_one), steps=2)


@define("MseLoss", "MSELossV2", inputs="predict|input|x label|target|y", attributes={"reduction": "mean"})
def mean_square_loss(x, y, reduction):
    """y = (predict - label)^2, reduced"""
    return reduced_loss((x - y) ** 2, reduction)


@define("MseLossGrad", "MseLossGradV1", "MseLossGradV2", inputs="predict label dout", attributes={"reduction": "mean"})
def mean_square_loss_gradient(x, y, dout, reduction):
    """y = 2 * (predict - label) * dout, divided by the number of elements for the mean"""
    if reduction not in ("none", "sum", "mean"):
        raise Mismatch(f"the reduction {reduction} has no definition")
    scale = 2.0 / x.size if reduction == "mean" else 2.0
    return Value(scale * (x - y) * dout, magnitude=scale * (np.abs(x) + np.abs(y)) * np.abs(dout), steps=3)


@define("SmoothL1Loss", inputs="predict label", attributes={"sigma": 1.0})
def smooth_l1_loss(x, y, sigma):
    """loss = d^2 / (2 sigma) below sigma, d - sigma / 2 above, d = |predict - label|"""
    distance = np.abs(x - y)
    if sigma <= 0:
        raise Mismatch("sigma must be positive")
    return Value(np.where(distance < sigma, 0.5 * distance**2 / sigma, distance - 0.5 * sigma), magnitude=distance, steps=3)


@define("KlDivTargetBackward", inputs="grad_output self target", attributes={"reduction": 0, "log_target": False})
def kl_divergence_target_gradient(grad, x, target, reduction, log_target):
    """dt = grad * (log(t) + 1 - x), 0 where t is 0; for logarithms grad * (t + 1 - x) * exp(t); divided by the count for the mean"""
    if log_target:
        result, size = grad * (target + 1.0 - x) * np.exp(target), np.abs(grad) * (np.abs(target) + 1.0 + np.abs(x)) * np.exp(target)
    else:
        log = np.log(target)
        result = np.where(target == 0, 0.0, grad * (log + 1.0 - x))
        size = np.abs(grad) * (np.abs(log) + 1.0 + np.abs(x))
    if reduction == 1:
        result, size = result / x.size, size / x.size
    return Value(result, magnitude=np.where(np.isfinite(size), size, 0.0), steps=3)


@define("KLDivV2", inputs="x target", attributes={"reduction": "mean", "log_target": False})
def kl_divergence(x, target, reduction, log_target):
    """y = target * (log(target) - x), 0 where target is 0, reduced; for logarithms exp(target) * (target - x)"""
    weight, log = (np.exp(target), target) if log_target else (target, np.log(np.where(target > 0, target, 1.0)))
    loss = np.where(weight > 0, weight * (log - x), 0.0)
    size = np.where(weight > 0, weight * (np.abs(log) + np.abs(x)), 0.0)
    if not log_target and np.any(target < 0):
        raise Mismatch("a target is negative")
    if reduction == "none":
        return Value(loss, magnitude=size, steps=2)
    count = {"sum": 1, "mean": loss.size, "batchmean": loss.shape[0] if loss.ndim else 1}.get(reduction)
    if count is None:
        raise Mismatch(f"the reduction {reduction} has no definition")
    return Value(np.reshape(loss.sum() / count, (1,)), magnitude=np.reshape(size.sum() / count, (1,)), steps=2)


@define("CrossEntropyLoss", inputs="input target:index weight:float32?", outputs="loss log_prob zloss lse_for_zloss",
        attributes={"reduction": "mean", "ignore_index": -100, "label_smoothing": 0.0, "lse_square_scale_for_zloss": 0.0,
                    "return_zloss": False})
def cross_entropy(x, target, weight, reduction, ignore_index, label_smoothing, lse_square_scale_for_zloss, return_zloss):
    """loss = -weight[t] * log_prob[t], reduced; log_prob = log of softmax along the last dimension"""
    if label_smoothing or return_zloss or lse_square_scale_for_zloss:
        raise Mismatch("label smoothing and zloss have no definition")
    if x.ndim != 2 or target.shape != x.shape[:1]:
        raise Mismatch("input must have two dimensions, and target its first")
    kept = target != ignore_index
    if np.any(kept & ((target < 0) | (target >= x.shape[1]))):
        raise Mismatch("a target is no class")
    shifted = x - x.max(axis=1, keepdims=True)
    log_prob = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    classes = np.where(kept, target, 0)
    weights = np.where(kept, 1.0 if weight is None else weight[classes], 0.0)
    loss = -weights * log_prob[np.arange(len(classes)), classes]
    if reduction == "mean":
        result = Value(np.reshape(loss.sum() / weights.sum(), (1,)), steps=3)
    else:
        result = reduced_loss(loss, reduction)
    return (result, Value(log_prob, magnitude=np.abs(shifted) + 1.0, steps=2), None, None)


@define("GlobalAvgPool")
def global_average_pool(x):
    """y = the mean over all dimensions but the first two"""
    axes = tuple(range(2, x.ndim))
    if not axes:
        raise Mismatch("fewer than three dimensions")
    total, size = sum_of(x, axis=axes, keepdims=True)
    count = x.size / total.size
    return Value(total / count, magnitude=size / count)
