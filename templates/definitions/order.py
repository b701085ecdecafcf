"""Sorting, and the largest or smallest elements of rows."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define


def ordered(x, axis, descending):
    """Rows in order, from where their elements are, and which of them are as large as a neighbour; equal ones stay in their order."""
    if x.ndim == 0 or not -x.ndim <= axis < x.ndim:
        raise Mismatch(f"the dimension {axis} of {x.ndim}")
    if x.dtype.kind == "f" and np.any(np.isnan(x)):
        raise Mismatch("where NaN goes is not defined")
    x = np.moveaxis(x, axis, -1)
    places = np.argsort(x[..., ::-1] if descending else x, axis=-1, kind="stable")
    if descending:
        # Turned round, sorted and turned back, equal elements keep their order while larger ones come first.
        places = x.shape[-1] - 1 - places[..., ::-1]
    values = np.take_along_axis(x, places, -1)
    same = values[..., 1:] == values[..., :-1]
    none = np.zeros(values.shape[:-1] + (1,), bool)
    tied = np.concatenate([same, none], -1) | np.concatenate([none, same], -1)
    return [np.moveaxis(one, -1, axis) for one in (values, places, tied)]


@define("Sort", inputs="x", outputs="y1 y2:index", dtypes="number", attributes={"axis": -1, "descending": False, "stable": False},
        ignored="y2_dtype")
def sort(x, axis, descending, stable):
    """y1 = x in ascending or descending order along an axis, y2 = where each was; with stable, equal ones keep their order"""
    values, places, tied = ordered(x, axis, descending)
    return Value(values, exact=True), Value(places, exact=True, unspecified=None if stable else tied)


@define("TopKV2", "TopKV3", "RadixTopK", inputs="x k:index", outputs="values indices:index", dtypes="number",
        attributes={"sorted": True, "dim": -1, "largest": True}, ignored="indices_dtype")
def top_k(x, k, dim, largest, **named):
    """values = the k largest (or smallest) of x along a dimension in order, indices = where they were"""
    # The attribute has the name of a function of Python.
    if not named["sorted"]:
        raise Mismatch("the order without sorted is not defined")
    k = int(k.reshape(-1)[0]) if k.size == 1 else -1
    values, places, tied = ordered(x, dim, largest)
    if not 0 < k <= x.shape[dim]:
        raise Mismatch(f"{k} of {x.shape[dim]} elements")
    first = (slice(None),) * (dim % x.ndim) + (slice(k),)
    return Value(values[first], exact=True), Value(places[first], exact=True, unspecified=tied[first])


@define("SortWithIndex", inputs="x index~:index", outputs="y sorted_index:index", dtypes="number",
        attributes={"axis": -1, "descending": False, "stable": False})
def sort_with_index(x, index, axis, descending, stable):
    """y = x in ascending or descending order along an axis, sorted_index = index in the same order; with stable, equal ones keep theirs"""
    if x.shape != index.shape:
        raise Mismatch("an index for each element is needed")
    values, places, tied = ordered(x, axis, descending)
    taken = np.take_along_axis(index, places, axis)
    return Value(values, exact=True), Value(taken, exact=True, unspecified=None if stable else tied)


@define("SortV2", inputs="x index:uint32 dstIndex:uint32", outputs="y", attributes={"axis": 0, "descending": False})
def sort_rows(x, _, __, axis, descending):
    """y = x in ascending or descending order along an axis"""
    if x.ndim != 2:
        raise Mismatch(f"{x.ndim} dimensions")
    return Value(ordered(x, axis, descending)[0], exact=True)


@define("KthValue", inputs="x", outputs="y indices:index", dtypes="number", attributes={"k": REQUIRED, "dim": -1})
def kth_value(x, k, dim):
    """y = the k-th smallest along a dimension, the first for k = 1; indices = where it was"""
    values, places, tied = ordered(x, dim, False)
    if not 0 < k <= x.shape[dim]:
        raise Mismatch(f"the {k}-th of {x.shape[dim]} elements")
    value, place, twice = (np.take(one, k - 1, dim) for one in (values, places, tied))
    return Value(value, exact=True), Value(place, exact=True, unspecified=twice)


@define("Median", inputs="input", outputs="values indices:index", dtypes="number", attributes={"dim": REQUIRED, "keepdim": False})
def median(x, dim, keepdim):
    """values = the lower of the middle ones along the last dimension, indices = where it comes first"""
    if x.ndim == 0 or dim not in (-1, x.ndim - 1) or not x.shape[-1]:
        raise Mismatch("only the last dimension has a definition")
    values = ordered(x, -1, False)[0][..., (x.shape[-1] - 1) // 2]
    indices = np.argmax(x == values[..., None], axis=-1)
    if keepdim:
        values, indices = values[..., None], indices[..., None]
    return Value(values, exact=True), Value(indices, exact=True)
