"""Images sampled by grids, boxes and regions of images, and the gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from sampling import known_mode, sampled, spread, taps_at
from spatial import must_be_finite


def grid_taps(grid, sizes, mode, padding, aligned, relative):
    """Taps along each dimension of the places that one image's grid says, whose last axis is in the order x, y, z."""
    taps = []
    for axis, size in enumerate(sizes):
        along = grid[..., len(sizes) - 1 - axis]
        places = (along + 1) / 2 * (size - 1) if aligned else ((along + 1) * size - 1) / 2
        taps.append(taps_at(places, size, mode, padding, aligned, relative))
    return taps


def any_of(marks):
    return np.any(list(marks), axis=0)


@define("GridSample", inputs="x grid", outputs="y", ignored="scheduler_mode",
        attributes={"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False, "channel_last": False})
def grid_sample(x, grid, interpolation_mode, padding_mode, align_corners, channel_last, call):
    """y = x at the places that grid says, from -1 at one end of the image to 1 at the other"""
    count = x.ndim - 2
    known_mode(interpolation_mode, padding_mode, count)
    must_be_finite(x, grid)
    if count not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != count or len(grid) != len(x):
        raise Mismatch(f"an input of {list(x.shape)} and a grid of {list(grid.shape)}")
    if channel_last and count == 3:
        raise Mismatch("volumes with channels last have no definition")
    images = np.moveaxis(x, -1, 1) if channel_last else x
    sizes = images.shape[2:]
    relative = call["outputs"][0]["tolerance"]["relative"]
    y, size, unknown = [], [], []
    for image, places in zip(images.reshape(images.shape[:2] + (-1,)), grid):
        taps = grid_taps(places, sizes, interpolation_mode, padding_mode, align_corners, relative)
        y.append(sampled(image, taps, sizes))
        size.append(sampled(np.abs(image), taps, sizes, "sizes"))
        unknown.append(np.broadcast_to(any_of(one.hangs for one in taps), y[-1].shape))
    return Value(np.stack(y), magnitude=np.stack(size), steps=2, unspecified=np.stack(unknown))


def channels_of(x, grad, grid):
    """Whether channels come first: where both would fit, nothing is said."""
    ends = grid.shape[1:-1]
    first = grad.shape == x.shape[:2] + ends
    last = grad.shape == x.shape[:1] + ends + x.shape[-1:]
    if first == last:
        raise Mismatch(f"gradients of {list(grad.shape)} for {list(x.shape)} do not tell where channels are")
    return first


def grid_sample_gradient(grad, x, grid, mode, padding, aligned, count, call):
    known_mode(mode, padding, count)
    must_be_finite(grad, x, grid)
    if x.ndim != count + 2 or grid.ndim != x.ndim or grid.shape[-1] != count or len(grid) != len(x):
        raise Mismatch(f"an input of {list(x.shape)} and a grid of {list(grid.shape)}")
    first = channels_of(x, grad, grid)
    images, grads = (one if first else np.moveaxis(one, -1, 1) for one in (x, grad))
    sizes = images.shape[2:]
    relative = call["outputs"][0]["tolerance"]["relative"]
    parts = {name: [] for name in ("dx", "size", "open", "dgrid", "terms", "turns")}
    for image, dy, places in zip(images.reshape(images.shape[:2] + (-1,)), grads, grid):
        taps = grid_taps(places, sizes, mode, padding, aligned, relative)
        parts["dx"].append(spread(dy, taps, sizes))
        parts["size"].append(spread(np.abs(dy), taps, sizes, "sizes"))
        hangs = any_of(one.hangs for one in taps)
        parts["open"].append(np.full(parts["dx"][-1].shape, bool(np.any(hangs))))
        slopes, terms = [], []
        # The grid has x first, which is the last dimension of the image.
        for axis in reversed(range(count)):
            factor = (sizes[axis] - 1) / 2 if aligned else sizes[axis] / 2
            slopes.append(factor * (dy * sampled(image, taps, sizes, along=axis)).sum(axis=0))
            largest = np.abs(image).max(axis=1).reshape((-1,) + (1,) * dy.ndim)[:, 0]
            terms.append(factor * (np.abs(dy) * largest).sum(axis=0) * (0.0 if mode == "nearest" else 4.0))
        parts["dgrid"].append(np.stack(slopes, axis=-1))
        parts["terms"].append(np.stack(terms, axis=-1))
        turned = any_of(one.turns | one.hangs for one in taps)
        parts["turns"].append(np.broadcast_to(turned[..., None], parts["dgrid"][-1].shape))
    parts = {name: np.stack(one) for name, one in parts.items()}
    if mode == "nearest":
        parts["turns"] = None
    for name in ("dx", "size", "open"):
        whole = parts[name].reshape(images.shape)
        parts[name] = whole if first else np.moveaxis(whole, 1, -1)
    return (Value(parts["dx"], magnitude=parts["size"], steps=2, unspecified=parts["open"]),
            Value(parts["dgrid"], magnitude=parts["terms"], steps=2, unspecified=parts["turns"]))


GRID = {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False}


@define("GridSampler2DGrad", inputs="grad x grid", outputs="dx dgrid", attributes=GRID)
def grid_sample_2d_gradient(grad, x, grid, interpolation_mode, padding_mode, align_corners, call):
    """dx = grad given back to the elements that each place of grid is made of; dgrid = the slope of the sum of grad * y"""
    return grid_sample_gradient(grad, x, grid, interpolation_mode, padding_mode, align_corners, 2, call)


@define("GridSampler3DGrad", inputs="grad x grid", outputs="dx dgrid", attributes=GRID)
def grid_sample_3d_gradient(grad, x, grid, interpolation_mode, padding_mode, align_corners, call):
    """dx = grad given back to the elements that each place of grid is made of; dgrid = the slope of the sum of grad * y"""
    return grid_sample_gradient(grad, x, grid, interpolation_mode, padding_mode, align_corners, 3, call)


@define("ThreeInterpolate", inputs="features idx~:index weight", outputs="y")
def three_interpolate(features, idx, weight):
    """y[b, n, c] = the sum of weight[b, n, k] * features[b, idx[b, n, k], c] over three k"""
    if features.ndim != 3 or idx.shape != weight.shape or idx.ndim != 3 or idx.shape[2] != 3 or len(idx) != len(features):
        raise Mismatch(f"features of {list(features.shape)}, indices of {list(idx.shape)} and weights of {list(weight.shape)}")
    if np.any((idx < 0) | (idx >= features.shape[1])):
        raise Mismatch(f"an index is not below {features.shape[1]}")
    terms = features[np.arange(len(idx))[:, None, None], idx] * weight[..., None]
    return Value(terms.sum(axis=2), magnitude=np.abs(terms).sum(axis=2), steps=2)


@define("ThreeInterpolateBackward", inputs="grad_x idx~:index weight", outputs="grad_y", attributes={"m": REQUIRED})
def three_interpolate_gradient(grad, idx, weight, m):
    """grad_y[b, c, idx[b, n, i]] = the sum of grad_x[b, c, n] * weight[b, n, i] over n and i"""
    if grad.ndim != 3 or idx.shape != weight.shape or idx.shape != (len(grad), grad.shape[2], 3):
        raise Mismatch(f"gradients of {list(grad.shape)}, indices of {list(idx.shape)} and weights of {list(weight.shape)}")
    if np.any((idx < 0) | (idx >= m)):
        raise Mismatch(f"an index is not below {m}")
    terms = grad[..., None] * weight[:, None]
    total, size = np.zeros(grad.shape[:2] + (m,)), np.zeros(grad.shape[:2] + (m,))
    batches, channels = np.ogrid[:grad.shape[0], :grad.shape[1]]
    at = (batches[..., None, None], channels[..., None, None], idx[:, None])
    np.add.at(total, at, terms)
    np.add.at(size, at, np.abs(terms))
    return Value(total, magnitude=size, steps=2)


@define("StackGroupPoints", inputs="features features_batch_cnt:int32 indices:int32 indices_batch_cnt:int32", outputs="y|out")
def grouped_points(features, features_batch_cnt, indices, indices_batch_cnt):
    """y[m, c, k] = features[the first of m's batch + indices[m, k], c]"""
    counts, groups = features_batch_cnt.reshape(-1), indices_batch_cnt.reshape(-1)
    if len(counts) != len(groups) or counts.sum() != len(features) or groups.sum() != len(indices):
        raise Mismatch(f"batches of {counts.tolist()} and {groups.tolist()} for {len(features)} and {len(indices)}")
    bounds = np.repeat(counts, groups)[:, None]
    if np.any((indices < 0) | (indices >= bounds)):
        raise Mismatch("an index is not in its batch")
    starts = np.repeat(np.cumsum(counts) - counts, groups)[:, None]
    return Value(np.moveaxis(features[starts + indices], -1, 1), exact=True)


@define("BlendFaceBgPartTwo", inputs="acc_face acc_mask max_mask bg_img~", outputs="fused_img", dtypes="float32",
        attributes={"epsilon": 1e-12})
def blended_face(acc_face, acc_mask, max_mask, bg_img, epsilon):
    """fused_img = acc_face / (acc_mask + epsilon) * max_mask + bg_img * (1 - max_mask)"""
    face = acc_face / (acc_mask + epsilon) * max_mask
    behind = bg_img * (1 - max_mask)
    size = np.abs(face) * (np.abs(acc_mask) + epsilon) / np.abs(acc_mask + epsilon) + np.abs(bg_img) * (1 + np.abs(max_mask))
    return Value(face + behind, magnitude=size, steps=2)


def boxes_of(boxes):
    return [boxes[:, at] for at in range(4)]


@define("NMSWithMask", inputs="x1 x2", outputs="y:uint8", dtypes="float32", attributes={"iou_threshold": 0.1, "scores_threshold": 0.1})
def suppressed_boxes(x1, x2, iou_threshold, scores_threshold):
    """y = 1 for each box, the best first, that scores enough and shares at most iou_threshold of its area with every one kept before"""
    boxes, scores = x1.reshape(-1, 4), x2.reshape(-1)
    must_be_finite(boxes, scores)
    left, top, right, bottom = boxes_of(boxes)
    if len(boxes) != len(scores) or np.any(np.diff(scores) > 0) or np.any((right <= left) | (bottom <= top)):
        raise Mismatch("boxes must be sorted by falling scores and have an area")
    area = (right - left) * (bottom - top)
    kept = np.zeros(len(boxes), np.int64)
    open_boxes = np.ones(len(boxes), bool)
    for box in range(len(boxes)):
        if scores[box] == scores_threshold:
            raise Mismatch("a score is the threshold itself")
        if not open_boxes[box] or scores[box] < scores_threshold:
            continue
        kept[box] = 1
        wide = np.maximum(np.minimum(right, right[box]) - np.maximum(left, left[box]), 0.0)
        high = np.maximum(np.minimum(bottom, bottom[box]) - np.maximum(top, top[box]), 0.0)
        share = wide * high / (area + area[box] - wide * high)
        if np.any(np.abs(share - iou_threshold)[box + 1:] <= 1e-4 * (iou_threshold + 1e-3)):
            raise Mismatch("an overlap is so near to the threshold that a rounding decides")
        open_boxes &= share <= iou_threshold
    return Value(kept, exact=True)


@define("IouV2", inputs="bboxes gtboxes", outputs="overlap", attributes={"mode": "iou", "eps": 1.0, "aligned": False})
def overlaps(bboxes, gtboxes, mode, eps, aligned, call):
    """overlap = the common area of two boxes by that of both, or with iof by that of the second; eps is as good as none"""
    if mode not in ("iou", "iof"):
        raise Mismatch(f"the mode {mode} has no definition")
    must_be_finite(bboxes, gtboxes)
    pair = [boxes.T if aligned and boxes.ndim == 2 and len(boxes) == 4 else boxes for boxes in (bboxes, gtboxes)]
    if any(boxes.ndim != 2 or boxes.shape[1] != 4 for boxes in pair) or aligned and len(pair[0]) != len(pair[1]):
        raise Mismatch(f"boxes of {list(bboxes.shape)} and {list(gtboxes.shape)}")
    one, other = boxes_of(pair[0]), boxes_of(pair[1])
    if not aligned:
        one, other = [side[None, :] for side in one], [side[:, None] for side in other]
    wide = np.minimum(one[2], other[2]) - np.maximum(one[0], other[0])
    high = np.minimum(one[3], other[3]) - np.maximum(one[1], other[1])
    common = np.maximum(wide, 0.0) * np.maximum(high, 0.0)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    if any(np.any(area <= 0) for area in areas):
        raise Mismatch("a box has no area")
    whole = areas[0] + areas[1] - common if mode == "iou" else areas[1] + 0 * common
    # Sides are differences, of which large coordinates leave little.
    reach = np.max(np.abs(one), axis=0) + np.max(np.abs(other), axis=0)
    sides = np.minimum(np.minimum(one[2] - one[0], other[2] - other[0]), np.minimum(one[3] - one[1], other[3] - other[1]))
    # How eps counts for what boxes have in common is not said: one that matters has no definition, and others are left their effect.
    if eps < 0 or np.any(eps > 1e-3 * sides):
        raise Mismatch(f"an eps of {eps} for boxes with sides of {np.min(sides)}")
    y, size = common / whole, reach / sides + 8.0 * eps / sides / max(call["outputs"][0]["tolerance"]["relative"], 1e-7)
    return Value(y[:, None] if aligned else y, magnitude=size[:, None] if aligned else size, steps=2)
