"""Along axes: products, logarithms of sums, moments, running sums, places of extremes, places between boundaries."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define, wide
from order import ordered
from reductions import axes_of, sum_of


def some_axes(axes, x):
    axes = axes_of(axes, x)
    if axes is None:
        raise Mismatch("no axes")
    return axes


REDUCE = {"inputs": "x axes~:index", "outputs": "y", "attributes": {"keep_dims": False}, "ignored": "noop_with_empty_axes"}


@define("ReduceProd", dtypes="number", **REDUCE)
def reduce_product(x, axes, keep_dims):
    """y = the product along axes"""
    axes = some_axes(axes, x)
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return Value(np.prod(wide(x), axis=axes, keepdims=keep_dims), steps=max(1, int(np.sqrt(count))))


@define("ReduceLogSum", **REDUCE)
def reduce_log_sum(x, axes, keep_dims):
    """y = the logarithm of the sum along axes"""
    total, size = sum_of(x, some_axes(axes, x), keep_dims)
    relative = size / np.abs(total)
    return Value(np.log(total), magnitude=np.where(np.isfinite(relative), relative, 0.0), steps=2)


@define("ReduceLogSumExp", **REDUCE)
def reduce_log_sum_exp(x, axes, keep_dims):
    """y = the logarithm of the sum of exp(x) along axes"""
    axes = some_axes(axes, x)
    if not np.all(np.isfinite(x)):
        raise Mismatch("only finite elements have a definition")
    most = np.max(x, axis=axes, keepdims=True)
    result = most + np.log(np.exp(x - most).sum(axis=axes, keepdims=True))
    result, most = (one if keep_dims else np.squeeze(one, axes) for one in (result, most))
    return Value(result, magnitude=np.abs(most) + 1.0, steps=2)


@define("EuclideanNorm", **REDUCE)
def euclidean_norm(x, axes, keep_dims):
    """y = the square root of the sum of x^2 along axes"""
    return Value(np.sqrt((x * x).sum(axis=some_axes(axes, x), keepdims=keep_dims)), steps=2)


@define("SquareSumV1", inputs="x", outputs="y", attributes={"axis": REQUIRED, "keep_dims": False}, ignored="noop_with_empty_axes")
def square_sum(x, axis, keep_dims):
    """y = the sum of x^2 along axes"""
    return Value((x * x).sum(axis=some_axes(axis, x), keepdims=keep_dims), steps=2)


@define("SquareSumAll", inputs="x1 x2", outputs="y1 y2", dtypes="float32")
def square_sums(x1, x2):
    """y1 and y2 = the sums of the squares of both"""
    return tuple(Value(np.asarray((one * one).sum()).reshape(1), steps=2) for one in (x1, x2))


@define("ReduceNansum", **REDUCE)
def reduce_sum_of_numbers(x, axes, keep_dims):
    """y = the sum along axes of what is not NaN"""
    total, size = sum_of(np.where(np.isnan(x), 0.0, x), some_axes(axes, x), keep_dims)
    return Value(total, magnitude=size)


def moments(x, dim, correction, keepdim):
    """Variance and mean along dimensions, with the mean of the sizes."""
    axes = axes_of(dim, x)
    count = x.size if axes is None else int(np.prod([x.shape[axis] for axis in axes]))
    if count <= correction:
        raise Mismatch(f"{count} elements and a correction of {correction}")
    mean, size = np.mean(x, axis=axes, keepdims=True), np.mean(np.abs(x), axis=axes, keepdims=True)
    variance = ((x - mean) ** 2).sum(axis=axes, keepdims=True) / (count - correction)
    parts = (variance, mean, size)
    return parts if keepdim else [np.squeeze(one, axes) for one in parts]


MOMENTS = {"inputs": "x", "attributes": {"dim": REQUIRED, "correction": REQUIRED, "keepdim": False, "is_mean_out": True}}


@define("ReduceVar", outputs="var mean", **MOMENTS)
def reduce_variance(x, dim, correction, keepdim, is_mean_out):
    """var = the sum of (x - mean)^2 / (n - correction) along dim; mean = the mean"""
    variance, mean, size = moments(x, dim, correction, keepdim)
    return Value(variance, magnitude=np.sqrt(variance) * size, steps=3), Value(mean, magnitude=size) if is_mean_out else None


@define("ReduceStdV2", outputs="std mean", **MOMENTS)
def reduce_deviation(x, dim, correction, keepdim, is_mean_out):
    """std = the square root of the sum of (x - mean)^2 / (n - correction) along dim; mean = the mean"""
    variance, mean, size = moments(x, dim, correction, keepdim)
    return Value(np.sqrt(variance), magnitude=size, steps=3), Value(mean, magnitude=size) if is_mean_out else None


@define("BiasAddGrad", inputs="x", outputs="y", attributes={"data_format": "NHWC"})
def bias_gradient(x, data_format):
    """y = the sum of x over all dimensions but the channel's"""
    channel = {"NHWC": x.ndim - 1, "NCHW": 1}.get(data_format)
    if channel is None or x.ndim < 2:
        raise Mismatch(f"{x.ndim} dimensions in the data format {data_format}")
    total, size = sum_of(x, tuple(axis for axis in range(x.ndim) if axis != channel))
    return Value(total, magnitude=size)


@define("Cumsum", inputs="x axis~:index", outputs="y", dtypes="number", attributes={"exclusive": False, "reverse": False})
def running_sum(x, axis, exclusive, reverse):
    """y[i] = the sum of x up to i along an axis, without x[i] where exclusive, from the end where reverse"""
    axis = int(axis.reshape(-1)[0])
    if not -x.ndim <= axis < x.ndim:
        raise Mismatch(f"the axis {axis} of {x.ndim}")

    def summed(terms):
        terms = np.moveaxis(terms, axis, 0)
        terms = terms[::-1] if reverse else terms
        sums = np.cumsum(terms, axis=0)
        if exclusive:
            sums = np.concatenate([np.zeros_like(sums[:1]), sums[:-1]])
        return np.moveaxis(sums[::-1] if reverse else sums, 0, axis)

    steps = max(1, int(np.sqrt(x.shape[axis])))
    return Value(summed(wide(x)), magnitude=summed(np.abs(x)) if x.dtype.kind == "f" else None, steps=steps)


def place_of(x, dimension, descending):
    """Where the first in order is; where it is there twice, this is left open."""
    axis = int(dimension.reshape(-1)[0])
    _, places, tied = ordered(x, axis, descending)
    return Value(np.take(places, 0, axis), exact=True, unspecified=np.take(tied, 0, axis))


PLACE = {"inputs": "x dimension~:index", "outputs": "y:index", "dtypes": "number", "ignored": "dtype"}


@define("ArgMaxV2", **PLACE)
def place_of_greatest(x, dimension):
    """y = where the greatest is along a dimension"""
    return place_of(x, dimension, True)


@define("ArgMin", **PLACE)
def place_of_least(x, dimension):
    """y = where the least is along a dimension"""
    return place_of(x, dimension, False)


@define("BucketizeV2", inputs="x boundaries", outputs="y:index", dtypes="number", attributes={"right": False}, ignored="out_int32")
def bucketise(x, boundaries, right):
    """y = how many boundaries are below x, or not above it where right"""
    if boundaries.ndim != 1 or np.any(np.diff(boundaries) < 0) or x.dtype.kind == "f" and np.any(np.isnan(x)):
        raise Mismatch("boundaries that do not rise, or NaN")
    return Value(np.searchsorted(boundaries, x, side="right" if right else "left"), exact=True)
