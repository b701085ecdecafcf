"""What lays elements out anew: strides, views, splits, slices, windows and what they are summed back to, diagonals, series."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from shapes import copied, pad_gradient, stretched


def whole(array):
    """What a tensor of whole numbers has, as Python's own."""
    return [int(one) for one in np.asarray(array).reshape(-1)]


def strided_places(size, stride, offset, count):
    """Where in memory the elements of a view are."""
    if len(size) != len(stride) or any(one < 0 for one in size + stride + [offset]):
        raise Mismatch("sizes and strides of different lengths, or negative ones")
    places = np.full(size, offset)
    for axis, (length, step) in enumerate(zip(size, stride)):
        shape = [1] * len(size)
        shape[axis] = length
        places = places + (np.arange(length) * step).reshape(shape)
    if places.size and int(places.max()) >= count:
        raise Mismatch("the view reaches beyond the tensor")
    return places


@define("AsStrided", inputs="x size~:index stride~:index storage_offset~:index?", outputs="y", dtypes="any")
def as_strided(x, size, stride, storage_offset):
    """y[i] = x in memory at storage_offset + the sum of i[d] * stride[d]"""
    offset = 0 if storage_offset is None else whole(storage_offset)[0]
    return copied(x.reshape(-1)[strided_places(whole(size), whole(stride), offset, x.size)])


@define("ViewCopy", inputs="dst dst_size~:index dst_stride~:index dst_storage_offset~:index "
        "src src_size~:index src_stride~:index src_storage_offset~:index", outputs="dst", dtypes="any")
def view_copy(dst, dst_size, dst_stride, dst_offset, src, src_size, src_stride, src_offset):
    """dst = dst with the elements of a view of src in the places of a view of dst"""
    if whole(dst_size) != whole(src_size):
        raise Mismatch("views of different sizes")
    places = strided_places(whole(dst_size), whole(dst_stride), whole(dst_offset)[0], dst.size).reshape(-1)
    source = strided_places(whole(src_size), whole(src_stride), whole(src_offset)[0], src.size).reshape(-1)
    if np.unique(places).size != places.size:
        raise Mismatch("several elements go to one place")
    result = dst.reshape(-1).copy()
    result[places] = src.reshape(-1)[source]
    return copied(result.reshape(dst.shape))


@define("ExpandV2", "Expandv", inputs="x", dtypes="any", attributes={"shape": REQUIRED})
def expand(x, shape):
    """y = x in a larger shape"""
    if any(size <= 0 for size in shape):
        raise Mismatch(f"the shape {shape}")
    return copied(stretched(x, shape))


@define("BroadcastV2", inputs="x", outputs="y", attributes={"axis": REQUIRED, "num": REQUIRED}, ignored="bufferMode dim isReuseSource")
def broadcast_along(x, axis, num):
    """y = x repeated num times along an axis of one"""
    if not 0 <= axis < x.ndim or x.shape[axis] != 1:
        raise Mismatch("only an axis of one has a definition")
    return copied(np.repeat(x, num, axis))


def parts(x, ends, axis):
    return [copied(part) for part in np.split(x, ends, axis)]


@define("Split", inputs="x", outputs="y*", dtypes="any", attributes={"indices_or_sections": REQUIRED, "axis": REQUIRED})
def split(x, indices_or_sections, axis):
    """y = parts of x along an axis: as many alike as one number says, or cut before each of several"""
    if not 0 <= axis < x.ndim:
        raise Mismatch(f"the axis {axis} of {x.ndim}")
    ends = indices_or_sections
    if len(ends) == 1:
        if ends[0] <= 0 or x.shape[axis] % ends[0]:
            raise Mismatch(f"{x.shape[axis]} elements in {ends[0]} parts")
        size = x.shape[axis] // ends[0]
        ends = [size * part for part in range(1, ends[0])]
    elif sorted(set(ends)) != ends or not ends or ends[0] <= 0 or ends[-1] >= x.shape[axis]:
        raise Mismatch("cuts that do not rise within the axis")
    return (parts(x, ends, axis),)


@define("Split@equal", inputs="split_dim~:index x", outputs="y*", dtypes="any", attributes={"num_split": REQUIRED})
def split_in_equal(split_dim, x, num_split):
    """y = num_split parts of x along split_dim"""
    axis = whole(split_dim)[0]
    if not -x.ndim <= axis < x.ndim or num_split <= 0 or x.shape[axis] % num_split:
        raise Mismatch(f"{num_split} parts along the axis {axis}")
    return ([copied(part) for part in np.split(x, num_split, axis)],)


