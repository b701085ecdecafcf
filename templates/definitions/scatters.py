"""Rows of variables that indices name, added to, multiplied, replaced; segments of rows reduced to one."""

import numpy as np

from core import Mismatch, Value, define, wide
from indices import added, how_often, replaced, rows_of, shaped
from shapes import checked, copied


def subtracted(target, rows, updates):
    return added(target, rows, -wide(updates))


def multiplied(target, rows, updates):
    result = wide(target).copy()
    np.multiply.at(result, rows, wide(updates))
    return Value(result, steps=how_often(rows))


def divided(target, rows, updates):
    result = target.copy()
    np.divide.at(result, rows, updates)
    return Value(result, steps=how_often(rows))


def extreme(function):
    def applied(target, rows, updates):
        result = target.copy()
        function.at(result, rows, updates)
        if target.dtype.kind != "f":
            return Value(result, exact=True)
        nan = np.isnan(target)
        np.logical_or.at(nan, rows, np.isnan(updates))
        return Value(result, exact=True, unspecified=nan)

    return applied


def scattered(function, var, indices, updates):
    """Of updates as many rows as there are indices, for rows of the variable."""
    if var.ndim == 0 or updates.shape != indices.shape + var.shape[1:]:
        raise Mismatch("updates that do not fit the indices")
    rows = checked(indices.reshape(-1), len(var))
    return shaped(function(rows_of(var, len(var)), rows, rows_of(updates, len(rows))), var.shape)


