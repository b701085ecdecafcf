"""Calls of images and pools for `make_known.py`: every output told element by element, in fractions."""

import itertools
import math
from fractions import Fraction as F

from calls import call, numbers, tensor

DTYPES = ("float16", "bfloat16", "float32")
HALF = F(1, 2)
# Thirds and sevenths are no binary numbers: in float64 a result may fall on the other side of the middle between two numbers of a dtype.
CLOSE = {"ulps": 1}


def product(sizes):
    return math.prod(sizes)


def nearest(exact):
    def taps(place, source, target):
        return {min(math.floor((place + (HALF if exact else 0)) * F(source, target)), source - 1): F(1)}

    return taps


def place_of(place, source, target, aligned, scale):
    if aligned:
        return place * F(source - 1, target - 1) if target > 1 else F(0)
    return (place + HALF) * (1 / F(scale) if scale else F(source, target)) - HALF


def linear(aligned=False, scales=None):
    def taps(place, source, target):
        at = max(place_of(place, source, target, aligned, (scales or {}).get(source)), F(0))
        low = min(math.floor(at), source - 1)
        found = {low: F(1)}
        if low + 1 < source:
            found = {low: low + 1 - at, low + 1: at - low}
        return found

    return taps


def convolved(distance):
    """The cubic convolution of Keys with a = -3/4."""
    a, d = F(-3, 4), abs(distance)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else F(0)


def cubic(aligned=False, scales=None):
    def taps(place, source, target):
        at = place_of(place, source, target, aligned, (scales or {}).get(source))
        found = {}
        for near in range(math.floor(at) - 1, math.floor(at) + 3):
            held = min(max(near, 0), source - 1)
            found[held] = found.get(held, 0) + convolved(at - near)
        return found

    return taps


def places(sizes):
    return itertools.product(*(range(size) for size in sizes))


def flat(place, sizes):
    index = 0
    for at, size in zip(place, sizes):
        index = index * size + at
    return index


def terms(taps, sources, targets):
    """Output place, input place and weight, each as an index, of all that is not zero."""
    for place in places(targets):
        rows = [taps(at, source, target).items() for at, source, target in zip(place, sources, targets)]
        for chosen in itertools.product(*rows):
            weight = F(1)
            for _, share in chosen:
                weight *= share
            yield flat(place, targets), flat([at for at, _ in chosen], sources), weight


def forward(values, count, taps, sources, targets):
    result = [F(0)] * (count * product(targets))
    for to, at, weight in terms(taps, sources, targets):
        for image in range(count):
            result[image * product(targets) + to] += weight * values[image * product(sources) + at]
    return result


def backward(values, count, taps, sources, targets):
    result = [F(0)] * (count * product(sources))
    for to, at, weight in terms(taps, sources, targets):
        for image in range(count):
            result[image * product(sources) + at] += weight * values[image * product(targets) + to]
    return result