@define("SplitV", inputs="x size_splits~:index split_dim~:index", outputs="y*", dtypes="any", ignored="num_split")
def split_by_sizes(x, size_splits, split_dim):
    """y = parts of x of the sizes of size_splits along split_dim"""
    sizes, axis = whole(size_splits), whole(split_dim)[0]
    if not -x.ndim <= axis < x.ndim or any(size < 0 for size in sizes) or sum(sizes) != x.shape[axis]:
        raise Mismatch(f"sizes {sizes} along the axis {axis}")
    return (parts(x, list(np.cumsum(sizes[:-1])), axis),)


@define("StridedSlice@two", inputs="x", dtypes="any",
        attributes={"start1": 0, "start2": REQUIRED, "end1": 1, "end2": REQUIRED, "stride1": 1, "stride2": REQUIRED})
def strided_slice_two(x, start1, start2, end1, end2, stride1, stride2):
    """z = x[start1:end1:stride1, start2:end2:stride2]; a row takes the second ones"""
    bounds = [(start1, end1, stride1), (start2, end2, stride2)][2 - x.ndim:]
    if x.ndim not in (1, 2):
        raise Mismatch(f"{x.ndim} dimensions")
    if any(not (0 <= start < end <= size and step > 0) for (start, end, step), size in zip(bounds, x.shape)):
        raise Mismatch("the slice is not within the tensor")
    return copied(x[tuple(slice(*one) for one in bounds)])


@define("StridedSliceAssignV2", inputs="var input_value begin~:index end~:index strides~:index axes~:index?", outputs="var",
        dtypes="any")
def strided_slice_assign(var, value, begin, end, strides, axes):
    """var[begin:end:strides] = input_value, along axes or the first dimensions"""
    begin, end, strides = whole(begin), whole(end), whole(strides)
    axes = list(range(len(begin))) if axes is None else [axis % var.ndim for axis in whole(axes)]
    if not len(begin) == len(end) == len(strides) == len(axes) or len(set(axes)) != len(axes) or len(axes) > var.ndim:
        raise Mismatch("begin, end and strides of different lengths")
    if any(one < 0 for one in begin + end) or any(one <= 0 for one in strides):
        raise Mismatch("negative bounds or strides have no definition")
    places = [slice(None)] * var.ndim
    for axis, *bounds in zip(axes, begin, end, strides):
        places[axis] = slice(*bounds)
    result = var.copy()
    if result[tuple(places)].shape != value.shape:
        raise Mismatch("the value is not of the size of the slice")
    result[tuple(places)] = value
    return copied(result)


@define("ReflectionPad1dV2", inputs="x paddings:index", outputs="y")
def reflection_pad(x, paddings):
    """y = x mirrored at the ends of the last dimension"""
    paddings = whole(paddings)
    if len(paddings) != 2 or not 0 <= min(paddings) <= max(paddings) < x.shape[-1]:
        raise Mismatch(f"paddings {paddings} of {x.shape[-1]} elements")
    return copied(np.pad(x, [(0, 0)] * (x.ndim - 1) + [tuple(paddings)], mode="reflect"))


def pairs_of_all(dy, paddings):
    """Paddings of every dimension, the first one first."""
    paddings = whole(paddings)
    if len(paddings) != 2 * dy.ndim:
        raise Mismatch(f"{len(paddings)} paddings of {dy.ndim} dimensions")
    return list(zip(paddings[::2], paddings[1::2]))


@define("ReflectionPad3dGrad", inputs="x paddings:index", outputs="y")
def reflection_pad_3d_gradient(dy, paddings):
    """y = the sum of dy over every place that an element was mirrored to; paddings begin with the first dimension"""
    return pad_gradient(dy, pairs_of_all(dy, paddings), "reflect")


@define("PadV3GradReplication", inputs="x paddings:index", outputs="z")
def replication_pad_gradient(dy, paddings):
    """z = the sum of dy over every place that an element was repeated at; paddings begin with the first dimension"""
    return pad_gradient(dy, pairs_of_all(dy, paddings), "edge")


