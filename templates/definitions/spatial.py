"""What definitions of images and pools share: where dimensions of space lie, and weights along each of them."""

import numpy as np

from core import Mismatch

FORMATS = {"NCL": "first", "NCHW": "first", "NCDHW": "first", "NHWC": "last", "NDHWC": "last"}


def shape_of_result(call):
    shape = call["outputs"][0]["shape"]
    if shape is None:
        raise Mismatch("the output's shape is not known")
    return [int(size) for size in shape]


def axes_of_space(x, count, call, sizes=None, data_format=None, otherwise=("first",), batched=True):
    """Dimensions of space, as many as count, and the output's sizes along them.

    The input's format says whether channels come first or last, else the attribute, else the shapes do: those of input and output are
    alike in all other dimensions. `otherwise`: what is thought of where neither format nor attribute says it.
    """
    formats = {place for place in (FORMATS.get(call["inputs"][0]["instances"][0].get("format", "ND")), FORMATS.get(data_format)) if place}
    if len(formats) > 1:
        raise Mismatch(f"the data format {data_format} of an input of another")
    shape = shape_of_result(call)
    found = []
    for place in formats or otherwise:
        if x.ndim != count + 2 and (batched or place == "last" or x.ndim != count + 1):
            continue
        axes = tuple(range(x.ndim - count, x.ndim) if place == "first" else range(1, count + 1))
        if len(shape) != x.ndim or any(shape[axis] != size for axis, size in enumerate(x.shape) if axis not in axes):
            continue
        ends = tuple(shape[axis] for axis in axes)
        if sizes is None or ends == tuple(sizes):
            found.append((axes, ends))
    if len(found) != 1:
        why = "do not go together" if not found else "do not tell where channels are"
        raise Mismatch(f"input {list(x.shape)} and output {shape} {why}")
    return found[0]


def must_be_finite(*arrays):
    """Weights of zero would make a NaN of what is not finite."""
    if not all(np.all(np.isfinite(array)) for array in arrays):
        raise Mismatch("only finite values have a definition")


def along(x, axes, matrices):
    """x with a matrix (outputs, inputs) applied along each of the axes."""
    for axis, matrix in zip(axes, matrices):
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def across(vectors, axes, rank):
    """Vectors along axes, each in the shape that it is broadcast from."""
    return [np.reshape(vector, [-1 if place == axis else 1 for place in range(rank)]) for axis, vector in zip(axes, vectors)]
