"""Pools: means and maxima of windows, with the places of the maxima, and the gradients of both."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from spatial import across, along, axes_of_space, must_be_finite, shape_of_result


def per_axis(values, count, name, channels_last=True):
    """One number for each dimension of space; a list that also has batch and channels must have ones for these."""
    values = [int(value) for value in values]
    if len(values) == 1:
        values = values * count
    if len(values) == count + 2:
        inner = values[1:-1] if channels_last else values[2:]
        if sorted(values) != sorted(inner + [1, 1]):
            raise Mismatch(f"{name} {values} of batch or channels")
        values = inner
    if len(values) != count or any(value <= 0 for value in values):
        raise Mismatch(f"{name} {values} for {count} dimensions")
    return values


def paddings(pads, count):
    """Padding of each dimension of space, the same on both sides."""
    pads = [int(pad) for pad in pads]
    if len(pads) == 2 * count:
        if pads[::2] != pads[1::2]:
            raise Mismatch(f"paddings {pads} that differ from side to side")
        pads = pads[::2]
    if len(pads) == 1:
        pads = pads * count
    if len(pads) != count or any(pad < 0 for pad in pads):
        raise Mismatch(f"paddings {pads} for {count} dimensions")
    return pads


def count_of_windows(size, kernel, stride, pad, dilation, ceil_mode):
    """Windows along a dimension; with ceil_mode the last may reach beyond the padding, but not begin there."""
    room = size + 2 * pad - dilation * (kernel - 1) - 1
    if room < 0 or 2 * pad > kernel:
        raise Mismatch(f"windows of {kernel} and paddings of {pad} for {size}")
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= size + pad else count


def mean_windows(size, kernel, stride, pad, ceil_mode, include_pad):
    """A matrix (windows, elements) of ones where an element is in a window, and what each window counts for."""
    count = count_of_windows(size, kernel, stride, pad, 1, ceil_mode)
    starts = np.arange(count) * stride - pad
    ends = np.minimum(starts + kernel, size + pad)
    inside = np.arange(size)
    members = (inside >= starts[:, None]) & (inside < ends[:, None])
    return members.astype(float), (ends - starts if include_pad else members.sum(axis=1)).astype(float)


def adaptive_windows(size, target):
    """A matrix (windows, elements) of ones: window i is from floor(i * size / target) to ceil((i + 1) * size / target)."""
    starts = np.arange(target) * size // target
    ends = -(-(np.arange(target) + 1) * size // target)
    inside = np.arange(size)
    members = (inside >= starts[:, None]) & (inside < ends[:, None])
    return members.astype(float), members.sum(axis=1).astype(float)


def divisors(counts, axes, rank, override=0):
    """The number that each window is divided by."""
    if override:
        return float(override)
    product = np.ones([1] * rank)
    for count in across(counts, axes, rank):
        product = product * count
    return product


def mean_of(x, axes, windows, override=0):
    must_be_finite(x)
    divisor = divisors([count for _, count in windows], axes, x.ndim, override)
    members = [matrix for matrix, _ in windows]
    return Value(along(x, axes, members) / divisor, magnitude=along(np.abs(x), axes, members) / np.abs(divisor))


def mean_gradient_of(dy, axes, windows, override=0):
    must_be_finite(dy)
    share = dy / divisors([count for _, count in windows], axes, dy.ndim, override)
    members = [matrix.T for matrix, _ in windows]
    return Value(along(share, axes, members), magnitude=along(np.abs(share), axes, members), steps=2)


def format_of(data_format, count):
    known = {2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[count]
    if data_format is not None and data_format not in known:
        raise Mismatch(f"the data format {data_format} has no definition")
    return data_format


def windows_of_means(sizes, ksize, strides, pads, ceil_mode, count_include_pad, channels_last):
    count = len(sizes)
    kernels, steps = per_axis(ksize, count, "ksize", channels_last), per_axis(strides, count, "strides", channels_last)
    return [mean_windows(*one, ceil_mode, count_include_pad) for one in zip(sizes, kernels, steps, paddings(pads, count))]


def must_be_of(windows, ends):
    if list(windows) != list(ends):
        raise Mismatch(f"{list(windows)} windows for {list(ends)} outputs")


AVERAGE = {"ksize": REQUIRED, "strides": REQUIRED, "pads": REQUIRED, "ceil_mode": False, "count_include_pad": True, "divisor_override": 0,
           "data_format": "NDHWC"}


@define("AvgPool3D", inputs="x", outputs="y", attributes=AVERAGE)
def average_pool_3d(x, ksize, strides, pads, ceil_mode, count_include_pad, divisor_override, data_format, call):
    """y = the mean of each window of three dimensions, padding counted with count_include_pad, or its sum / divisor_override"""
    axes, ends = axes_of_space(x, 3, call, data_format=format_of(data_format, 3))
    sizes = [x.shape[axis] for axis in axes]
    windows = windows_of_means(sizes, ksize, strides, pads, ceil_mode, count_include_pad, axes[0] == 1)
    must_be_of([matrix.shape[0] for matrix, _ in windows], ends)
    return mean_of(x, axes, windows, divisor_override)


@define("AvgPool3DGrad", inputs="orig_input_shape:index grads", outputs="output", attributes=AVERAGE)
def average_pool_3d_gradient(orig_input_shape, dy, ksize, strides, pads, ceil_mode, count_include_pad, divisor_override, data_format, call):
    """dx = the sum of dy over the windows that an element is in, each divided by what the window counts for"""
    # The first input is a shape, whose format says nothing.
    gradients = {"outputs": call["outputs"], "inputs": call["inputs"][1:]}
    axes, ends = axes_of_space(dy, 3, gradients, data_format=format_of(data_format, 3))
    shape = [int(size) for size in orig_input_shape.reshape(-1)]
    if shape != shape_of_result(call):
        raise Mismatch(f"orig_input_shape {shape} for an output of {shape_of_result(call)}")
    windows = windows_of_means(ends, ksize, strides, pads, ceil_mode, count_include_pad, axes[0] == 1)
    must_be_of([matrix.shape[0] for matrix, _ in windows], [dy.shape[axis] for axis in axes])
    return mean_gradient_of(dy, axes, windows, divisor_override)


def adaptive_average(x, count, output_size, data_format, call):
    sizes = [int(size) for size in output_size] or None
    axes, ends = axes_of_space(x, count, call, sizes, format_of(data_format, count), ("first", "last"), batched=False)
    return mean_of(x, axes, [adaptive_windows(x.shape[axis], end) for axis, end in zip(axes, ends)])


def adaptive_average_gradient(dy, count, data_format, call):
    axes, ends = axes_of_space(dy, count, call, None, format_of(data_format, count), ("first", "last"), batched=False)
    return mean_gradient_of(dy, axes, [adaptive_windows(end, dy.shape[axis]) for axis, end in zip(axes, ends)])


@define("AdaptiveAvgPool2d", inputs="x", outputs="y", attributes={"output_size": REQUIRED})
def adaptive_average_pool_2d(x, output_size, call):
    """y[i] = the mean of x from floor(i * in / out) to ceil((i + 1) * in / out), along two dimensions"""
    return adaptive_average(x, 2, output_size, None, call)


@define("AdaptiveAvgPool3d", inputs="x", outputs="y", attributes={"output_size": REQUIRED, "data_format": None})
def adaptive_average_pool_3d(x, output_size, data_format, call):
    """y[i] = the mean of x from floor(i * in / out) to ceil((i + 1) * in / out), along three dimensions"""
    return adaptive_average(x, 3, output_size, data_format, call)


@define("AdaptiveAvgPool2dGrad", inputs="input_grad", outputs="output_grad", attributes={"orig_input_shape": REQUIRED})
def adaptive_average_pool_2d_gradient(dy, orig_input_shape, call):
    """dx = the sum of dy over the windows that an element is in, each divided by the window's elements"""
    if [int(size) for size in orig_input_shape] != shape_of_result(call):
        raise Mismatch(f"orig_input_shape {orig_input_shape} for an output of {shape_of_result(call)}")
    return adaptive_average_gradient(dy, 2, None, call)


