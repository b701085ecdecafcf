"""Images and volumes in another size: nearest, linear and cubic, and the gradients, which are the transposes of the forward maps."""

import math
from fractions import Fraction

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from spatial import across, along, axes_of_space, must_be_finite

# Weights are rounded, and so is the place that they follow from, in single precision: one near zero may be off by more than it is.
LEAST_WEIGHT = 1.0 / 16.0
PLACE_ROUNDING = 2.0**-22


def checked_scales(scales, count):
    """Scales of each dimension; 0 where there is none."""
    scales = [float(np.float32(scale)) for scale in scales or []] or [0.0] * count
    if len(scales) != count or any(scale < 0 or not math.isfinite(scale) for scale in scales):
        raise Mismatch(f"the scales {scales} for {count} dimensions")
    return scales


def given_sizes(sizes, count):
    """Sizes of an attribute; `None` where it has none, or zeros."""
    sizes = [] if sizes is None else [int(size) for size in sizes]
    if not any(sizes):
        return None
    if len(sizes) != count:
        raise Mismatch(f"{len(sizes)} sizes for {count} dimensions")
    return sizes


def is_quotient(source, target, scale):
    """Whether a scale is that of the sizes, but for its rounding."""
    return abs(source * scale - target) <= 1e-6 * target


def ratio_of(source, target, scale, align_corners):
    """How far apart in the source neighbours of the target are. A scale that is not the quotient of sizes counts itself."""
    if align_corners:
        return (source - 1) / (target - 1) if target > 1 else 0.0
    if scale == 0 or is_quotient(source, target, scale):
        return source / target
    if math.floor(source * scale) != target:
        raise Mismatch(f"a scale of {scale} does not make {target} of {source}")
    return 1.0 / scale


def nearest_places(source, target, scale, exact):
    """The element of the source that each of the target is, and which it is in single precision.

    A quotient that is whole as a fraction may be just below that when rounded; the interface does not say which of the two counts.
    """
    if scale != 0 and not is_quotient(source, target, scale):
        raise Mismatch(f"a scale of {scale} for {source} to {target}")
    half = Fraction(1, 2) if exact else Fraction(0)
    places = np.array([min(math.floor((place + half) * Fraction(source, target)), source - 1) for place in range(target)], np.int64)
    ratios = [np.float32(source) / np.float32(target)] + ([np.float32(1) / np.float32(scale)] if scale != 0 else [])
    centres = np.arange(target, dtype=np.float32) + np.float32(half)
    rounded = [np.minimum(np.floor(centres * ratio).astype(np.int64), source - 1) for ratio in ratios]
    return places, rounded


def hanging(places, rounded):
    """Where a place hangs by a rounding."""
    return np.any([places != one for one in rounded], axis=0)


def linear_weights(source, target, scale, align_corners, relative):
    """Weights (target, source) of the two elements that a place lies between, and their sizes."""
    ratio = ratio_of(source, target, scale, align_corners)
    places = np.arange(target) * ratio if align_corners else np.maximum((np.arange(target) + 0.5) * ratio - 0.5, 0.0)
    low = np.minimum(np.floor(places).astype(np.int64), source - 1)
    share = np.clip(places - low, 0.0, 1.0)
    return weights_at(source, places, [(low, 1.0 - share), (low + 1, share)], relative)


def cubic_weights(source, target, scale, align_corners, relative):
    """Weights (target, source) of the four elements around a place, by the cubic convolution with a = -0.75, and their sizes."""
    ratio = ratio_of(source, target, scale, align_corners)
    places = np.arange(target) * ratio if align_corners else (np.arange(target) + 0.5) * ratio - 0.5
    low = np.floor(places).astype(np.int64)
    taps = [(low + step, cubic(np.abs(places - low - step))) for step in (-1, 0, 1, 2)]
    return weights_at(source, places, taps, relative)


