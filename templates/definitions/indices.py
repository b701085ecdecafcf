"""Indices: rows and elements that are taken, replaced or added to where they point; embeddings and repetitions."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define, wide
from shapes import checked, copied, stretched


def replaced(target, rows, updates):
    """Rows replaced; of several different updates of one element, which one stays is left open."""
    result = target.copy()
    result[rows] = updates
    other = result[rows]
    differs = (other != updates) & ((other == other) | (updates == updates))
    left_open = np.zeros(target.shape, bool)
    np.logical_or.at(left_open, rows, differs)
    return Value(result, exact=True, unspecified=left_open)


def how_often(rows):
    """Operations on the row that is named most often."""
    return max(1, int(np.bincount(rows).max())) if len(rows) else 1


def added(target, rows, updates):
    """Rows added to, as often as they are named; each time may be a rounding, up or down."""
    result, size = wide(target).copy(), np.abs(wide(target))
    np.add.at(result, rows, wide(updates))
    np.add.at(size, rows, np.abs(wide(updates)))
    return Value(result, magnitude=size if target.dtype.kind == "f" else None, steps=max(1, int(np.sqrt(how_often(rows)))))


def shaped(value, shape):
    """A result in another shape, with all that is known of it."""
    for part in ("array", "magnitude", "unspecified"):
        given = getattr(value, part)
        setattr(value, part, given if given is None else given.reshape(shape))
    return value


def rows_of(array, count):
    return array.reshape(count, -1)


@define("AssignSub", inputs="var value", outputs="var_out|var", dtypes="number", ignored="use_locking")
def assign_difference(var, value):
    """var_out = var - value"""
    if var.shape != value.shape:
        raise Mismatch("shapes that differ")
    return wide(var) - wide(value)


@define("InplaceScatterAdd", inputs="var indices~:index updates", outputs="var", dtypes="number")
def scatter_add_rows(var, indices, updates):
    """var[indices[k]] += updates[k] along the first dimension"""
    if indices.ndim != 1 or updates.shape != indices.shape + var.shape[1:]:
        raise Mismatch("updates must have a row for each index")
    rows = checked(indices, var.shape[0])
    return shaped(added(rows_of(var, var.shape[0]), rows, rows_of(updates, len(rows))), var.shape)


def added_along(var, value, indices, alpha, axis):
    """Slices of value times alpha, added along an axis."""
    if not -var.ndim <= axis < var.ndim or value.ndim != var.ndim:
        raise Mismatch(f"the axis {axis} of {var.ndim}")
    target, updates = np.moveaxis(var, axis, 0), np.moveaxis(value, axis, 0)
    if updates.shape[1:] != target.shape[1:] or indices.shape != (len(updates),):
        raise Mismatch("values that do not fit")
    updates = wide(updates) * (1 if alpha is None else alpha.reshape(-1)[0])
    result = added(rows_of(target, len(target)), checked(indices, len(target)), rows_of(updates, len(updates)))
    result = shaped(result, target.shape)
    result.array = np.moveaxis(result.array, 0, axis)
    result.magnitude = None if result.magnitude is None else np.moveaxis(result.magnitude, 0, axis)
    result.steps += 1
    return result


@define("InplaceIndexAdd", inputs="var indices~:index updates alpha?", outputs="var", dtypes="number", attributes={"axis": REQUIRED})
def index_add(var, indices, updates, alpha, axis):
    """var[indices[k]] += alpha * updates[k] along an axis"""
    return added_along(var, updates, indices, alpha, axis)


@define("InplaceIndexAddWithSorted", inputs="var value sorted_indices~:index pos~:index alpha~?", outputs="var", dtypes="number",
        attributes={"axis": REQUIRED})
def index_add_with_sorted(var, value, indices, pos, alpha, axis):
    """var[sorted_indices[k]] += alpha * value[pos[k]] along an axis"""
    if not -var.ndim <= axis < var.ndim or value.ndim != var.ndim:
        raise Mismatch(f"the axis {axis} of {var.ndim}")
    taken = np.take(value, checked(pos.reshape(-1), value.shape[axis]), axis)
    return added_along(var, taken, indices, alpha, axis)


@define("ScatterAddWithSorted", inputs="var value sorted_index~:index pos~:index?", outputs="var", dtypes="number",
        attributes={"reduction": "add"})
def scatter_with_sorted(var, value, indices, pos, reduction):
    """var[sorted_index[k]] += value[pos[k]] along the first dimension, or = with the reduction none"""
    if var.ndim != 2 or value.ndim != 2 or var.shape[1] != value.shape[1] or indices.ndim != 1:
        raise Mismatch("only rows of a matrix have a definition")
    count = len(indices)
    places = np.arange(count) if pos is None else pos.reshape(-1)
    if len(places) != count:
        raise Mismatch("as many places as indices are needed")
    updates = value[checked(places, len(value))]
    function = {"add": added, "none": replaced}.get(reduction)
    if function is None:
        raise Mismatch(f"the reduction {reduction} has no definition")
    return function(var, checked(indices, len(var)), updates)


@define("IndexPutWithSort", inputs="self linear_index~:index pos_idx~:index values", outputs="self",
        attributes={"slice_size": REQUIRED, "accumulate": False})
def index_put_with_sort(target, linear_index, pos_idx, values, slice_size, accumulate):
    """self[linear_index[k]] = values[pos_idx[k]], or += with accumulate, in rows of slice_size elements"""
    if slice_size <= 0 or target.size % slice_size or values.size % slice_size or linear_index.size != pos_idx.size:
        raise Mismatch(f"rows of {slice_size} elements")
    rows, sources = target.reshape(-1, slice_size), values.reshape(-1, slice_size)
    updates = sources[checked(pos_idx.reshape(-1), len(sources))]
    function = added if accumulate else replaced
    return shaped(function(rows, checked(linear_index.reshape(-1), len(rows)), updates), target.shape)


@define("ScatterList", inputs="var* indice~:index updates mask~:uint8?", outputs="var*", dtypes="number bool",
        attributes={"reduce": "update", "axis": -2})
def scatter_list(tensors, indice, updates, mask, reduce, axis):
    """var[i] = updates[i] from indice[i] on along an axis of updates, of the length indice[i][1] where it has one"""
    axis = axis % updates.ndim if -updates.ndim <= axis < updates.ndim == tensors[0].ndim + 1 else 0
    if reduce != "update" or axis == 0 or len(indice) != len(tensors) or len(updates) != len(tensors):
        raise Mismatch("only updates of every tensor along a dimension of it have a definition")
    results = []
    for place, one in enumerate(tensors):
        result = one.copy()
        if mask is None or mask.reshape(-1)[place]:
            row = indice[place].reshape(-1)
            length = int(row[1]) if indice.ndim == 2 else updates.shape[axis]
            start = int(row[0])
            if not 0 <= start <= start + length <= one.shape[axis - 1] or length > updates.shape[axis]:
                raise Mismatch("an index points beyond the tensor")
            inner = (slice(None),) * (axis - 1)
            if any(a != b for at, (a, b) in enumerate(zip(updates[place].shape, one.shape)) if at != axis - 1):
                raise Mismatch("updates that do not fit")
            result[inner + (slice(start, start + length),)] = updates[place][inner + (slice(length),)]
        results.append(copied(result))
    return (results,)


@define("ScatterReduce", inputs="x index~:index src", outputs="y", attributes={"dim": REQUIRED, "reduce": REQUIRED, "include_self": True})
def scatter_reduce(x, index, src, dim, reduce, include_self):
    """y = x with src at index along a dimension reduced into it: sum, prod, mean, amax, amin; without x where not include_self"""
    if any(a > b for a, b in zip(index.shape, src.shape)) or not index.ndim == src.ndim == x.ndim:
        raise Mismatch("indices of more elements than there are")
    places = list(np.indices(index.shape))
    places[dim] = checked(index, x.shape[dim])
    if any(np.any(place >= size) for place, size in zip(places, x.shape)):
        raise Mismatch("indices beyond the tensor")
    places, updates = tuple(places), src[tuple(slice(size) for size in index.shape)]
    count = np.zeros(x.shape)
    np.add.at(count, places, 1)
    first = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}.get(reduce)
    if first is None:
        raise Mismatch(f"the reduction {reduce} has no definition")
    start, steps = x if include_self else np.where(count > 0, first, x), max(1, int(np.sqrt(count.max(initial=0))))
    if reduce in ("amax", "amin"):
        result, nan = start.copy(), np.isnan(start)
        (np.maximum if reduce == "amax" else np.minimum).at(result, places, updates)
        np.logical_or.at(nan, places, np.isnan(updates))
        return Value(result, exact=True, unspecified=nan)
    result, size = start.copy(), np.abs(start)
    if reduce == "prod":
        np.multiply.at(result, places, updates)
        return Value(result, steps=steps + 1)
    np.add.at(result, places, updates)
    np.add.at(size, places, np.abs(updates))
    if reduce == "mean":
        divisor = np.maximum(count + bool(include_self), 1)
        result, size = result / divisor, size / divisor
    return Value(result, magnitude=size, steps=steps + 1)


@define("IndexFill", inputs="x indices~:index value", outputs="y", dtypes="any", attributes={"dim": REQUIRED})
def index_fill(x, indices, value, dim):
    """y = x with value at indices along a dimension"""
    if value.size != 1 or not -x.ndim <= dim < x.ndim:
        raise Mismatch("only one value along a dimension has a definition")
    result = np.moveaxis(x.copy(), dim, 0)
    result[checked(indices.reshape(-1), len(result), wraps=True)] = value.reshape(-1)[0]
    return copied(np.moveaxis(result, 0, dim))


@define("IndexFillD", inputs="x assist1 assist2", outputs="y", dtypes="number bool", ignored="dim")
def index_fill_by_masks(x, assist1, assist2):
    """y = x where assist1 is 1, assist2 where it is 0"""
    if np.any((assist1 != 0) & (assist1 != 1)) or np.any((assist1 == 1) & (assist2 != 0)) or not x.shape == assist1.shape == assist2.shape:
        raise Mismatch("masks that are none")
    # Where x is not finite, 0 * x is not 0.
    unspecified = (assist1 == 0) & ~np.isfinite(x) if x.dtype.kind == "f" else None
    return Value(np.where(assist1 == 1, x, assist2), exact=True, unspecified=unspecified)


@define("MaskedScatter", inputs="x mask~:bool updates", outputs="y", dtypes="number bool double")
def masked_scatter(x, mask, updates):
    """y = the next element of updates where the mask holds, else x"""
    mask = stretched(mask, x.shape)
    count = int(np.count_nonzero(mask))
    if count > updates.size:
        raise Mismatch(f"{updates.size} updates of {count} elements")
    result = x.copy()
    result[mask] = updates.reshape(-1)[:count]
    return copied(result)


@define("IndexAiCore", inputs="x indexed_sizes~:index indexed_strides~:index indices*~:index", outputs="y", dtypes="any")
def index_first(x, indexed_sizes, _, indices):
    """y = x[indices], an index tensor for each of the first dimensions"""
    marks = [int(one) for one in indexed_sizes.reshape(-1)]
    count = len(indices)
    if marks[:count] != [1] * count or any(marks[count:]) or not 0 < count <= x.ndim:
        raise Mismatch("only indices of the first dimensions have a definition")
    return copied(x[tuple(checked(one, size, wraps=True) for one, size in zip(indices, x.shape))])


@define("LinearIndex", inputs="indices:index shape:index", outputs="index:int32", attributes={"axis": -1, "combine": False})
def linear_index(indices, shape, axis, combine):
    """index = indices, those below 0 counted from the end of an axis"""
    sizes = shape.reshape(-1)
    if combine and sizes.size != 2 or not -sizes.size <= axis < sizes.size:
        raise Mismatch("only indices along one axis have a definition")
    return copied(checked(indices, int(sizes[axis]), wraps=True).reshape(-1 if combine else indices.shape))


@define("LinearIndexV2", inputs="indices_list*:index stride:index value_size:index", outputs="index:index")
def linear_index_of_all(indices, stride, value_size):
    """index = the sum of indices * stride, those below 0 counted from the end"""
    stride, sizes = stride.reshape(-1), value_size.reshape(-1)
    if not len(stride) == len(sizes) == len(indices) or np.any(sizes <= 0):
        raise Mismatch("as many strides and sizes as indices are needed")
    return copied(sum(checked(one, int(size), wraps=True) * int(step) for one, step, size in zip(indices, stride, sizes)))


@define("ExpandIntoJaggedPermute", inputs="permute:int32 input_offsets:int32 output_offsets:int32", outputs="output_permute:int32",
        attributes={"output_size": REQUIRED})
def jagged_permute(permute, input_offsets, output_offsets, output_size):
    """output_permute = for each table in the order of permute the places that its elements come from"""
    starts = input_offsets.reshape(-1)[checked(permute.reshape(-1), input_offsets.size - 1)]
    lengths = np.diff(output_offsets.reshape(-1))
    if len(lengths) != len(starts) or np.any(lengths < 0) or output_offsets.reshape(-1)[0] != 0 or int(lengths.sum()) != output_size:
        raise Mismatch("offsets that do not fit the size")
    parts = [start + np.arange(length) for start, length in zip(starts, lengths)]
    return copied(np.concatenate(parts) if parts else np.zeros(0, np.int64))


@define("Onehot", inputs="x", outputs="z", dtypes="int32", attributes={"depth": REQUIRED})
def one_hot(x, depth):
    """z[..., k] = 1 where x is k, else 0"""
    return copied((checked(x, depth)[..., None] == np.arange(depth)).astype(np.int64))


@define("CoalesceSparse", inputs="unique_len~:index unique_indices~:index indices~:index values", outputs="new_indices:index new_values",
        dtypes="float int32")
def coalesce(unique_len, unique_indices, indices, values):
    """new_values[unique_indices[k]] += values[k], from 0; new_indices[unique_indices[k]] = indices[k]"""
    count, rows = len(unique_len), unique_indices.reshape(-1)
    if indices.ndim != 2 or not len(rows) == len(indices) == len(values):
        raise Mismatch("as many places as values are needed")
    rows = checked(rows, count)
    if np.unique(rows).size != count:
        raise Mismatch("some index has no value")
    new_indices = replaced(np.zeros((count, indices.shape[1]), np.int64), rows, indices)
    zeros = np.zeros((count,) + values.shape[1:], values.dtype)
    return new_indices, added(zeros, rows, values)
