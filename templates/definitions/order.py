"""Sorting, and the largest or smallest elements of rows."""

import numpy as np

from core import Mismatch, Value, define


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
