"""Convolutions of two and three dimensions, transposed ones, and the gradients for what goes in and for the filter."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from pools import per_axis
from spatial import must_be_finite, shape_of_result
from windows import sides

PLACES = {2: {"NCHW": "first", "NHWC": "last"}, 3: {"NCDHW": "first", "NDHWC": "last"}}


class Layout:
    """Strides, paddings and dilations of a convolution, and where channels are."""

    def __init__(self, count, data_format, strides, pads, dilations, groups, call, tensors):
        self.last = PLACES[count].get(data_format) == "last"
        told = [call["inputs"][at]["instances"][0].get("format", "ND") for at in tensors]
        if data_format not in PLACES[count] or any(one not in ("ND", data_format) for one in told):
            raise Mismatch(f"the format {data_format} of tensors of {', '.join(told)}")
        self.count, self.groups = count, groups
        self.strides = per_axis(strides, count, "strides", self.last)
        self.dilations = per_axis(dilations, count, "dilations", self.last)
        self.sides = sides(pads, count)

    def first(self, x):
        return np.moveaxis(x, -1, 1) if self.last else x

    def as_told(self, x):
        return np.moveaxis(x, 1, -1) if self.last else x

    def ends(self, sizes, kernels):
        found = []
        for size, kernel, stride, apart, (before, after) in zip(sizes, kernels, self.strides, self.dilations, self.sides):
            room = size + before + after - apart * (kernel - 1) - 1
            if room < 0:
                raise Mismatch(f"a filter of {kernel} for {size}")
            found.append(room // stride + 1)
        return tuple(found)

    def check(self, x, weights, count):
        if x.ndim != count + 2 or weights.ndim != count + 2 or self.groups <= 0:
            raise Mismatch(f"an input of {list(x.shape)} and a filter of {list(weights.shape)}")
        if x.shape[1] != weights.shape[1] * self.groups or weights.shape[0] % self.groups:
            raise Mismatch(f"{x.shape[1]} channels in {self.groups} groups for a filter of {list(weights.shape)}")

    def parts(self, padded, kernels, ends):
        """Of every element of the filter, its place and the slice of the padded input that it meets."""
        for place in np.ndindex(*kernels):
            begins = [at * apart for at, apart in zip(place, self.dilations)]
            cut = tuple(slice(begin, begin + (end - 1) * stride + 1, stride) for begin, end, stride in zip(begins, ends, self.strides))
            yield place, (slice(None), slice(None)) + cut


def convolved(x, weights, layout):
    """Channels first: the sum over a group's channels and the filter's elements."""
    layout.check(x, weights, layout.count)
    kernels = weights.shape[2:]
    ends = layout.ends(x.shape[2:], kernels)
    padded = np.pad(x, [(0, 0), (0, 0)] + layout.sides)
    outputs, inputs = weights.shape[0] // layout.groups, weights.shape[1]
    y = np.zeros((len(x), weights.shape[0]) + ends)
    for place, cut in layout.parts(padded, kernels, ends):
        part = padded[cut]
        for group in range(layout.groups):
            filters = weights[(slice(group * outputs, (group + 1) * outputs), slice(None)) + place]
            channels = part[:, group * inputs:(group + 1) * inputs]
            y[:, group * outputs:(group + 1) * outputs] += np.moveaxis(np.tensordot(filters, channels, (1, 1)), 0, 1)
    return y


def convolution(count, x, weights, bias, layout):
    must_be_finite(x, weights)
    x = layout.first(x)
    y, size = convolved(x, weights, layout), convolved(np.abs(x), np.abs(weights), layout)
    if bias is not None:
        if bias.shape != (weights.shape[0],):
            raise Mismatch(f"a bias of {list(bias.shape)} for {weights.shape[0]} channels")
        shape = (1, -1) + (1,) * count
        y, size = y + bias.reshape(shape), size + np.abs(bias).reshape(shape)
    return Value(layout.as_told(y), magnitude=layout.as_told(size))


def filter_first(weights, layout, call, at):
    """The filter with its channels first, by its format; without one it is like the input."""
    told = call["inputs"][at]["instances"][0].get("format", "ND")
    if told not in ("ND", "NCHW", "NCDHW") or told == "ND" and layout.last:
        raise Mismatch(f"a filter of the format {told}")
    return weights


@define("Conv3DV2", inputs="x filter bias~?:float", outputs="y", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": [0] * 6, "dilations": [1] * 5, "groups": 1, "data_format": "NCDHW", "offset_x": 0,
                    "pad_mode": "SPECIFIC"})
def convolution_3d(x, weights, bias, strides, pads, dilations, groups, data_format, offset_x, pad_mode, call):
    """y = bias + the sum over channels and the filter's elements of filter * x, along three dimensions"""
    if offset_x != 0 or pad_mode != "SPECIFIC":
        raise Mismatch(f"an offset of {offset_x} and the padding {pad_mode} have no definition")
    layout = Layout(3, data_format, strides, pads, dilations, groups, call, [0])
    return convolution(3, x, filter_first(weights, layout, call, 1), bias, layout)