@define("AdaptiveAvgPool3dGrad", inputs="y_grad x", outputs="x_grad", attributes={"data_format": None})
def adaptive_average_pool_3d_gradient(dy, x, data_format, call):
    """dx = the sum of dy over the windows that an element is in, each divided by the window's elements"""
    if list(x.shape) != shape_of_result(call):
        raise Mismatch(f"gradients of {shape_of_result(call)} for an input of {list(x.shape)}")
    return adaptive_average_gradient(dy, 3, data_format, call)


def largest_of_windows(x, tables):
    """The largest of each window and its place in the last dimensions as one row; nothing is said of places where two are as large.

    `tables`: for every dimension of space an array (windows, elements of one) of indices, -1 for none.
    """
    count = len(tables)
    sizes = x.shape[x.ndim - count:]
    rows = x.reshape(x.shape[:x.ndim - count] + (-1,))
    shape = rows.shape[:-1] + tuple(len(table) for table in tables)
    best, places = np.full(shape, -np.inf), np.zeros(shape, np.int64)
    tied, unknown = np.zeros(shape, bool), np.zeros(shape, bool)
    seen = np.zeros(shape, bool)
    for step in np.ndindex(*(table.shape[1] for table in tables)):
        indices = np.meshgrid(*(table[:, at] for table, at in zip(tables, step)), indexing="ij")
        valid = np.broadcast_to(np.all([index >= 0 for index in indices], axis=0), shape)
        flat = np.ravel_multi_index([np.maximum(index, 0) for index in indices], sizes)
        values = rows[..., flat]
        unknown |= valid & np.isnan(values)
        larger = valid & ((values > best) | ~seen)
        tied = np.where(larger, False, tied | (valid & (values == best)))
        places = np.where(larger, flat, places)
        best = np.where(larger, values, best)
        seen |= valid
    if not np.all(seen):
        raise Mismatch("a window has no element")
    # Padding counts as the least number: a window with no larger one may take its place from there.
    return Value(best, exact=True, unspecified=unknown), Value(places, exact=True, unspecified=unknown | tied | np.isneginf(best))