def cubic(distance):
    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def weights_at(source, places, taps, relative):
    """A matrix of weights, and one of their sizes, in units of which they are precise to the relative tolerance.

    Elements beyond the ends are those at the ends.
    """
    target = len(places)
    slip = np.abs(places) * PLACE_ROUNDING / relative if relative > 0 else np.zeros(target)
    weights, sizes = np.zeros((target, source)), np.zeros((target, source))
    for elements, shares in taps:
        at = (np.arange(target), np.clip(elements, 0, source - 1))
        np.add.at(weights, at, shares)
        np.add.at(sizes, at, np.maximum(np.abs(shares), LEAST_WEIGHT) + slip)
    return weights, sizes


def nearest(x, count, output_size, scales, exact, call, otherwise=("first",)):
    axes, ends = axes_of_space(x, count, call, given_sizes(output_size, count), otherwise=otherwise)
    scales = checked_scales(scales, count)
    y, open_places = x, []
    for axis, end, scale in zip(axes, ends, scales):
        places, rounded = nearest_places(x.shape[axis], end, scale, exact)
        y = np.take(y, places, axis)
        open_places.append(hanging(places, rounded))
    unspecified = np.zeros(y.shape, bool)
    for hangs in across(open_places, axes, x.ndim):
        unspecified |= hangs
    return Value(y, exact=True, unspecified=unspecified)


def sizes_of_gradient(dy, count, input_size, output_size, call):
    """Dimensions of space and the sizes that the forward map had; attributes must say the same."""
    axes, ends = axes_of_space(dy, count, call)
    whole = [int(size) for size in input_size or []]
    if whole and whole not in (list(ends), list(dy.shape[:2]) + list(ends)):
        raise Mismatch(f"input_size {whole} for an output of {list(ends)}")
    if given_sizes(output_size, count) not in (None, [dy.shape[axis] for axis in axes]):
        raise Mismatch(f"output_size {output_size} for gradients of {list(dy.shape)}")
    return axes, ends


def nearest_gradient(dy, count, input_size, output_size, scales, exact, call):
    must_be_finite(dy)
    axes, ends = sizes_of_gradient(dy, count, input_size, output_size, call)
    matrices, open_places = [], []
    for axis, source, scale in zip(axes, ends, checked_scales(scales, count)):
        target = dy.shape[axis]
        places, rounded = nearest_places(source, target, scale, exact)
        matrices.append((places == np.arange(source)[:, None]).astype(float))
        # What hangs by a rounding goes to one of several places, and none of these is certain.
        touched = np.zeros(source, bool)
        hangs = hanging(places, rounded)
        for one in (places, *rounded):
            touched[one[hangs]] = True
        open_places.append(touched)
    unspecified = np.zeros([dict(zip(axes, ends)).get(axis, size) for axis, size in enumerate(dy.shape)], bool)
    for touched in across(open_places, axes, dy.ndim):
        unspecified |= touched
    return Value(along(dy, axes, matrices), magnitude=along(np.abs(dy), axes, matrices), unspecified=unspecified)


def resized(x, count, weights_of, output_size, scales, align_corners, call):
    must_be_finite(x)
    axes, ends = axes_of_space(x, count, call, given_sizes(output_size, count))
    sizes = [(x.shape[axis], end, scale) for axis, end, scale in zip(axes, ends, checked_scales(scales, count))]
    relative = call["outputs"][0]["tolerance"]["relative"]
    pairs = [weights_of(*one, align_corners, relative) for one in sizes]
    return Value(along(x, axes, [weights for weights, _ in pairs]), magnitude=along(np.abs(x), axes, [size for _, size in pairs]), steps=2)


def resized_gradient(dy, count, weights_of, input_size, output_size, scales, align_corners, call):
    must_be_finite(dy)
    axes, ends = sizes_of_gradient(dy, count, input_size, output_size, call)
    sizes = [(source, dy.shape[axis], scale) for axis, source, scale in zip(axes, ends, checked_scales(scales, count))]
    relative = call["outputs"][0]["tolerance"]["relative"]
    pairs = [weights_of(*one, align_corners, relative) for one in sizes]
    dx = along(dy, axes, [weights.T for weights, _ in pairs])
    return Value(dx, magnitude=along(np.abs(dy), axes, [size.T for _, size in pairs]), steps=2)


