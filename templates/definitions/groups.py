"""Counts and sums by group, sums of segments, distances between rows, and their gradients."""

import numpy as np

from core import Mismatch, Value, define


@define("Bincount", inputs="array:int size:index weights~?", outputs="bins~")
def count_values(array, size, weights, call):
    """bins[k] = how often k is in array, or the sum of the weights of its elements"""
    shape = call["outputs"][0]["shape"]
    length = int(size.reshape(-1)[0]) if shape is None else int(np.prod(shape))
    values = array.reshape(-1)
    if np.any((values < 0) | (values >= length)):
        raise Mismatch("a value has no bin")
    if weights is None:
        return Value(np.bincount(values, minlength=length), exact=True)
    if weights.size != values.size:
        raise Mismatch("a weight for each element is needed")
    total, magnitude = np.zeros((2, length))
    np.add.at(total, values, weights.reshape(-1))
    np.add.at(magnitude, values, np.abs(weights.reshape(-1).astype(np.float64)))
    return Value(total, magnitude=magnitude)


@define("HistogramV2", inputs="x min max", outputs="y:int32", dtypes="float signed uint8", attributes={"bins": 100}, ignored="y_dtype")
def histogram(x, low, high, bins):
    """y = how many elements are in each of bins parts of [min, max], or of all that x has where both are 0"""
    low, high = float(low.reshape(-1)[0]), float(high.reshape(-1)[0])
    values = x.reshape(-1).astype(np.float64)
    if low == high == 0 and values.size:
        low, high = float(values.min()), float(values.max())
    if not (np.all(np.isfinite(values)) and np.isfinite(low) and np.isfinite(high) and low < high and bins > 0):
        raise Mismatch(f"{bins} parts of {low} to {high}")
    if x.dtype.kind != "f" and max(abs(low), abs(high)) > 2**24:
        raise Mismatch("what single precision makes of such numbers is not defined")
    values = values[(values >= low) & (values <= high)]
    places = (values - low) * bins / (high - low)
    counts = np.bincount(np.minimum(np.floor(places).astype(np.int64), bins - 1), minlength=bins)
    # Which part an element at an inner edge is in hangs by a rounding, unless the edges have none.
    edges = np.rint(places)
    near = (np.abs(places - edges) <= 1e-5 * bins) & (edges > 0) & (edges < bins)
    width = (high - low) / bins
    exact = np.frexp(width)[0] == 0.5 and np.all(places[near] == edges[near])
    slack = np.zeros(bins)
    if not exact:
        edge = edges[near].astype(np.int64)
        np.add.at(slack, edge, 1.0)
        np.add.at(slack, edge - 1, 1.0)
    return Value(counts, slack=slack) if np.any(slack) else Value(counts, exact=True)


@define("GroupedBiasAddGrad", inputs="grad_y group_idx~:index?", outputs="grad_bias", attributes={"group_idx_type": 0})
def grouped_bias_gradient(grad, group_idx, group_idx_type):
    """grad_bias[g] = the sum of the rows of grad_y in group g: those up to group_idx[g], or as many as it says for the type 1"""
    if group_idx is None:
        if grad.ndim != 3:
            raise Mismatch(f"{grad.ndim} dimensions without groups")
        return Value(grad.sum(axis=1), magnitude=np.abs(grad).sum(axis=1))
    if grad.ndim != 2 or group_idx_type not in (0, 1):
        raise Mismatch(f"groups of the type {group_idx_type} in {grad.ndim} dimensions")
    ends = group_idx.reshape(-1) if group_idx_type == 0 else np.cumsum(group_idx.reshape(-1))
    starts = np.concatenate([[0], ends[:-1]])
    if np.any(starts > ends) or not len(ends) or ends[-1] != len(grad):
        raise Mismatch("groups that do not end with the last row")
    rows = [grad[int(start) : int(end)] for start, end in zip(starts, ends)]
    total = np.stack([one.sum(axis=0) for one in rows])
    return Value(total, magnitude=np.stack([np.abs(one).sum(axis=0) for one in rows]))


def below(length, diagonal):
    """Places of a square matrix at or below a diagonal."""
    return np.tril(np.ones((length, length), bool), diagonal)


@define("Segsum", inputs="x", outputs="y")
def segment_sums(x):
    """y[i, j] = exp of the sum of x[j + 1] to x[i] for i >= j, else 0"""
    length = x.shape[-1]
    terms = np.where(below(length, -1), x[..., :, None], 0.0)
    sums, size = np.cumsum(terms, axis=-2), np.cumsum(np.abs(terms), axis=-2)
    kept = below(length, 0)
    result = np.where(kept, np.exp(sums), 0.0)
    return Value(result, magnitude=np.where(np.isfinite(result * size), result * size, 0.0), steps=2)


@define("ExpSegsumGrad", inputs="grad_output grad_self", outputs="grad_input")
def segment_sums_gradient(grad, y):
    """grad_input[k] = the sum of grad_output * grad_self over all i >= k and j < k"""
    if grad.shape != y.shape or grad.ndim < 2 or grad.shape[-1] != grad.shape[-2]:
        raise Mismatch("matrices that are not square")
    length = grad.shape[-1]

    def summed(terms):
        kept = np.where(below(length, -1), terms, 0.0)
        from_end = np.cumsum(kept[..., ::-1, :], axis=-2)[..., ::-1, :]
        return np.where(below(length, -1), from_end, 0.0).sum(axis=-1)

    return Value(summed(grad * y), magnitude=summed(np.abs(grad * y)), steps=2)