@define("Conv2DV2", inputs="x filter bias~?:float", outputs="y", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": [0] * 4, "dilations": [1] * 4, "groups": 1, "data_format": "NCHW", "offset_x": 0,
                    "pad_mode": "SPECIFIC"})
def convolution_2d(x, weights, bias, strides, pads, dilations, groups, data_format, offset_x, pad_mode, call):
    """y = bias + the sum over channels and the filter's elements of filter * x, along two dimensions"""
    if offset_x != 0 or pad_mode != "SPECIFIC":
        raise Mismatch(f"an offset of {offset_x} and the padding {pad_mode} have no definition")
    layout = Layout(2, data_format, strides, pads, dilations, groups, call, [0])
    return convolution(2, x, filter_first(weights, layout, call, 1), bias, layout)


def input_gradient(shape, weights, dy, layout):
    """What each element of the input had a share in, channels first."""
    kernels = weights.shape[2:]
    whole = [size + before + after for size, (before, after) in zip(shape[2:], layout.sides)]
    dx = np.zeros(tuple(shape[:2]) + tuple(whole))
    outputs, inputs = weights.shape[0] // layout.groups, weights.shape[1]
    for place, cut in layout.parts(dx, kernels, dy.shape[2:]):
        part = dx[cut]
        for group in range(layout.groups):
            filters = weights[(slice(group * outputs, (group + 1) * outputs), slice(None)) + place]
            grads = dy[:, group * outputs:(group + 1) * outputs]
            part[:, group * inputs:(group + 1) * inputs] += np.moveaxis(np.tensordot(filters, grads, (0, 1)), 0, 1)
    inside = tuple(slice(before, before + size) for size, (before, _) in zip(shape[2:], layout.sides))
    return dx[(slice(None), slice(None)) + inside]


def back_to_input(input_size, weights, dy, layout, call, at):
    must_be_finite(weights, dy)
    shape = [int(size) for size in input_size.reshape(-1)]
    if shape != shape_of_result(call):
        raise Mismatch(f"input_size {shape} for an output of {shape_of_result(call)}")
    weights, dy = filter_first(weights, layout, call, at), layout.first(dy)
    shape = [shape[0], shape[-1]] + shape[1:-1] if layout.last else shape
    layout.check(np.empty(shape), weights, layout.count)
    if dy.shape != (shape[0], weights.shape[0]) + layout.ends(shape[2:], weights.shape[2:]):
        raise Mismatch(f"gradients of {list(dy.shape)} for an input of {shape}")
    results = [input_gradient(shape, *pair, layout) for pair in ((weights, dy), (np.abs(weights), np.abs(dy)))]
    return Value(layout.as_told(results[0]), magnitude=layout.as_told(results[1]))


@define("Conv3DBackpropInputV2", inputs="input_size:index filter out_backprop", outputs="y", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 5, "groups": 1, "data_format": "NDHWC"})
def convolution_3d_input_gradient(input_size, weights, dy, strides, pads, dilations, groups, data_format, call):
    """dx = the sum of filter * out_backprop over all that an element had a share in, along three dimensions"""
    return back_to_input(input_size, weights, dy, Layout(3, data_format, strides, pads, dilations, groups, call, [2]), call, 1)


@define("Conv2DBackpropInputV2", inputs="input_size:index filter out_backprop", outputs="y", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 4, "groups": 1, "data_format": "NCHW"})
def convolution_2d_input_gradient(input_size, weights, dy, strides, pads, dilations, groups, data_format, call):
    """dx = the sum of filter * out_backprop over all that an element had a share in, along two dimensions"""
    return back_to_input(input_size, weights, dy, Layout(2, data_format, strides, pads, dilations, groups, call, [2]), call, 1)