def tables_of_windows(sizes, ksize, strides, pads, dilation, ceil_mode):
    """Indices of every window's elements along each dimension, -1 in the padding."""
    count = len(sizes)
    named = (("ksize", ksize), ("strides", strides), ("dilation", dilation))
    kernels, steps, distances = (per_axis(values, count, name, False) for name, values in named)
    tables = []
    for size, kernel, stride, pad, apart in zip(sizes, kernels, steps, paddings(pads, count), distances):
        starts = np.arange(count_of_windows(size, kernel, stride, pad, apart, ceil_mode)) * stride - pad
        table = starts[:, None] + np.arange(kernel) * apart
        tables.append(np.where((table >= 0) & (table < size), table, -1))
    return tables


def adaptive_table(size, end):
    """Indices of every adaptive window's elements, -1 where it has fewer than others."""
    members = adaptive_windows(size, end)[0]
    table = np.full((end, int(members.sum(axis=1).max())), -1)
    for window, row in enumerate(members):
        inside = np.flatnonzero(row)
        table[window, :len(inside)] = inside
    return table


def channels_first(x, count, call, sizes=None, data_format=None):
    axes, ends = axes_of_space(x, count, call, sizes, data_format, batched=False)
    if axes[-1] != x.ndim - 1:
        raise Mismatch("places have a definition only where channels come first")
    return [x.shape[axis] for axis in axes], ends


@define("MaxPool3DWithArgmaxV2", inputs="x", outputs="y argmax:index", ignored="dtype",
        attributes={"ksize": REQUIRED, "strides": REQUIRED, "pads": REQUIRED, "dilation": [1, 1, 1], "ceil_mode": False,
                    "data_format": "NCDHW"})
def max_pool_3d_with_places(x, ksize, strides, pads, dilation, ceil_mode, data_format, call):
    """y = the largest of each window of three dimensions; argmax = its place in the input's last three dimensions as one row"""
    sizes, ends = channels_first(x, 3, call, None, format_of(data_format, 3))
    tables = tables_of_windows(sizes, ksize, strides, pads, dilation, ceil_mode)
    must_be_of([len(table) for table in tables], ends)
    return largest_of_windows(x, tables)