@define("Pdist", inputs="x", outputs="y", attributes={"p": 2.0})
def pair_distances(x, p):
    """y = (the sum of |x[i] - x[j]| ^ p) ^ (1 / p) for all pairs i < j of rows; how many elements differ for p = 0"""
    if x.ndim != 2 or len(x) < 2 or p < 0:
        raise Mismatch(f"{x.ndim} dimensions, p = {p}")
    left, right = np.triu_indices(len(x), 1)
    difference = np.abs(x[left] - x[right])
    if p == 0:
        return Value(np.count_nonzero(difference, axis=1).astype(np.float64), exact=True)
    if np.isinf(p):
        return difference.max(axis=1)
    return Value((difference**p).sum(axis=1) ** (1.0 / p), steps=4)


def distance_terms(grad, x1, x2, distance, p):
    """What each pair adds to the gradient of its first point."""
    if p < 0 or not np.isfinite(p):
        raise Mismatch(f"p = {p} has no definition")
    difference = x1 - x2
    size = np.abs(difference)
    if p == 0:
        return np.zeros(difference.shape)
    if p == 1:
        return grad * np.sign(difference)
    none = (distance == 0) | (size == 0)
    power = (np.where(none, 1.0, size) / np.where(none, 1.0, distance)) ** (p - 1.0)
    return np.where(none, 0.0, grad * np.sign(difference) * power)


@define("CdistGrad", inputs="grad x1 x2 cdist", outputs="y", attributes={"p": 2.0})
def distance_gradient(grad, x1, x2, distance, p):
    """y = the sum of grad * d * |d| ^ (p - 2) / cdist ^ (p - 1) along the last dimension but one, d = x1 - x2"""
    if not grad.shape == x1.shape == x2.shape == distance.shape or grad.ndim < 2:
        raise Mismatch("inputs must have been given the same shape")
    terms = distance_terms(grad, x1, x2, distance, p)
    return Value(terms.sum(axis=-2), magnitude=np.abs(terms).sum(axis=-2), steps=4)


@define("CdistGrad@rows", inputs="grad_output x1 x2 cdist_result", outputs="grad_x1", attributes={"p": 2.0})
def distance_gradient_of_rows(grad, x1, x2, distance, p):
    """grad_x1[i] = the sum over j of grad * d * |d| ^ (p - 2) / dist ^ (p - 1), d = x1[i] - x2[j]"""
    if x1.ndim < 2 or grad.shape != distance.shape or grad.shape != x1.shape[:-1] + x2.shape[-2:-1] or x1.shape[:-2] != x2.shape[:-2]:
        raise Mismatch("distances of other points")
    terms = distance_terms(grad[..., None], x1[..., :, None, :], x2[..., None, :, :], distance[..., None], p)
    return Value(terms.sum(axis=-2), magnitude=np.abs(terms).sum(axis=-2), steps=4)


@define("ChamferDistanceGrad", inputs="xyz1 xyz2 idx1:int32 idx2:int32 grad_dist1 grad_dist2", outputs="grad_xyz1 grad_xyz2")
def chamfer_gradient(first, second, idx1, idx2, grad1, grad2):
    """gradients of the squared distances of all points to the nearest of the other set: 2 * grad * d for one, and its opposite"""
    if first.ndim != 3 or idx1.shape != first.shape[:2] or idx2.shape != second.shape[:2]:
        raise Mismatch("a nearest point for each is needed")
    if grad1.shape != idx1.shape or grad2.shape != idx2.shape:
        raise Mismatch("a gradient for each point is needed")
    totals = [np.zeros(first.shape), np.zeros(second.shape)]
    sizes = [np.zeros(first.shape), np.zeros(second.shape)]
    for own, (points, others, nearest, grads) in enumerate(((first, second, idx1, grad1), (second, first, idx2, grad2))):
        if np.any((nearest < 0) | (nearest >= others.shape[1])):
            raise Mismatch("an index points beyond the points")
        batch = np.arange(len(points))[:, None]
        term = 2.0 * grads[..., None] * (points - others[batch, nearest])
        totals[own] += term
        sizes[own] += np.abs(term)
        np.add.at(totals[1 - own], (batch, nearest), -term)
        np.add.at(sizes[1 - own], (batch, nearest), np.abs(term))
    return tuple(Value(total, magnitude=size, steps=2) for total, size in zip(totals, sizes))


@define("RenormV2", inputs="x", outputs="y", attributes={"p": 1.0, "dim": 0, "max_norm": 5.0})
def limit_norms(x, p, dim, max_norm):
    """y = every slice of x along dim whose p-norm is above max_norm, scaled down to it"""
    if p <= 0 or not np.isfinite(p) or max_norm < 0 or not -x.ndim <= dim < x.ndim or x.ndim < 2:
        raise Mismatch(f"p = {p}, dim = {dim}, max_norm = {max_norm}")
    axes = tuple(axis for axis in range(x.ndim) if axis != dim % x.ndim)
    norm = (np.abs(x) ** p).sum(axis=axes, keepdims=True) ** (1.0 / p)
    return Value(np.where(norm > max_norm, x * (max_norm / np.where(norm > 0, norm, 1.0)), x), steps=4)


@define("L2NormalizeGrad", inputs="x y dy", outputs="dx", attributes={"dim": [1], "eps": 1e-4})
def normalisation_gradient(x, y, dy, dim, eps):
    """dx = (dy - y * the sum of y * dy along dim) / max(the root of the sum of x^2, eps)"""
    if len(dim) != 1 or not -x.ndim <= dim[0] < x.ndim:
        raise Mismatch(f"the dimension {dim} of {x.ndim}")
    norm = np.maximum(np.sqrt((x * x).sum(axis=dim[0], keepdims=True)), eps)
    total, size = (y * dy).sum(axis=dim[0], keepdims=True), np.abs(y * dy).sum(axis=dim[0], keepdims=True)
    return Value((dy - y * total) / norm, magnitude=(np.abs(dy) + np.abs(y) * size) / norm, steps=3)
