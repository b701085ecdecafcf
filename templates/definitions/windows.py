"""Maxima of windows that are padded by mode or differently from side to side, and the gradients of maxima and means that are."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from pools import largest_of_windows, must_be_of, paddings, per_axis, tables_of_windows
from spatial import along, must_be_finite, shape_of_result


def count_between(size, kernel, stride, before, after, ceil_mode):
    """Windows along a dimension; with ceil_mode the last may reach beyond the padding, but not begin there."""
    room = size + before + after - kernel
    if room < 0:
        raise Mismatch(f"windows of {kernel} for {size}")
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    return count - 1 if (count - 1) * stride >= size + before else count


def sides(pads, count):
    """Padding before and after each dimension."""
    pads = [int(pad) for pad in pads]
    if len(pads) != 2 * count or any(pad < 0 for pad in pads):
        raise Mismatch(f"paddings {pads} for {count} dimensions")
    return list(zip(pads[::2], pads[1::2]))


def sides_by_mode(mode, pads, sizes, kernels, strides):
    """Padding by its mode: as told, none, or as little as makes ceil(size / stride) windows."""
    if mode == "CALCULATED":
        return sides(pads, len(sizes))
    if mode == "VALID":
        return [(0, 0)] * len(sizes)
    if mode != "SAME":
        raise Mismatch(f"the padding {mode} has no definition")
    whole = [max((-(-size // stride) - 1) * stride + kernel - size, 0) for size, kernel, stride in zip(sizes, kernels, strides)]
    return [(one // 2, one - one // 2) for one in whole]


def largest(x, kernels, strides, distances, mode, pads, ceil_mode, ends):
    """Maxima and their places in the last dimensions of x, as many as there are kernels."""
    sizes = x.shape[x.ndim - len(kernels):]
    reaches = [(kernel - 1) * apart + 1 for kernel, apart in zip(kernels, distances)]
    tables = []
    both = sides_by_mode(mode, pads, sizes, reaches, strides)
    for size, kernel, reach, stride, apart, (before, after) in zip(sizes, kernels, reaches, strides, distances, both):
        starts = np.arange(count_between(size, reach, stride, before, after, ceil_mode)) * stride - before
        table = starts[:, None] + np.arange(kernel) * apart
        tables.append(np.where((table >= 0) & (table < size), table, -1))
    must_be_of([len(table) for table in tables], ends)
    return largest_of_windows(x, tables)


@define("MaxPoolV3", inputs="x", outputs="y",
        attributes={"ksize": REQUIRED, "strides": REQUIRED, "padding_mode": "CALCULATED", "pads": [0, 0, 0, 0], "data_format": "NCHW",
                    "global_pooling": False, "ceil_mode": False})
def max_pool_v3(x, ksize, strides, padding_mode, pads, data_format, global_pooling, ceil_mode, call):
    """y = the largest of each window of two dimensions"""
    if data_format != "NCHW" or global_pooling or padding_mode != "CALCULATED":
        raise Mismatch(f"the format {data_format}, padding {padding_mode} or a global pool has no definition")
    if x.ndim != 4:
        raise Mismatch(f"an input of {list(x.shape)}")
    kernels, steps = per_axis(ksize, 2, "ksize", False), per_axis(strides, 2, "strides", False)
    return largest(x, kernels, steps, [1, 1], "CALCULATED", pads, ceil_mode, shape_of_result(call)[2:])[0]


@define("MaxPool3D", inputs="x", outputs="y",
        attributes={"ksize": REQUIRED, "strides": REQUIRED, "padding": REQUIRED, "pads": [0] * 6, "dilation": [1] * 5, "ceil_mode": 0,
                    "data_format": "NDHWC"})
def max_pool_3d(x, ksize, strides, padding, pads, dilation, ceil_mode, data_format, call):
    """y = the largest of each window of three dimensions"""
    known = call["inputs"][0]["instances"][0].get("format", "ND")
    if x.ndim != 5 or data_format not in ("NDHWC", "NCDHW") or known not in ("ND", data_format):
        raise Mismatch(f"the format {data_format} of an input of {list(x.shape)}")
    last = data_format == "NDHWC"
    lists = (("ksize", ksize), ("strides", strides), ("dilation", dilation))
    kernels, steps, distances = (per_axis(values, 3, name, last) for name, values in lists)
    shape = shape_of_result(call)
    ceil_mode = bool(ceil_mode) and padding == "CALCULATED"
    images = np.moveaxis(x, -1, 1) if last else x
    y = largest(images, kernels, steps, distances, padding, pads, ceil_mode, shape[1:4] if last else shape[2:])[0]
    if last:
        y.array, y.unspecified = np.moveaxis(y.array, 1, -1), np.moveaxis(y.unspecified, 1, -1)
    return y


@define("MaxPoolWithArgmaxV3", inputs="x", outputs="y argmax:index", ignored="dtype",
        attributes={"kernel_size|ksize": REQUIRED, "strides": REQUIRED, "pads": REQUIRED, "dilations|dilation": [1, 1],
                    "ceil_mode": False, "data_format": "NCHW"})
def max_pool_with_places(x, kernel_size, strides, pads, dilations, ceil_mode, data_format, call):
    """y = the largest of each window of two dimensions; argmax = its place in the input's last two dimensions as one row"""
    if data_format != "NCHW" or x.ndim not in (3, 4) or len(pads) > 2:
        raise Mismatch(f"the format {data_format} or paddings {pads} of an input of {list(x.shape)}")
    tables = tables_of_windows(x.shape[-2:], kernel_size, strides, paddings(pads, 2), dilations, ceil_mode)
    must_be_of([len(table) for table in tables], shape_of_result(call)[-2:])
    return largest_of_windows(x, tables)


