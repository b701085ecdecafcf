"""Regions of images averaged into a few elements, upright and turned, and the gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from sampling import sampled, spread, taps_at
from spatial import must_be_finite, shape_of_result

ROUNDING = 2.0**-20


def samples_of(length, pooled, sampling_ratio):
    """Samples along one dimension of an element, as told or as many as it is long."""
    if sampling_ratio > 0:
        return sampling_ratio
    count = length / pooled
    if abs(count - round(count)) <= ROUNDING * max(count, 1.0) and round(count) > 0 and count != round(count):
        raise Mismatch("how many samples a region has hangs by a rounding")
    return int(np.ceil(count))


def region_taps(places, sizes, relative):
    """Taps of places that are held inside where they are at most one element outside, which others are, and where that hangs."""
    outside, hangs, taps = False, False, []
    for place, size in zip(places, sizes):
        error = (np.abs(place) + size) * ROUNDING
        outside = outside | (place < -1.0) | (place > size)
        hangs = hangs | (np.abs(place + 1.0) <= error) | (np.abs(place - size) <= error)
        taps.append(taps_at(place, size, "bilinear", "border", True, relative))
    return taps, outside, hangs


def offsets(pooled, samples):
    """Where samples lie in a region as fractions of its length: (pooled, samples)."""
    return (np.arange(pooled)[:, None] + (np.arange(samples) + 0.5) / samples) / pooled


def checked(rois, width, pooled, sampling_ratio, batches):
    must_be_finite(rois)
    if rois.ndim != 2 or rois.shape[1] != width or min(pooled) <= 0 or sampling_ratio < 0:
        raise Mismatch(f"regions of {list(rois.shape)} in {list(pooled)} with {sampling_ratio} samples")
    image = rois[:, 0]
    if np.any((image != np.trunc(image)) | (image < 0) | (image >= batches)):
        raise Mismatch(f"a region of no image of {batches}")


def upright_places(roi, spatial_scale, pooled, sampling_ratio, shift=0.0):
    left, top, right, bottom = roi[1:] * spatial_scale - shift
    lengths = bottom - top, right - left
    if min(lengths) < 1.0:
        raise Mismatch("regions of less than an element have no definition")
    rows, columns = (offsets(count, samples_of(length, count, sampling_ratio)) * length for count, length in zip(pooled, lengths))
    return np.meshgrid((top + rows).reshape(-1), (left + columns).reshape(-1), indexing="ij"), rows.shape[1], columns.shape[1]


def turned_places(roi, spatial_scale, pooled, sampling_ratio, aligned, clockwise):
    centre_x, centre_y, width, height = roi[1:5] * spatial_scale
    if aligned:
        centre_x, centre_y = centre_x - 0.5, centre_y - 0.5
    elif min(width, height) < 1.0:
        raise Mismatch("regions of less than an element have no definition")
    if min(width, height) <= 0:
        raise Mismatch("a region has no size")
    angle = -roi[5] if clockwise else roi[5]
    rows, columns = (offsets(count, samples_of(length, count, sampling_ratio)) * length - length / 2
                     for count, length in zip(pooled, (height, width)))
    down, across = np.meshgrid(rows.reshape(-1), columns.reshape(-1), indexing="ij")
    places = (down * np.cos(angle) - across * np.sin(angle) + centre_y, down * np.sin(angle) + across * np.cos(angle) + centre_x)
    return places, rows.shape[1], columns.shape[1]


def averaged(samples, pooled, high, wide):
    """The mean of the samples of each element."""
    return samples.reshape(samples.shape[:-2] + (pooled[0], high, pooled[1], wide)).mean(axis=(-3, -1))


def pooled_region(image, found, pooled, relative):
    places, high, wide = found
    sizes = image.shape[1:]
    taps, outside, hangs = region_taps(places, sizes, relative)
    values = image.reshape(len(image), -1)
    y = averaged(np.where(outside, 0.0, sampled(values, taps, sizes)), pooled, high, wide)
    size = averaged(np.where(outside, 0.0, sampled(np.abs(values), taps, sizes, "sizes")), pooled, high, wide)
    return y, size, np.broadcast_to(averaged(hangs.astype(float), pooled, high, wide) > 0, y.shape)


def together(results, channels_last=False):
    arrays = [np.stack(one) for one in zip(*results)]
    if channels_last:
        arrays = [np.moveaxis(one, 1, -1) for one in arrays]
    return Value(arrays[0], magnitude=arrays[1], steps=2, unspecified=arrays[2])


@define("RoiAlignV2", inputs="features rois", outputs="output", dtypes="float32",
        attributes={"pooled_height": REQUIRED, "pooled_width": REQUIRED, "spatial_scale": REQUIRED, "sampling_ratio": REQUIRED})
def region_means(features, rois, pooled_height, pooled_width, spatial_scale, sampling_ratio, call):
    """output = the mean of bilinear samples in each part of each region (image, x1, y1, x2, y2), times spatial_scale"""
    pooled = (pooled_height, pooled_width)
    checked(rois, 5, pooled, sampling_ratio, len(features))
    must_be_finite(features)
    relative = call["outputs"][0]["tolerance"]["relative"]
    return together([pooled_region(features[int(roi[0])], upright_places(roi, spatial_scale, pooled, sampling_ratio), pooled, relative)
                     for roi in rois])


def given_back(shape, grads, rois, found, relative):
    """Gradients of regions (channels first) given back to the elements that their samples are made of."""
    total = np.zeros((shape[0], shape[1], int(np.prod(shape[2:]))))
    terms, unknown = np.zeros(total.shape), np.zeros(total.shape, bool)
    for roi, dy, (places, high, wide) in zip(rois, grads, found):
        image = int(roi[0])
        taps, outside, hangs = region_taps(places, shape[2:], relative)
        shares = np.where(outside, 0.0, np.repeat(np.repeat(dy, high, axis=1), wide, axis=2) / (high * wide))
        total[image] += spread(shares, taps, shape[2:])
        terms[image] += spread(np.abs(shares), taps, shape[2:], "sizes")
        unknown[image] |= bool(np.any(hangs))
    return [one.reshape(shape) for one in (total, terms, unknown)]


@define("RoiAlignGrad", inputs="y_diff rois", outputs="x_diff", dtypes="float32",
        attributes={"xdiff_shape": REQUIRED, "pooled_width": REQUIRED, "pooled_height": REQUIRED, "spatial_scale": REQUIRED,
                    "sample_num": 2, "roi_end_mode": 1})
def region_gradient(grad, rois, xdiff_shape, pooled_width, pooled_height, spatial_scale, sample_num, roi_end_mode, call):
    """x_diff = y_diff given back to the elements that the samples of each region are made of, divided by how many samples there are"""
    pooled, shape = (pooled_height, pooled_width), [int(size) for size in xdiff_shape]
    if roi_end_mode not in (1, 2) or sample_num <= 0 or len(shape) != 4:
        raise Mismatch(f"the mode {roi_end_mode} with {sample_num} samples has no definition")
    checked(rois, 5, pooled, sample_num, shape[0])
    must_be_finite(grad)
    if grad.shape != (len(rois), shape[1], *pooled):
        raise Mismatch(f"gradients of {list(grad.shape)} for {len(rois)} regions")
    found = [upright_places(roi, spatial_scale, pooled, sample_num, 0.5 if roi_end_mode == 2 else 0.0) for roi in rois]
    total, terms, unknown = given_back(shape, grad, rois, found, call["outputs"][0]["tolerance"]["relative"])
    return Value(total, magnitude=terms, steps=2, unspecified=unknown)


TURNED = {"pooled_h": REQUIRED, "pooled_w": REQUIRED, "spatial_scale": REQUIRED, "sampling_ratio": 0, "aligned": True, "clockwise": False}


def channels_are_last(images, results, count, pooled):
    """Whether channels come last: where both would fit, nothing is said."""
    first = list(results) == [count, images[1], *pooled]
    last = list(results) == [count, *pooled, images[3]]
    if first == last:
        raise Mismatch(f"images of {list(images)} and regions of {list(results)} do not tell where channels are")
    return last


@define("RoiAlignRotated", inputs="x rois", outputs="y", dtypes="float32", attributes=TURNED)
def turned_region_means(x, rois, pooled_h, pooled_w, spatial_scale, sampling_ratio, aligned, clockwise, call):
    """y = the mean of bilinear samples in each part of each region (image, x, y, width, height, angle), times spatial_scale"""
    pooled = (pooled_h, pooled_w)
    checked(rois, 6, pooled, sampling_ratio, len(x))
    must_be_finite(x)
    last = channels_are_last(x.shape, shape_of_result(call), len(rois), pooled)
    images = np.moveaxis(x, -1, 1) if last else x
    relative = call["outputs"][0]["tolerance"]["relative"]
    places = [turned_places(roi, spatial_scale, pooled, sampling_ratio, aligned, clockwise) for roi in rois]
    return together([pooled_region(images[int(roi[0])], found, pooled, relative) for roi, found in zip(rois, places)], last)


@define("RoiAlignRotatedGrad", inputs="x_grad rois", outputs="y_grad", dtypes="float32", attributes={**TURNED, "y_grad_shape": REQUIRED})
def turned_region_gradient(grad, rois, pooled_h, pooled_w, spatial_scale, sampling_ratio, aligned, clockwise, y_grad_shape, call):
    """y_grad = x_grad given back to the elements that the samples of each region are made of, divided by how many samples there are"""
    pooled = (pooled_h, pooled_w)
    shape = shape_of_result(call)
    checked(rois, 6, pooled, sampling_ratio, shape[0])
    must_be_finite(grad)
    last = channels_are_last(shape, grad.shape, len(rois), pooled)
    if sorted(int(size) for size in y_grad_shape) != sorted(shape):
        raise Mismatch(f"y_grad_shape {y_grad_shape} for an output of {shape}")
    grads = np.moveaxis(grad, -1, 1) if last else grad
    places = [turned_places(roi, spatial_scale, pooled, sampling_ratio, aligned, clockwise) for roi in rois]
    images = [shape[0], shape[3], *shape[1:3]] if last else shape
    results = given_back(images, grads, rois, places, call["outputs"][0]["tolerance"]["relative"])
    if last:
        results = [np.moveaxis(one, 1, -1) for one in results]
    return Value(results[0], magnitude=results[1], steps=2, unspecified=results[2])
