"""What moves elements and computes nothing: copies, triangles, diagonals, pads, transposes, gathers and scatters, series."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define, wide


def copied(array):
    return Value(array, exact=True)


def stretched(array, shape):
    """An array in a larger shape."""
    try:
        return np.broadcast_to(array, shape)
    except ValueError as error:
        raise Mismatch(f"{list(array.shape)} does not fit {list(shape)}") from error


@define("Tril", dtypes="any", attributes={"diagonal": 0})
def lower_triangle(x, diagonal):
    """y = x on and below a diagonal, else 0"""
    return copied(np.tril(x, diagonal))


@define("Triu", dtypes="any", attributes={"diagonal": 0})
def upper_triangle(x, diagonal):
    """y = x on and above a diagonal, else 0"""
    return copied(np.triu(x, diagonal))


@define("DiagFlat", dtypes="any", attributes={"diagonal": 0})
def diagonal_matrix(x, diagonal):
    """y = the matrix with x on a diagonal"""
    return copied(np.diagflat(x, diagonal))


@define("DiagV2", dtypes="any", attributes={"diagonal": 0})
def diagonal(x, diagonal):
    """y = a diagonal of a matrix, or the matrix with a vector on a diagonal"""
    if x.ndim not in (1, 2):
        raise Mismatch(f"{x.ndim} dimensions")
    return copied(np.diag(x, diagonal))


@define("Transpose", "TransposeV2", "Transposev", inputs="x perm:index", dtypes="any")
def transpose(x, perm):
    """y = x with dimensions in the order of perm"""
    order = [int(axis) % x.ndim for axis in perm.reshape(-1)]
    if sorted(order) != list(range(x.ndim)):
        raise Mismatch(f"perm {order} of {x.ndim} dimensions")
    return copied(np.transpose(x, order))


@define("Reshape", inputs="x shape~:index", dtypes="any", ignored="axis num_axes")
def reshape(x, _, call):
    """y = x in another shape"""
    shape = call["outputs"][0]["shape"]
    return copied(x if shape is None else x.reshape(shape))


@define("TensorMove", "Identity", "Contiguous", dtypes="any")
def move(x):
    """y = x"""
    return copied(x)


@define("Scopy", "Ccopy", inputs="x", dtypes="float32 complex", attributes={"n": 0, "incx": 1, "incy": 1})
def blas_copy(x, n, incx, incy):
    """y = x, n elements"""
    if incx != 1 or incy != 1 or n != x.size:
        raise Mismatch("strides leave elements of y as they were")
    return copied(x)


@define("Tile", inputs="x multiples:index", dtypes="any")
def tile(x, multiples):
    """y = x repeated along every dimension"""
    return copied(np.tile(x, [int(one) for one in multiples.reshape(-1)]))


@define("BroadcastTo", "Expand", inputs="x shape:index", dtypes="any")
def broadcast(x, shape):
    """y = x in a larger shape"""
    return copied(np.broadcast_to(x, [int(one) for one in shape.reshape(-1)]))


@define("ConcatDV2", "ConcatD", inputs="x*", dtypes="any", attributes={"concat_dim": REQUIRED}, ignored="N")
def concatenate(tensors, concat_dim):
    """y = all tensors one after the other along a dimension"""
    return copied(np.concatenate(tensors, concat_dim))


@define("PackV2", inputs="x y", dtypes="any", attributes={"d": 0})
def stack(x, y, d):
    """z = both tensors along a new dimension d"""
    return copied(np.stack([x, y], d))


@define("Pack", inputs="x*", dtypes="any", attributes={"axis": 0}, ignored="N")
def stack_list(tensors, axis):
    """y = all tensors along a new dimension"""
    return copied(np.stack(tensors, axis))


@define("ConcatV2", inputs="x1 x2", dtypes="any", attributes={"d": 0})
def concatenate_two(x1, x2, d):
    """y = both tensors one after the other along the dimension d"""
    return copied(np.concatenate([x1, x2], d))


@define("Roll", inputs="x", dtypes="any", attributes={"shifts": REQUIRED, "dims": []})
def roll(x, shifts, dims):
    """y = x moved round by shifts along dims, or as one row without dims"""
    if not dims:
        if len(shifts) != 1:
            raise Mismatch(f"{len(shifts)} shifts of one row")
        return copied(np.roll(x, shifts[0]))
    return copied(np.roll(x, shifts, axis=tuple(dims)))


@define("Slice", "SliceV3", inputs="x offsets|begin:index size:index", dtypes="any")
def slice_of(x, begin, size):
    """y = size elements of x from begin on, to the end where size is -1"""
    begin, size = begin.reshape(-1), size.reshape(-1)
    if len(begin) != x.ndim or len(size) != x.ndim:
        raise Mismatch("begin and size must have an element for each dimension")
    ends = [int(start + count) if count >= 0 else full for start, count, full in zip(begin, size, x.shape)]
    if np.any(begin < 0) or any(end > full for end, full in zip(ends, x.shape)):
        raise Mismatch("the slice reaches beyond the tensor")
    return copied(x[tuple(slice(int(start), end) for start, end in zip(begin, ends))])


@define("DiagPart", dtypes="any")
def diagonal_part(x):
    """y = the diagonal"""
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise Mismatch("only the diagonal of a square matrix has a definition")
    return copied(np.diagonal(x))


@define("BiasAdd", inputs="x bias", dtypes="float int32", attributes={"data_format": "NHWC"})
def add_bias(x, bias, data_format):
    """y = x + bias of the channel"""
    channel = {"NHWC": -1, "NDHWC": -1, "ND": -1, "NCHW": 1, "NCDHW": 1}.get(data_format)
    if channel is None or bias.size != x.shape[channel]:
        raise Mismatch(f"{bias.size} biases in the data format {data_format}")
    shape = [1] * x.ndim
    shape[channel] = -1
    return wide(x) + wide(bias.reshape(shape))


@define("CircularPadGrad", inputs="x paddings:index", outputs="y")
def circular_pad_gradient(dy, paddings):
    """y = the sum of dy over every place that an element was copied to"""
    return pad_gradient(dy, widths(dy, paddings), "wrap")


@define("PadV4Grad", inputs="x paddings:index", outputs="y", attributes={"mode": "reflect", "paddings_contiguous": True})
def reflection_pad_gradient(dy, paddings, mode, paddings_contiguous):
    """y = the sum of dy over every place that an element was mirrored to; paddings begin with the first dimension"""
    if mode != "reflect" or not paddings_contiguous or paddings.size != 2 * dy.ndim:
        raise Mismatch("only contiguous paddings of every dimension, mirrored, have a definition")
    pairs = [(int(before), int(after)) for before, after in paddings.reshape(-1, 2)]
    return pad_gradient(dy, pairs, "reflect")


@define("PadV3GradReplicate", inputs="x paddings:index", outputs="y", attributes={"mode": "edge", "paddings_contiguous": True})
def edge_pad_gradient(dy, paddings, mode, paddings_contiguous):
    """y = the sum of dy over every place that an element was repeated at; paddings begin with the first dimension"""
    if mode != "edge" or not paddings_contiguous or paddings.size != 2 * dy.ndim:
        raise Mismatch("only contiguous paddings of every dimension, repeated, have a definition")
    pairs = [(int(before), int(after)) for before, after in paddings.reshape(-1, 2)]
    return pad_gradient(dy, pairs, "edge")


def pad_gradient(dy, pairs, mode):
    shape = [size - before - after for size, (before, after) in zip(dy.shape, pairs)]
    if any(size <= 0 for size in shape) or any(min(pair) < 0 for pair in pairs):
        raise Mismatch("paddings that leave nothing, or negative ones")
    limit = [size - (mode == "reflect") for size in shape]
    if mode != "edge" and any(max(pair) > most for pair, most in zip(pairs, limit)):
        raise Mismatch("paddings that go round more than once")
    places = np.pad(np.arange(int(np.prod(shape))).reshape(shape), pairs, mode=mode).reshape(-1)
    total, size = np.zeros(int(np.prod(shape))), np.zeros(int(np.prod(shape)))
    np.add.at(total, places, dy.reshape(-1))
    np.add.at(size, places, np.abs(dy).reshape(-1))
    return Value(total.reshape(shape), magnitude=size.reshape(shape))


@define("Fill", inputs="dims:index value~", dtypes="any", outputs="y~")
def fill(dims, value):
    """y = value in the shape of dims"""
    return copied(np.full([int(one) for one in dims.reshape(-1)], only(value, "value")))


def only(number, what):
    """The element of an input that is one number."""
    elements = np.asarray(number).reshape(-1)
    if len(elements) != 1:
        raise Mismatch(f"{what} of {len(elements)} elements")
    return elements[0]


@define("Arange", "Range", inputs="start|from end|limit|to step|delta", dtypes="number")
def arange(start, end, step):
    """out[i] = start + i * step, below end"""
    start, end, step = only(start, "start"), only(end, "end"), only(step, "step")
    if step == 0:
        raise Mismatch("step is 0")
    count = int(np.ceil((end - start) / step)) if start.dtype.kind == "f" else -((start - end) // step)
    series = start + np.arange(max(int(count), 0)) * step
    return Value(series, magnitude=np.full(series.shape, abs(float(start))), steps=2)


@define("LinSpace", "LinSpaceD", inputs="start stop|end num~:index", outputs="output|z")
def linspace(start, stop, num):
    """output[i] = start + i * (stop - start) / (num - 1)"""
    start, stop = float(only(start, "start")), float(only(stop, "stop"))
    series = np.linspace(start, stop, int(only(num, "num")))
    return Value(series, magnitude=np.full(series.shape, abs(start) + abs(stop)), steps=2)


@define("Eye", "EyeFp64", inputs="y", outputs="y", dtypes="number double",
        attributes={"num_rows": REQUIRED, "num_columns": 0, "batch_shape": [], "dtype": 0})
def eye(y, num_rows, num_columns, batch_shape, dtype):
    """y = 1 on the diagonal, else 0"""
    matrix = np.eye(num_rows, num_columns or num_rows)
    batch = [size for size in batch_shape or [] if size > 0]
    return copied(np.broadcast_to(matrix, batch + list(matrix.shape)))


def checked(indices, size, wraps=False):
    """Indices that are all in range."""
    indices = np.asarray(indices)
    lowest = -size if wraps else 0
    if np.any((indices < lowest) | (indices >= size)):
        raise Mismatch(f"an index is not below {size}")
    return np.where(indices < 0, indices + size, indices)


def must_differ(places, what):
    if len(np.unique(places)) != len(places):
        raise Mismatch(f"{what} that are the same")


@define("Gather", inputs="x1|x indices:index", dtypes="any", attributes={"batch_dims": 0},
        ignored="validate_indices is_preprocessed negative_index_support")
def gather(x, indices, batch_dims):
    """y = x[indices] along the first dimension"""
    if batch_dims != 0:
        raise Mismatch("batch dimensions have no definition")
    return copied(np.take(x, checked(indices, x.shape[0]), axis=0))


@define("GatherV2", "GatherV3", inputs="x indices:index axis:index", dtypes="any",
        attributes={"batchDims|batch_dims": 0}, ignored="negativeIndexSupport is_preprocessed negative_index_support")
def gather_along(x, indices, axis, batchDims):
    """y = x[indices] along an axis"""
    if batchDims != 0:
        raise Mismatch("batch dimensions have no definition")
    axis = int(np.asarray(axis).reshape(-1)[0])
    return copied(np.take(x, checked(indices, x.shape[axis]), axis=axis))


@define("GatherElements", "GatherElementsV2", "GatherElementsV3", inputs="x index|dim_index:index", dtypes="any", attributes={"dim": 0})
def gather_elements(x, index, dim):
    """y = x at index along a dimension, element by element"""
    if index.ndim != x.ndim or not -x.ndim <= dim < x.ndim:
        raise Mismatch(f"the dimension {dim} of {x.ndim}")
    # There may be fewer indices than elements along the other dimensions as well.
    inner = [slice(size) for size in index.shape]
    inner[dim] = slice(None)
    if any(index.shape[axis] > size for axis, size in enumerate(x.shape) if axis != dim % x.ndim):
        raise Mismatch("more indices than elements along another dimension")
    return copied(np.take_along_axis(x[tuple(inner)], checked(index, x.shape[dim], wraps=True), axis=dim))


@define("ScatterElements", inputs="data indices:index updates", outputs="y", dtypes="number bool",
        attributes={"axis": 0, "reduction": "none"})
@define("ScatterElementsV2", inputs="var indices:index updates", outputs="var", dtypes="number bool",
        attributes={"axis": 0, "reduction": "none"})
def scatter_elements(var, indices, updates, axis, reduction):
    """var = updates at indices along an axis, element by element, added with the reduction add"""
    indices = checked(indices, var.shape[axis], wraps=True)
    if indices.shape != updates.shape:
        raise Mismatch("indices and updates have different shapes")
    places = list(np.indices(indices.shape))
    places[axis] = indices
    if reduction == "none":
        flat = np.ravel_multi_index(places, var.shape)
        if np.unique(flat).size != flat.size:
            raise Mismatch("several updates go to one element")
        result = var.copy()
        result[tuple(places)] = updates
        return copied(result)
    if reduction != "add":
        raise Mismatch(f"the reduction {reduction} has no definition")
    result, size = wide(var).copy(), np.abs(wide(var))
    np.add.at(result, tuple(places), wide(updates))
    np.add.at(size, tuple(places), np.abs(wide(updates)))
    return Value(result, magnitude=size if var.dtype.kind == "f" else None)


@define("CircularPad", inputs="x paddings:index", dtypes="any")
def circular_pad(x, paddings):
    """y = x continued periodically at the ends of its last dimensions; paddings begin with the last one"""
    return copied(np.pad(x, widths(x, paddings), mode="wrap"))


def widths(x, paddings):
    """Elements before and after every dimension."""
    pairs = paddings.reshape(-1, 2)
    if len(pairs) > x.ndim or np.any(pairs < 0):
        raise Mismatch("paddings of more dimensions, or negative ones")
    result = [(0, 0)] * x.ndim
    for place, (before, after) in enumerate(pairs):
        result[x.ndim - 1 - place] = (int(before), int(after))
    if any(max(pair) > size for pair, size in zip(result, x.shape)):
        raise Mismatch("paddings that go round more than once")
    return result


@define("MaskedSelectV3", inputs="x mask:bool", dtypes="any")
def masked_select(x, mask, call):
    """y = the elements where the mask holds"""
    chosen = np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))[np.broadcast_to(mask, np.broadcast_shapes(x.shape, mask.shape))]
    shape = call["outputs"][0]["shape"]
    if shape is not None and chosen.size != int(np.prod(shape)):
        raise Mismatch("the output has room for more than is selected")
    return copied(chosen)


@define("Cross", "CrossV2", inputs="x1|x x2|y", dtypes="float int32", attributes={"dim": -65530})
def cross(x1, x2, dim):
    """y = the vector product along a dimension of three, by default the first such"""
    if dim == -65530:
        threes = [axis for axis, size in enumerate(x1.shape) if size == 3]
        if not threes:
            raise Mismatch("no dimension of three")
        dim = threes[0]
    x1, x2 = np.broadcast_arrays(x1, x2)
    if x1.shape[dim] != 3:
        raise Mismatch("the dimension is not of three")
    left, right = np.moveaxis(x1, dim, 0), np.moveaxis(x2, dim, 0)
    pairs = [(1, 2), (2, 0), (0, 1)]
    result = np.stack([left[a] * right[b] - left[b] * right[a] for a, b in pairs], dim)
    size = np.stack([np.abs(left[a] * right[b]) + np.abs(left[b] * right[a]) for a, b in pairs], dim)
    return Value(result, magnitude=size if x1.dtype.kind == "f" else None)