def scattered_nd(function, var, indices, updates):
    """As many elements or slices of the variable as there are rows of indices."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 < depth <= var.ndim or updates.shape != indices.shape[:-1] + var.shape[depth:]:
        raise Mismatch("updates that do not fit what indices point to")
    columns = [checked(indices[..., axis].reshape(-1), var.shape[axis]) for axis in range(depth)]
    rows = np.ravel_multi_index(columns, var.shape[:depth])
    count = int(np.prod(var.shape[:depth]))
    return shaped(function(rows_of(var, count), rows, rows_of(updates, len(rows))), var.shape)


SCATTER = {"inputs": "var indices~:index updates", "outputs": "var", "ignored": "use_locking"}


@define("ScatterUpdate", dtypes="number bool", **SCATTER)
def scatter_update(var, indices, updates):
    """var[indices[k]] = updates[k]"""
    return scattered(replaced, var, indices, updates)


@define("ScatterAdd", dtypes="number", **SCATTER)
def scatter_add(var, indices, updates):
    """var[indices[k]] += updates[k]"""
    return scattered(added, var, indices, updates)


@define("ScatterSub", dtypes="number", **SCATTER)
def scatter_sub(var, indices, updates):
    """var[indices[k]] -= updates[k]"""
    return scattered(subtracted, var, indices, updates)


@define("ScatterMul", dtypes="number", **SCATTER)
def scatter_mul(var, indices, updates):
    """var[indices[k]] *= updates[k]"""
    return scattered(multiplied, var, indices, updates)


@define("ScatterDiv", dtypes="float", **SCATTER)
def scatter_div(var, indices, updates):
    """var[indices[k]] /= updates[k]"""
    return scattered(divided, var, indices, updates)


@define("ScatterMax", dtypes="number", **SCATTER)
def scatter_max(var, indices, updates):
    """var[indices[k]] = the greater of it and updates[k]"""
    return scattered(extreme(np.maximum), var, indices, updates)


@define("ScatterMin", dtypes="number", **SCATTER)
def scatter_min(var, indices, updates):
    """var[indices[k]] = the lesser of it and updates[k]"""
    return scattered(extreme(np.minimum), var, indices, updates)


@define("ScatterNdUpdate", dtypes="number bool", **SCATTER)
def scatter_nd_update(var, indices, updates):
    """var[indices[k]] = updates[k]: indices have a row for each element or slice"""
    return scattered_nd(replaced, var, indices, updates)


@define("ScatterNdAdd", dtypes="number", **SCATTER)
def scatter_nd_add(var, indices, updates):
    """var[indices[k]] += updates[k]: indices have a row for each element or slice"""
    return scattered_nd(added, var, indices, updates)


@define("ScatterNdSub", dtypes="number", **SCATTER)
def scatter_nd_sub(var, indices, updates):
    """var[indices[k]] -= updates[k]: indices have a row for each element or slice"""
    return scattered_nd(subtracted, var, indices, updates)


@define("ScatterNdMax", dtypes="number", **SCATTER)
def scatter_nd_max(var, indices, updates):
    """var[indices[k]] = the greater of it and updates[k]: indices have a row for each element or slice"""
    return scattered_nd(extreme(np.maximum), var, indices, updates)


@define("ScatterNdMin", dtypes="number", **SCATTER)
def scatter_nd_min(var, indices, updates):
    """var[indices[k]] = the lesser of it and updates[k]: indices have a row for each element or slice"""
    return scattered_nd(extreme(np.minimum), var, indices, updates)


@define("TensorScatterUpdate", inputs="x indices~:index updates", outputs="y", dtypes="number bool")
def tensor_scatter_update(x, indices, updates):
    """y = x with updates[k] at indices[k]: indices have a row for each element or slice"""
    return scattered_nd(replaced, x, indices, updates)


@define("ScatterNd", inputs="indices~:index x shape~:index", outputs="y", dtypes="number")
def scatter_nd(indices, x, shape):
    """y[indices[k]] += x[k], from 0 in a shape: indices have a row for each element or slice"""
    zeros = np.zeros([int(one) for one in shape.reshape(-1)], x.dtype)
    return scattered_nd(added, zeros, indices, x)


INPLACE = {"inputs": "x indices~:index v", "outputs": "y", "dtypes": "number"}


def once_each(indices):
    if np.unique(indices).size != indices.size:
        raise Mismatch("several rows go to one")
    return indices


@define("InplaceAdd", **INPLACE)
def inplace_add(x, indices, v):
    """y = x with v added to the rows that indices name"""
    return scattered(added, x, once_each(indices), v)


@define("InplaceSub", **INPLACE)
def inplace_sub(x, indices, v):
    """y = x with v subtracted from the rows that indices name"""
    return scattered(subtracted, x, once_each(indices), v)


@define("InplaceUpdate", **INPLACE)
def inplace_update(x, indices, v):
    """y = x with v in the rows that indices name"""
    return scattered(replaced, x, indices, v)


def segments(x, ids, count, first, function):
    """Rows of x reduced to one for each segment; those of segments below 0 are dropped. With how many each has."""
    if ids.shape != x.shape[: ids.ndim] or np.any(ids >= count):
        raise Mismatch("segments that do not fit")
    shape, ids = (count,) + x.shape[ids.ndim :], ids.reshape(-1)
    kept = ids >= 0
    start = rows_of(np.full(shape, first, x.dtype), count)
    result = function(start, ids[kept], rows_of(x, len(ids))[kept])
    return shaped(result, shape), np.bincount(ids[kept], minlength=count)


@define("SegmentSum", inputs="x segment_ids~:index", outputs="y", dtypes="number")
def segment_sum(x, ids):
    """y[s] = the sum of the rows of x of segment s; segments rise"""
    if ids.ndim != 1 or not ids.size or np.any(np.diff(ids) < 0) or ids[0] < 0:
        raise Mismatch("segments that do not rise")
    return segments(x, ids, int(ids[-1]) + 1, 0, added)[0]


UNSORTED = {"inputs": "x segment_ids~:index num_segments~:index", "outputs": "y", "dtypes": "number"}


@define("UnsortedSegmentSum", ignored="is_preprocessed check_ids", **UNSORTED)
def unsorted_segment_sum(x, ids, count):
    """y[s] = the sum of the rows of x of segment s"""
    return segments(x, ids, int(count.reshape(-1)[0]), 0, added)[0]


@define("UnsortedSegmentProd", **UNSORTED)
def unsorted_segment_product(x, ids, count):
    """y[s] = the product of the rows of x of segment s"""
    return segments(x, ids, int(count.reshape(-1)[0]), 1, multiplied)[0]


def segment_extreme(x, ids, count, function, lowest):
    """What a segment without rows has is left open."""
    if x.dtype == np.uint64:
        raise Mismatch("it does not hold for uint64")
    first = lowest * np.inf if x.dtype.kind == "f" else lowest * 2**62
    result, sizes = segments(x, ids, int(count.reshape(-1)[0]), first, extreme(function))
    empty = (sizes == 0).reshape((-1,) + (1,) * (result.array.ndim - 1))
    result.unspecified = np.broadcast_to(empty, result.array.shape) | (False if result.unspecified is None else result.unspecified)
    return result


@define("UnsortedSegmentMax", **UNSORTED)
def unsorted_segment_max(x, ids, count):
    """y[s] = the greatest of the rows of x of segment s"""
    return segment_extreme(x, ids, count, np.maximum, -1)


@define("UnsortedSegmentMin", **UNSORTED)
def unsorted_segment_min(x, ids, count):
    """y[s] = the least of the rows of x of segment s"""
    return segment_extreme(x, ids, count, np.minimum, 1)


@define("GatherNd", inputs="x indices~:index", outputs="y", dtypes="any", ignored="negative_index_support")
def gather_nd(x, indices):
    """y[k] = x[indices[k]]: indices have a row for each element or slice"""
    depth = indices.shape[-1] if indices.ndim else 0
    if not 0 < depth <= x.ndim:
        raise Mismatch(f"rows of {depth} indices for {x.ndim} dimensions")
    return copied(x[tuple(checked(indices[..., axis], x.shape[axis]) for axis in range(depth))])


@define("Assign", inputs="ref value", outputs="ref", dtypes="any")
def assign(ref, value):
    """ref = value"""
    if ref.shape != value.shape:
        raise Mismatch("shapes that differ")
    return copied(value)


@define("AssignAdd", inputs="ref value", outputs="ref", dtypes="number", ignored="use_locking")
def assign_sum(ref, value):
    """ref = ref + value"""
    if ref.shape != value.shape:
        raise Mismatch("shapes that differ")
    return wide(ref) + wide(value)