@define("FillDiagonalV2", inputs="x fill_value", outputs="x", dtypes="number bool double", attributes={"wrap": False})
def fill_diagonal(x, fill_value, wrap):
    """x = x with fill_value on the diagonal, which begins again below a tall matrix with wrap"""
    if x.ndim < 2 or x.ndim > 2 and len(set(x.shape)) != 1 or fill_value.size != 1:
        raise Mismatch("only matrices and cubes have a diagonal, of one value")
    result = x.copy()
    np.fill_diagonal(result, fill_value.reshape(-1)[0], wrap=bool(wrap))
    return copied(result)


@define("EyeV2", inputs="x~?", outputs="y~", attributes={"rows": REQUIRED, "cols": REQUIRED})
def eye_of(x, rows, cols):
    """y = 1 on the diagonal of rows by cols, else 0"""
    if rows <= 0 or cols <= 0:
        raise Mismatch(f"{rows} rows and {cols} columns")
    return copied(np.eye(rows, cols))


@define("LogSpace", inputs="", outputs="result~", attributes={"start": REQUIRED, "end": REQUIRED, "steps": REQUIRED, "base": REQUIRED})
def log_space(start, end, steps, base, call):
    """result[i] = base ^ (start + i * (end - start) / (steps - 1)), whole numbers truncated"""
    if base <= 0 or steps <= 0:
        raise Mismatch(f"{steps} steps of the base {base}")
    exponents = np.linspace(start, end, steps)
    result = base**exponents
    # What an exponent is off by counts once for every power of e.
    size = result * (abs(start) + abs(end)) * abs(np.log(base))
    if call["outputs"][0]["dtype"] in ("float16", "bfloat16", "float32"):
        return Value(result, magnitude=size, steps=2)
    near = np.abs(result - np.rint(result)) <= 1e-5 * (size + result)
    return Value(np.trunc(np.where(near, np.rint(result), result)), slack=np.where(near, 1.0, 0.0))


def both(values):
    """One number for height and width, or two."""
    values = [values] if isinstance(values, int) else list(values)
    if len(values) not in (1, 2) or min(values) <= 0:
        raise Mismatch(f"{values} for height and width")
    return values * 2 if len(values) == 1 else values


def window_places(height, width, kernel, stride, dilation):
    """Rows and columns of the elements of all windows, by place in the kernel and by window."""
    counts = [(size - dilated * (length - 1) - 1) // step + 1
              for size, length, step, dilated in zip((height, width), kernel, stride, dilation)]
    if min(counts) <= 0:
        raise Mismatch("no window fits in")
    rows, columns = [(np.arange(length) * dilated)[:, None] + np.arange(count) * step
                     for length, dilated, count, step in zip(kernel, dilation, counts, stride)]
    shape = (kernel[0], kernel[1], counts[0], counts[1])
    rows, columns = np.broadcast_to(rows[:, None, :, None], shape), np.broadcast_to(columns[None, :, None, :], shape)
    return [one.reshape(kernel[0] * kernel[1], counts[0] * counts[1]) for one in (rows, columns)]


def columns_of(x, kernel, stride, dilation, pads):
    """Windows as columns: channels and places in the kernel along one dimension, windows along the last."""
    if x.ndim not in (3, 4) or min(pads) < 0:
        raise Mismatch(f"{x.ndim} dimensions, paddings {pads}")
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(pads[0], pads[1]), (pads[2], pads[3])])
    rows, columns = window_places(*padded.shape[-2:], kernel, stride, dilation)
    result = padded[..., rows, columns]
    return copied(result.reshape(*x.shape[:-3], -1, rows.shape[1]))


@define("Im2col", inputs="x", dtypes="float bool",
        attributes={"ksizes": REQUIRED, "strides": [1], "dilations": [1], "padding_mode": "CALCULATED", "pads": [0]})
def image_to_columns(x, ksizes, strides, dilations, padding_mode, pads):
    """y = the windows of images in the format NCHW or CHW as columns; paddings are top, bottom, left, right"""
    pads = list(pads) * 4 if len(pads) == 1 else list(pads)
    if padding_mode != "CALCULATED" or len(pads) != 4:
        raise Mismatch(f"the padding {padding_mode} of {pads}")
    return columns_of(x, both(ksizes), both(strides), both(dilations), pads)


@define("Im2Col", inputs="x", outputs="z", attributes={
    "kernel_h": 2, "kernel_w": 2, "stride_h": 1, "stride_w": 1, "pad_h": 0, "pad_w": 0, "dilation_h": 1, "dilation_w": 1})