@define("Conv3DTransposeV2", inputs="input_size:index x filter", outputs="y", ignored="enable_hf32 output_padding",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 5, "groups": 1, "data_format": "NDHWC", "offset_x": 0})
def transposed_convolution_3d(input_size, x, weights, strides, pads, dilations, groups, data_format, offset_x, call):
    """y = the transposed convolution: the gradient for the input of a convolution whose output's gradient is x, along three dimensions"""
    if offset_x != 0:
        raise Mismatch("an offset has no definition")
    # What is padded behind is told by input_size.
    return back_to_input(input_size, weights, x, Layout(3, data_format, strides, pads, dilations, groups, call, [1]), call, 2)


@define("Conv2DTransposeV2", inputs="input_size:index x filter", outputs="y", ignored="enable_hf32 output_padding",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 4, "groups": 1, "data_format": "NHWC", "offset_x": 0})
def transposed_convolution_2d(input_size, x, weights, strides, pads, dilations, groups, data_format, offset_x, call):
    """y = the transposed convolution: the gradient for the input of a convolution whose output's gradient is x, along two dimensions"""
    if offset_x != 0:
        raise Mismatch("an offset has no definition")
    return back_to_input(input_size, weights, x, Layout(2, data_format, strides, pads, dilations, groups, call, [1]), call, 2)


def back_to_filter(x, filter_size, dy, layout, call):
    must_be_finite(x, dy)
    shape = tuple(int(size) for size in filter_size.reshape(-1))
    told = call["outputs"][0].get("format", "ND")
    if list(shape) != shape_of_result(call) or told not in ("ND", "NCHW", "NCDHW") or told == "ND" and layout.last:
        raise Mismatch(f"filter_size {list(shape)} for an output of {shape_of_result(call)} as {told}")
    x, dy = layout.first(x), layout.first(dy)
    layout.check(x, np.empty(shape), layout.count)
    if dy.shape != (len(x), shape[0]) + layout.ends(x.shape[2:], shape[2:]):
        raise Mismatch(f"gradients of {list(dy.shape)} for an input of {list(x.shape)}")
    outputs, inputs = shape[0] // layout.groups, shape[1]
    results = []
    axes = [0] + list(range(2, x.ndim))
    for image, grads in ((x, dy), (np.abs(x), np.abs(dy))):
        padded, dw = np.pad(image, [(0, 0), (0, 0)] + layout.sides), np.zeros(shape)
        for place, cut in layout.parts(padded, shape[2:], dy.shape[2:]):
            part = padded[cut]
            for group in range(layout.groups):
                own = slice(group * outputs, (group + 1) * outputs)
                channels = part[:, group * inputs:(group + 1) * inputs]
                dw[(own, slice(None)) + place] = np.tensordot(grads[:, own], channels, (axes, axes))
        results.append(dw)
    return Value(results[0], magnitude=results[1])


@define("Conv3DBackpropFilterV2", inputs="x filter_size:index out_backprop", outputs="y:float32", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 5, "groups": 1, "data_format": "NDHWC"})
def convolution_3d_filter_gradient(x, filter_size, dy, strides, pads, dilations, groups, data_format, call):
    """dw = the sum of x * out_backprop over all that an element of the filter had a share in, along three dimensions"""
    return back_to_filter(x, filter_size, dy, Layout(3, data_format, strides, pads, dilations, groups, call, [0, 2]), call)


@define("Conv2DBackpropFilterV2", inputs="x filter_size:index out_backprop", outputs="y:float32", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 4, "groups": 1, "data_format": "NCHW"})
@define("Conv2DBackpropFilterV3", inputs="x filter_size:index out_backprop", outputs="y:float32", ignored="enable_hf32",
        attributes={"strides": REQUIRED, "pads": REQUIRED, "dilations": [1] * 4, "groups": 1, "data_format": "NHWC"})
def convolution_2d_filter_gradient(x, filter_size, dy, strides, pads, dilations, groups, data_format, call):
    """dw = the sum of x * out_backprop over all that an element of the filter had a share in, along two dimensions"""
    return back_to_filter(x, filter_size, dy, Layout(2, data_format, strides, pads, dilations, groups, call, [0, 2]), call)