def adaptive_maximum(x, count, output_size, call):
    sizes, ends = channels_first(x, count, call, [int(size) for size in output_size] or None)
    return largest_of_windows(x, [adaptive_table(size, end) for size, end in zip(sizes, ends)])


@define("AdaptiveMaxPool2d", inputs="x", outputs="y indices:index", attributes={"output_size": REQUIRED}, ignored="indices_dtype")
def adaptive_max_pool_2d(x, output_size, call):
    """y[i] = the largest of x from floor(i * in / out) to ceil((i + 1) * in / out), along two dimensions; indices = its places"""
    return adaptive_maximum(x, 2, output_size, call)


@define("AdaptiveMaxPool3d", inputs="x", outputs="y indices:index", attributes={"output_size": REQUIRED}, ignored="indices_dtype")
def adaptive_max_pool_3d(x, output_size, call):
    """y[i] = the largest of x from floor(i * in / out) to ceil((i + 1) * in / out), along three dimensions; indices = its places"""
    return adaptive_maximum(x, 3, output_size, call)


def returned_to_places(x, dy, argmax, tables):
    """The sum of dy over the windows that an element is the largest of, where each place is in its window."""
    count = len(tables)
    outer = x.shape[:x.ndim - count]
    ends = tuple(len(table) for table in tables)
    if dy.shape != outer + ends or argmax.shape != dy.shape:
        raise Mismatch(f"gradients of {list(dy.shape)} and places of {list(argmax.shape)} for {list(outer + ends)}")
    size = int(np.prod(x.shape[x.ndim - count:]))
    if np.any((argmax < 0) | (argmax >= size)):
        raise Mismatch(f"a place is not below {size}")
    coordinates = np.unravel_index(argmax, x.shape[x.ndim - count:])
    for axis, (table, found) in enumerate(zip(tables, coordinates)):
        window = np.arange(ends[axis]).reshape([-1 if place == axis else 1 for place in range(count)])
        if not np.all(np.any(table[window] == found[..., None], axis=-1)):
            raise Mismatch("a place is not in its window")
    rows, places = dy.reshape(-1, int(np.prod(ends))), argmax.reshape(-1, int(np.prod(ends)))
    total, terms = np.zeros((len(rows), size)), np.zeros((len(rows), size))
    at = (np.arange(len(rows))[:, None], places)
    np.add.at(total, at, rows)
    np.add.at(terms, at, np.abs(rows))
    return Value(total.reshape(x.shape), magnitude=terms.reshape(x.shape))


def sizes_of_places(x, count, call, data_format=None):
    """Sizes of space of the forward pass, whose input the gradient is as large as."""
    if list(x.shape) != shape_of_result(call):
        raise Mismatch(f"gradients of {shape_of_result(call)} for an input of {list(x.shape)}")
    axes, ends = axes_of_space(x, count, call, None, format_of(data_format, count), batched=False)
    if axes[-1] != x.ndim - 1:
        raise Mismatch("places have a definition only where channels come first")
    return ends


@define("MaxPool3DGradWithArgmax", inputs="x grad argmax:index", outputs="y", ignored="dtype",
        attributes={"ksize": REQUIRED, "strides": REQUIRED, "pads": REQUIRED, "dilation": [1, 1, 1], "ceil_mode": False,
                    "data_format": "NCDHW"})
def max_pool_3d_gradient(x, dy, argmax, ksize, strides, pads, dilation, ceil_mode, data_format, call):
    """dx = the sum of grad over the windows whose largest element argmax says it is"""
    sizes = sizes_of_places(x, 3, call, data_format)
    return returned_to_places(x, dy, argmax, tables_of_windows(sizes, ksize, strides, pads, dilation, ceil_mode))


@define("AdaptiveMaxPool3DGrad", inputs="x grad argmax:index", outputs="y")
def adaptive_max_pool_3d_gradient(x, dy, argmax, call):
    """dx = the sum of grad over the adaptive windows whose largest element argmax says it is"""
    sizes = sizes_of_places(x, 3, call)
    if dy.ndim != x.ndim:
        raise Mismatch(f"gradients of {list(dy.shape)} for {list(x.shape)}")
    return returned_to_places(x, dy, argmax, [adaptive_table(size, end) for size, end in zip(sizes, dy.shape[-3:])])