@define("MaxPoolingGrad", inputs="dy x y", outputs="dx")
def max_pooling_gradient(dy, x, y):
    """dx = dy where x is the largest of its window, y, else 0; windows do not overlap and y is spread over them"""
    if not dy.shape == x.shape == y.shape:
        raise Mismatch(f"gradients of {list(dy.shape)} for {list(x.shape)} and {list(y.shape)}")
    return Value(np.where(x == y, dy, 0.0), exact=True)


@define("AveragePoolingGrad", inputs="orig_input_shape:index grad_output", outputs="grad_input",
        attributes={"kernel_h": 2, "kernel_w": 2, "stride_h": 1, "stride_w": 1, "pad_top": 0, "pad_bottom": 0, "pad_left": 0,
                    "pad_right": 0, "ceil_mode": False, "count_include_pad": True, "divisor_override": 0})
def average_pooling_gradient(orig_input_shape, dy, kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_bottom, pad_left, pad_right,
                             ceil_mode, count_include_pad, divisor_override, call):
    """dx = the sum of dy over the windows that an element is in, each divided by what the window counts for"""
    must_be_finite(dy)
    shape = [int(size) for size in orig_input_shape.reshape(-1)]
    if len(shape) != 4 or dy.ndim != 4 or shape[:2] != list(dy.shape[:2]):
        raise Mismatch(f"gradients of {list(dy.shape)} for {shape}")
    named = ((kernel_h, stride_h, pad_top, pad_bottom), (kernel_w, stride_w, pad_left, pad_right))
    members, counts = [], []
    for size, (kernel, stride, before, after) in zip(shape[2:], named):
        count = count_between(size, kernel, stride, before, after, ceil_mode)
        starts = np.arange(count)[:, None] * stride - before
        # A window does not count what lies beyond the padding.
        ends = np.minimum(starts + kernel, size + after)
        inside = (np.arange(size) >= starts) & (np.arange(size) < ends)
        members.append(inside.astype(float))
        counts.append((ends - starts)[:, 0] if count_include_pad else inside.sum(axis=1))
    must_be_of([len(one) for one in members], dy.shape[2:])
    divisor = float(divisor_override) if divisor_override else np.multiply.outer(*counts).astype(float)
    share = dy / divisor
    turned = [one.T for one in members]
    return Value(along(share, (2, 3), turned), magnitude=along(np.abs(share), (2, 3), turned), steps=2)