@define("UpsampleNearest", "UpsampleNearest2d", inputs="x", outputs="y", dtypes="float uint8",
        attributes={"output_size": REQUIRED, "scales_h": 0.0, "scales_w": 0.0, "exact_mode": False})
def nearest_2d(x, output_size, scales_h, scales_w, exact_mode, call):
    """y[i] = x[floor(i * in / out)] along both dimensions, x[floor((i + 0.5) * in / out)] with exact_mode"""
    # Kernels take channels last: their interface transposes what has them first.
    return nearest(x, 2, output_size, [scales_h, scales_w], exact_mode, call, ("last",))


@define("UpsampleNearestExact2d", inputs="x", outputs="y", dtypes="float uint8",
        attributes={"output_size": REQUIRED, "scales_h": 0.0, "scales_w": 0.0})
def nearest_exact_2d(x, output_size, scales_h, scales_w, call):
    """y[i] = x[floor((i + 0.5) * in / out)] along both dimensions"""
    return nearest(x, 2, output_size, [scales_h, scales_w], True, call, ("first", "last"))


@define("UpsampleNearest1d", inputs="x", outputs="y", dtypes="float uint8", attributes={"output_size": REQUIRED, "scales": 0.0})
def nearest_1d(x, output_size, scales, call):
    """y[i] = x[floor(i * in / out)]"""
    return nearest(x, 1, output_size, [scales], False, call)


@define("UpsampleNearest3d", inputs="x", outputs="y",
        attributes={"output_size": [], "scale_d|scales_d": 0.0, "scale_h|scales_h": 0.0, "scale_w|scales_w": 0.0})
def nearest_3d(x, output_size, scale_d, scale_h, scale_w, call):
    """y[i] = x[floor(i * in / out)] along three dimensions"""
    return nearest(x, 3, output_size, [scale_d, scale_h, scale_w], False, call)


@define("UpsampleNearestExact3d", inputs="x", outputs="y",
        attributes={"output_size": [], "scale_d|scales_d": 0.0, "scale_h|scales_h": 0.0, "scale_w|scales_w": 0.0})
def nearest_exact_3d(x, output_size, scale_d, scale_h, scale_w, call):
    """y[i] = x[floor((i + 0.5) * in / out)] along three dimensions"""
    return nearest(x, 3, output_size, [scale_d, scale_h, scale_w], True, call)


@define("UpsampleNearest2dGrad", inputs="grad_output", outputs="grad_input",
        attributes={"output_size": REQUIRED, "input_size": REQUIRED, "scales_h": 0.0, "scales_w": 0.0})
def nearest_2d_gradient(dy, output_size, input_size, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] over all i with j = floor(i * in / out), along both dimensions"""
    return nearest_gradient(dy, 2, input_size, output_size, [scales_h, scales_w], False, call)


@define("UpsampleNearestExact2dGrad", inputs="grad_output", outputs="grad_input",
        attributes={"output_size": REQUIRED, "input_size": REQUIRED, "scales_h": 0.0, "scales_w": 0.0})
def nearest_exact_2d_gradient(dy, output_size, input_size, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] over all i with j = floor((i + 0.5) * in / out), along both dimensions"""
    return nearest_gradient(dy, 2, input_size, output_size, [scales_h, scales_w], True, call)


@define("UpsampleNearest3dGrad", inputs="grad_output", outputs="y",
        attributes={"input_size": REQUIRED, "output_size": [0, 0, 0], "scales": [0.0, 0.0, 0.0]})
def nearest_3d_gradient(dy, input_size, output_size, scales, call):
    """dx[j] = the sum of dy[i] over all i with j = floor(i * in / out), along three dimensions"""
    return nearest_gradient(dy, 3, input_size, output_size, scales, False, call)


@define("UpsampleNearestExact3dGrad", inputs="grad_output", outputs="y",
        attributes={"input_size": REQUIRED, "output_size": [0, 0, 0], "scales": [0.0, 0.0, 0.0]})