def image_to_columns_by_numbers(x, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w):
    """z = the windows of images in the format NCHW or CHW as columns"""
    pads = [pad_h, pad_h, pad_w, pad_w]
    return columns_of(x, both([kernel_h, kernel_w]), both([stride_h, stride_w]), both([dilation_h, dilation_w]), pads)


@define("Col2Im", inputs="col", outputs="x", attributes={
    "output_h": 4, "output_w": 4, "kernel_h": 2, "kernel_w": 2, "stride_val": 1, "padding_val": 0, "dilation_val": 1})
def columns_to_image(col, output_h, output_w, kernel_h, kernel_w, stride_val, padding_val, dilation_val):
    """x = the sum of all elements of columns that windows took from a place"""
    kernel, size = both([kernel_h, kernel_w]), (output_h + 2 * padding_val, output_w + 2 * padding_val)
    if col.ndim not in (2, 3) or padding_val < 0:
        raise Mismatch(f"{col.ndim} dimensions, paddings of {padding_val}")
    rows, columns = window_places(*size, kernel, both(stride_val), both(dilation_val))
    if col.shape[-1] != rows.shape[1] or col.shape[-2] % rows.shape[0]:
        raise Mismatch(f"columns of {list(col.shape[-2:])} for windows of {list(rows.shape)}")
    terms = col.reshape(-1, *rows.shape)
    total, magnitude = np.zeros((2, len(terms)) + size)
    np.add.at(total, (slice(None), rows, columns), terms)
    np.add.at(magnitude, (slice(None), rows, columns), np.abs(terms))
    shape = col.shape[:-2] + (col.shape[-2] // rows.shape[0], output_h, output_w)
    inner = slice(padding_val, padding_val + output_h), slice(padding_val, padding_val + output_w)
    return Value(total[:, inner[0], inner[1]].reshape(shape), magnitude=magnitude[:, inner[0], inner[1]].reshape(shape))


@define("UnfoldGrad", inputs="grad_out input_sizes:index", outputs="grad_in",
        attributes={"dim": REQUIRED, "size": REQUIRED, "step": REQUIRED})
def unfold_gradient(grad_out, input_sizes, dim, size, step):
    """grad_in = the sum of grad_out over every slice of size elements, step apart along dim, that an element is in"""
    sizes = whole(input_sizes)
    dim = dim % len(sizes)
    if step <= 0 or not 0 < size <= sizes[dim]:
        raise Mismatch(f"slices of {size}, {step} apart")
    shape = sizes[:dim] + [(sizes[dim] - size) // step + 1] + sizes[dim + 1:] + [size]
    if list(grad_out.shape) != shape:
        raise Mismatch(f"{list(grad_out.shape)} and not {shape}")
    terms = np.moveaxis(grad_out, dim, 0)
    total, magnitude = np.zeros([2, sizes[dim]] + sizes[:dim] + sizes[dim + 1:])
    for window, slices in enumerate(terms):
        for place in range(size):
            total[window * step + place] += slices[..., place]
            magnitude[window * step + place] += np.abs(slices[..., place])
    return Value(np.moveaxis(total, 0, dim), magnitude=np.moveaxis(magnitude, 0, dim))


@define("ChunkCat", inputs="x*", outputs="y~", attributes={"dim": REQUIRED, "num_chunks": REQUIRED})
def chunk_and_concatenate(tensors, dim, num_chunks, call):
    """y = every tensor in num_chunks rows, with zeros at the end, side by side"""
    if dim != 0 or num_chunks <= 0 or any(one.ndim == 0 for one in tensors):
        raise Mismatch("only chunks of the first dimension have a definition")
    rows = []
    for one in tensors:
        missing = -len(one) % num_chunks
        rows.append(np.pad(one, [(0, missing)] + [(0, 0)] * (one.ndim - 1)).reshape(num_chunks, -1))
    same = call["inputs"][0]["instances"][0]["dtype"] == call["outputs"][0]["dtype"]
    return Value(np.concatenate(rows, 1), exact=same)


@define("StridesliceNegConcatV2", inputs="input", outputs="output")
def negate_second_half(x):
    """output = input with the second half of the last dimension negated"""
    if x.shape[-1] % 2:
        raise Mismatch("the last dimension has no halves")
    half = x.shape[-1] // 2
    return copied(np.concatenate([x[..., :half], -x[..., half:]], -1))