def images(dtype):
    shapes = {1: ([5], [8]), 2: ([3, 5], [7, 4]), 3: ([3, 2, 5], [4, 3, 3])}

    def allowed(operator):
        return {} if "Nearest" in operator else CLOSE

    def x_of(sources):
        values = numbers(dtype, 2 * product(sources), -4, 4)
        return values, tensor(values, dtype, [1, 2, *sources])

    def resize(operator, taps, attributes, names=("x", "y"), count=2, sizes=None, more=None):
        sources, targets = sizes or shapes[count]
        values, x = x_of(sources)
        if operator == "UpsampleNearest":  # without a format it means channels last
            x["format"] = "NCHW"
        right = forward(values, 2, taps, sources, targets)
        call(operator, {names[0]: x, **(more or {})}, {names[1]: tensor(right, dtype, [1, 2, *targets], **allowed(operator))}, attributes)

    def gradient(operator, taps, attributes, output="grad_input", count=2, told=True):
        sources, targets = shapes[count]
        values, dy = x_of(targets)
        right = backward(values, 2, taps, sources, targets)
        sizes = {"output_size": targets, "input_size": [1, 2, *sources]} if told else {}
        dx = tensor(right, dtype, [1, 2, *sources], **allowed(operator))
        call(operator, {"grad_output": dy}, {output: dx}, {**sizes, **attributes})

    resize("UpsampleNearest", nearest(False), {"output_size": [7, 4], "scales_h": 0.0, "scales_w": 0.0, "exact_mode": False})
    resize("UpsampleNearest", nearest(True), {"output_size": [7, 4], "exact_mode": True})
    resize("UpsampleNearest", nearest(False), {"output_size": [6, 10], "scales_h": 2.0, "scales_w": 2.0}, sizes=([3, 5], [6, 10]))
    resize("UpsampleNearestExact2d", nearest(True), {"output_size": [7, 4]})
    resize("UpsampleNearest1d", nearest(False), {"output_size": [8]}, count=1)
    resize("UpsampleNearest3d", nearest(False), {"output_size": [4, 3, 3], "scale_d": 0.0}, count=3)
    resize("UpsampleNearestExact3d", nearest(True), {"output_size": [4, 3, 3]}, count=3)
    gradient("UpsampleNearest2dGrad", nearest(False), {"scales_h": 0.0, "scales_w": 0.0})
    gradient("UpsampleNearestExact2dGrad", nearest(True), {})
    gradient("UpsampleNearest3dGrad", nearest(False), {"scales": [0.0, 0.0, 0.0]}, "y", 3)
    gradient("UpsampleNearestExact3dGrad", nearest(True), {}, "y", 3)
    for aligned in (False, True):
        corners = {"align_corners": aligned}
        resize("UpsampleLinear1d", linear(aligned), corners, count=1, more={"size": tensor([8], "int32")})
        resize("UpsampleBilinear2d", linear(aligned), {**corners, "scales": []}, more={"size": tensor([7, 4], "int32")})
        gradient("UpsampleBilinear2dGrad", linear(aligned), corners)
        resize("ResizeUpsampleTrilinear", linear(aligned), {**corners, "output_size": [4, 3, 3]}, ("input", "output"), 3)
        gradient("UpsampleTrilinear3dBackward", linear(aligned), corners, count=3)
        resize("UpsampleBicubic2d", cubic(aligned), {**corners, "output_size": [7, 4]}, ("input", "output"))
        gradient("UpsampleBicubic2dGrad", cubic(aligned), {**corners, "scales_h": 0.0, "scales_w": 0.0}, told=False)
    # Scales that are not the quotients of the sizes count themselves: three are seven, and five are six.
    scales = {3: F(5, 2), 5: F(5, 4)}
    odd = ([3, 5], [7, 6])
    resize("UpsampleBilinear2d", linear(False, scales), {"align_corners": False, "scales": [2.5, 1.25]}, sizes=odd,
           more={"size": tensor([7, 6], "int32")})
    resize("UpsampleBicubic2d", cubic(False, scales), {"output_size": [7, 6], "scales_h": 2.5, "scales_w": 1.25}, ("input", "output"),
           sizes=odd)


def channels_last(values, count, sizes):
    """Values of channels one after the other as those of elements one after the other."""
    return [values[channel * product(sizes) + at] for at in range(product(sizes)) for channel in range(count)]


def bounds(place, kernel, stride, pad):
    start = place * stride - pad
    return start, start + kernel