def nearest_exact_3d_gradient(dy, input_size, output_size, scales, call):
    """dx[j] = the sum of dy[i] over all i with j = floor((i + 0.5) * in / out), along three dimensions"""
    return nearest_gradient(dy, 3, input_size, output_size, scales, True, call)


@define("UpsampleLinear1d", inputs="x size:index", outputs="y", attributes={"align_corners": False, "scale|scales": 0.0})
def linear_1d(x, size, align_corners, scale, call):
    """y[i] = x between the two elements next to (i + 0.5) * in / out - 0.5, or to i * (in - 1) / (out - 1) with align_corners"""
    return resized(x, 1, linear_weights, size.reshape(-1), [scale], align_corners, call)


@define("UpsampleBilinear2d", inputs="x size:index", outputs="y", attributes={"align_corners": False, "scales": []})
def bilinear_2d(x, size, align_corners, scales, call):
    """y[i] = x between the elements next to (i + 0.5) * in / out - 0.5, or to i * (in - 1) / (out - 1) with align_corners, along both"""
    return resized(x, 2, linear_weights, size.reshape(-1), scales, align_corners, call)


@define("UpsampleBilinear2dGrad", inputs="grad_output", outputs="grad_input",
        attributes={"output_size": REQUIRED, "input_size": REQUIRED, "align_corners": False, "scales_h": 0.0, "scales_w": 0.0})
def bilinear_2d_gradient(dy, output_size, input_size, align_corners, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] times the weight that x[j] has in y[i] of the bilinear map"""
    return resized_gradient(dy, 2, linear_weights, input_size, output_size, [scales_h, scales_w], align_corners, call)


@define("ResizeUpsampleTrilinear", "UpsampleTrilinear3d", inputs="input|x", outputs="output|y",
        attributes={"output_size": [], "align_corners": False, "scales_d|scale_d": 0.0, "scales_h|scale_h": 0.0, "scales_w|scale_w": 0.0})
def trilinear_3d(x, output_size, align_corners, scales_d, scales_h, scales_w, call):
    """y[i] = x between the elements next to (i + 0.5) * in / out - 0.5, or to i * (in - 1) / (out - 1) with align_corners, along three"""
    return resized(x, 3, linear_weights, output_size, [scales_d, scales_h, scales_w], align_corners, call)


@define("UpsampleTrilinear3dBackward", "UpsampleTrilinear3dGrad", inputs="grad_output", outputs="grad_input",
        attributes={"output_size": REQUIRED, "input_size": REQUIRED, "align_corners": False,
                    "scale_d|scales_d": 0.0, "scale_h|scales_h": 0.0, "scale_w|scales_w": 0.0})
def trilinear_3d_gradient(dy, output_size, input_size, align_corners, scale_d, scale_h, scale_w, call):
    """dx[j] = the sum of dy[i] times the weight that x[j] has in y[i] of the trilinear map"""
    return resized_gradient(dy, 3, linear_weights, input_size, output_size, [scale_d, scale_h, scale_w], align_corners, call)


@define("UpsampleBicubic2d", inputs="input", outputs="output",
        attributes={"output_size": REQUIRED, "align_corners": False, "scales_h": 0.0, "scales_w": 0.0})
def bicubic_2d(x, output_size, align_corners, scales_h, scales_w, call):
    """y[i] = the cubic convolution (a = -0.75) of the four elements of x around (i + 0.5) * in / out - 0.5, along both dimensions"""
    return resized(x, 2, cubic_weights, output_size, [scales_h, scales_w], align_corners, call)


@define("UpsampleBicubic2dGrad", inputs="grad_output", outputs="grad_input",
        attributes={"output_size": [], "input_size": [], "align_corners": False, "scales_h": 0.0, "scales_w": 0.0})
def bicubic_2d_gradient(dy, output_size, input_size, align_corners, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] times the weight that x[j] has in y[i] of the bicubic map"""
    return resized_gradient(dy, 2, cubic_weights, input_size, output_size, [scales_h, scales_w], align_corners, call)