def pools(dtype):
    sources, kernels, strides, pads = [4, 3, 5], [2, 3, 2], [2, 1, 3], [1, 1, 0]
    values = numbers(dtype, 2 * product(sources), -4, 4)

    def of(entries, shape, other=dtype):
        return tensor(entries, other, shape)

    def windows(targets, padded):
        """Each output's elements, and how many its window counts, padding but nothing beyond it among them."""
        for place in places(targets):
            inside, whole = [], 1
            for at, kernel, stride, pad, size in zip(place, kernels, strides, pads, sources):
                start, end = bounds(at, kernel, stride, pad)
                end = min(end, size + pad)
                inside.append(range(max(start, 0), min(end, size)))
                whole *= end - start if padded else len(inside[-1])
            yield [flat(one, sources) for one in itertools.product(*inside)], whole

    # 4 + 2 - 2 = 4 in steps of 2 are 3 windows, 3 + 2 - 3 = 2 are 3, 5 - 2 = 3 in steps of 3 are 2; up to 5 of width 2 need no more.
    targets = [3, 3, 2]
    for padded, override, last in ((True, 0, False), (False, 0, True), (True, 7, True)):
        attributes = {"ksize": kernels, "strides": strides, "pads": pads, "ceil_mode": False, "count_include_pad": padded,
                      "divisor_override": override, "data_format": "NDHWC" if last else "NCDHW"}
        dy = numbers(dtype, 2 * product(targets), -4, 4)
        right, slopes = [], [F(0)] * len(values)
        for channel in range(2):
            for index, (inside, whole) in enumerate(windows(targets, padded)):
                divisor = override or whole
                right.append(sum((values[channel * product(sources) + at] for at in inside), F(0)) / divisor)
                for at in inside:
                    slopes[channel * product(sources) + at] += dy[channel * product(targets) + index] / divisor
        if last:
            x, dx = (of(channels_last(one, 2, sources), [1, *sources, 2]) for one in (values, slopes))
            y, dy = (of(channels_last(one, 2, targets), [1, *targets, 2]) for one in (right, dy))
        else:
            x, dx = (of(one, [1, 2, *sources]) for one in (values, slopes))
            y, dy = (of(one, [1, 2, *targets]) for one in (right, dy))
        call("AvgPool3D", {"x": x}, {"y": {**y, **CLOSE}}, attributes)
        call("AvgPool3DGrad", {"orig_input_shape": tensor(x["shape"], "int32"), "grads": dy}, {"output": {**dx, **CLOSE}}, attributes)
    # Rounding up adds windows along the last dimension of a row of four: from 0, and from 3, which has one element.
    row = values[:4]
    call("AvgPool3D", {"x": of(row, [1, 1, 1, 1, 4])}, {"y": of([sum(row[:2]) / 2, row[3]], [1, 1, 1, 1, 2])},
         {"ksize": [1, 1, 2], "strides": [1, 1, 3], "pads": [0], "ceil_mode": True, "data_format": "NCDHW"})
    right, argmax = [], []
    for channel in range(2):
        for inside, _ in windows(targets, True):
            found = max(inside, key=lambda at, channel=channel: values[channel * product(sources) + at])
            right.append(values[channel * product(sources) + found])
            argmax.append(found)
    call("MaxPool3DWithArgmaxV2", {"x": of(values, [1, 2, *sources])},
         {"y": of(right, [1, 2, *targets]), "argmax": of(argmax, [1, 2, *targets], "int32")},
         {"ksize": kernels, "strides": strides, "pads": pads, "dilation": [1, 1, 1], "ceil_mode": False, "data_format": "NCDHW"})
    grads = numbers(dtype, len(right), -4, 4)
    returned = [F(0)] * len(values)
    for index, (grad, found) in enumerate(zip(grads, argmax)):
        returned[index // product(targets) * product(sources) + found] += grad
    call("MaxPool3DGradWithArgmax",
         {"x": of(values, [1, 2, *sources]), "grad": of(grads, [1, 2, *targets]), "argmax": of(argmax, [1, 2, *targets], "int32")},
         {"y": of(returned, [1, 2, *sources])}, {"ksize": kernels, "strides": strides, "pads": pads})
    # Every other element of a row of five, in steps of two.
    row = values[:5]
    found = [max((0, 2), key=lambda at: row[at]), max((2, 4), key=lambda at: row[at])]
    call("MaxPool3DWithArgmaxV2", {"x": of(row, [1, 1, 1, 1, 5])},
         {"y": of([row[at] for at in found], [1, 1, 1, 1, 2]), "argmax": of(found, [1, 1, 1, 1, 2], "int32")},
         {"ksize": [1, 1, 2], "strides": [1, 1, 2], "pads": [0, 0, 0], "dilation": [1, 1, 2]})


def adaptive(dtype):
    for count, sources, targets in ((2, [5, 7], [3, 4]), (3, [3, 5, 4], [2, 3, 5])):
        size, end = product(sources), product(targets)
        values, dy = numbers(dtype, 2 * size, -4, 4), numbers(dtype, 2 * end, -4, 4)
        means, largest, where, slopes = [], [], [], [F(0)] * (2 * size)
        for channel in range(2):
            for index, place in enumerate(places(targets)):
                rows = [range(math.floor(at * F(source, target)), math.ceil((at + 1) * F(source, target)))
                        for at, source, target in zip(place, sources, targets)]
                inside = [flat(one, sources) for one in itertools.product(*rows)]
                means.append(sum(values[channel * size + at] for at in inside) / len(inside))
                where.append(max(inside, key=lambda at, channel=channel: values[channel * size + at]))
                largest.append(values[channel * size + where[-1]])
                for at in inside:
                    slopes[channel * size + at] += dy[channel * end + index] / len(inside)
        x, y = [1, 2, *sources], [1, 2, *targets]
        call(f"AdaptiveAvgPool{count}d", {"x": tensor(values, dtype, x)}, {"y": tensor(means, dtype, y, **CLOSE)}, {"output_size": targets})
        call(f"AdaptiveMaxPool{count}d", {"x": tensor(values, dtype, x)},
             {"y": tensor(largest, dtype, y), "indices": tensor(where, "int32", y)}, {"output_size": targets})
        grad = tensor(dy, dtype, y)
        if count == 2:
            call("AdaptiveAvgPool2dGrad", {"input_grad": grad}, {"output_grad": tensor(slopes, dtype, x, **CLOSE)}, {"orig_input_shape": x})
            continue
        call("AdaptiveAvgPool3dGrad", {"y_grad": grad, "x": tensor(values, dtype, x)}, {"x_grad": tensor(slopes, dtype, x, **CLOSE)})
        returned = [F(0)] * len(values)
        for index, (value, found) in enumerate(zip(dy, where)):
            returned[index // end * size + found] += value
        call("AdaptiveMaxPool3DGrad", {"x": tensor(values, dtype, x), "grad": grad, "argmax": tensor(where, "int32", y)},
             {"y": tensor(returned, dtype, x)})
        y = tensor(channels_last(means, 2, targets), dtype, [1, *targets, 2], **CLOSE)
        call("AdaptiveAvgPool3d", {"x": tensor(channels_last(values, 2, sources), dtype, [1, *sources, 2])}, {"y": y},
             {"output_size": targets, "data_format": "NDHWC"})


def all_of():
    for dtype in DTYPES:
        images(dtype)
        pools(dtype)
        adaptive(dtype)
