"""Embeddings, repetitions of rows, and their gradients."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from indices import added
from meaning import SHORT_ROW
from shapes import checked, copied


@define("RepeatInterleaveGrad", inputs="y_grad repeats~:index", outputs="x_grad", attributes={"axis": -1})
def repeat_gradient(dy, repeats, axis):
    """x_grad = the sum of y_grad over the repetitions of every element along an axis"""
    if not -dy.ndim <= axis < dy.ndim:
        raise Mismatch(f"the axis {axis} of {dy.ndim}")
    terms, repeats = np.moveaxis(dy, axis, 0), repeats.reshape(-1)
    if len(repeats) == 1 and repeats[0] > 0:
        repeats = np.full(len(terms) // int(repeats[0]), repeats[0])
    if np.any(repeats < 0) or int(repeats.sum()) != len(terms):
        raise Mismatch(f"repetitions of {int(repeats.sum())} elements, and there are {len(terms)}")
    rows = np.repeat(np.arange(len(repeats)), repeats)
    result = added(np.zeros((len(repeats),) + terms.shape[1:]), rows, terms)
    return Value(np.moveaxis(result.array, 0, axis), magnitude=np.moveaxis(result.magnitude, 0, axis), steps=result.steps)


@define("FeedsRepeat", inputs="feeds feeds_repeat_times~:index", outputs="y", attributes={"output_feeds_size": REQUIRED})
def repeat_feeds(feeds, times, output_feeds_size):
    """y = every row of feeds as often as feeds_repeat_times says, then zeros up to output_feeds_size rows"""
    times = times.reshape(-1)
    missing = output_feeds_size - int(times.sum())
    if len(times) != len(feeds) or np.any(times < 0) or missing < 0:
        raise Mismatch(f"{int(times.sum())} rows in {output_feeds_size}")
    return copied(np.pad(np.repeat(feeds, times, 0), [(0, missing)] + [(0, 0)] * (feeds.ndim - 1)))


@define("Embedding", inputs="x indices~:index", outputs="y", dtypes="any")
def embedding(x, indices):
    """y = the rows of x that indices name"""
    return copied(x[checked(indices, len(x))])


def embedded(rows, indices, num_weights, padding_idx, scale_grad_by_freq):
    """Rows added up for each index but that of padding, divided by how often it is there."""
    indices = checked(indices, num_weights)
    if len(indices) != len(rows):
        raise Mismatch("a row for each index is needed")
    if scale_grad_by_freq:
        rows = rows / np.bincount(indices, minlength=num_weights)[indices][:, None]
    kept = indices != padding_idx
    result = added(np.zeros((num_weights, rows.shape[1])), indices[kept], rows[kept])
    result.steps += 1
    return result


EMBEDDED = {"num_weights": REQUIRED, "padding_idx": -1, "scale_grad_by_freq": False}


@define("EmbeddingDenseGrad", inputs="grad indices~:index", outputs="y|grad_weight", attributes=EMBEDDED)
def embedding_gradient(grad, indices, num_weights, padding_idx, scale_grad_by_freq):
    """y[indices[k]] += grad[k], from 0 and not for padding_idx; divided by how often an index is there"""
    return embedded(grad.reshape(-1, grad.shape[-1]), indices.reshape(-1), num_weights, padding_idx, scale_grad_by_freq)


@define("EmbeddingDenseGradV2", inputs="grad sort_indices~:index pos_idx~:index", outputs="y", attributes=EMBEDDED)
def embedding_gradient_of_sorted(grad, indices, pos, num_weights, padding_idx, scale_grad_by_freq):
    """y[sort_indices[k]] += grad[pos_idx[k]], from 0 and not for padding_idx; divided by how often an index is there"""
    rows, indices, pos = grad.reshape(-1, grad.shape[-1]), indices.reshape(-1), pos.reshape(-1)
    if np.any(np.diff(indices) < 0) or not np.array_equal(np.sort(pos), np.arange(len(rows))):
        raise Mismatch("indices that are not sorted, or positions that are no order of the rows")
    if grad.shape[-1] <= SHORT_ROW and not np.array_equal(pos, np.arange(len(rows))):
        raise Mismatch(f"rows of up to {SHORT_ROW} elements out of order: with these the interface sorts no indices")
    return embedded(rows[pos], indices, num_weights, padding_idx, scale_grad_by_freq)


def bags_of(indices, offsets, include_last_offset):
    """Where each bag begins and ends."""
    offsets = [int(one) for one in offsets.reshape(-1)]
    ends = offsets[1:] if include_last_offset else offsets[1:] + [len(indices)]
    bags = list(zip(offsets, ends))
    if not bags or offsets[0] != 0 or any(start > end for start, end in bags) or bags[-1][1] != len(indices):
        raise Mismatch("offsets that do not rise from 0 to the number of indices")
    return bags


@define("EmbeddingBag", inputs="weight indices~:index offsets~:index per_sample_weight?",
        outputs="y offset2bag:index bag_size:index max_indices:index",
        attributes={"mode": "mean", "include_last_offset": False, "padding_idx": -1}, ignored="scale_grad_by_freq sparse")
def embedding_bag(weight, indices, offsets, per_sample_weight, mode, include_last_offset, padding_idx):
    """y = the sum, mean or maximum of the rows of weight that the indices of a bag name, without padding_idx"""
    if indices.ndim != 1 or weight.ndim != 2 or mode not in ("sum", "mean", "max"):
        raise Mismatch(f"the mode {mode} of {indices.ndim} dimensions of indices")
    if per_sample_weight is not None and mode != "sum":
        raise Mismatch("only sums have weights of samples")
    bags = bags_of(indices, offsets, include_last_offset)
    indices = checked(indices, len(weight))
    samples = np.ones(len(indices)) if per_sample_weight is None else per_sample_weight.reshape(-1)
    if len(samples) != len(indices):
        raise Mismatch("a weight for each index is needed")
    result, size = np.zeros((2, len(bags), weight.shape[1]))
    counts = np.zeros(len(bags), np.int64)
    places, tied = np.zeros(result.shape, np.int64), np.zeros(result.shape, bool)
    for bag, (start, end) in enumerate(bags):
        kept = [place for place in range(start, end) if indices[place] != padding_idx]
        counts[bag] = len(kept)
        rows, named = weight[indices[kept]], indices[kept]
        if kept and mode == "max":
            result[bag] = rows.max(axis=0)
            places[bag] = named[rows.argmax(axis=0)]
            tied[bag] = np.any((rows == result[bag]) & (named[:, None] != places[bag]), axis=0)
        elif kept:
            rows = rows * samples[kept][:, None]
            share = len(kept) if mode == "mean" else 1
            result[bag], size[bag] = rows.sum(axis=0) / share, np.abs(rows).sum(axis=0) / share
    if mode == "max" and np.any(np.isnan(weight)):
        raise Mismatch("the maximum of NaN is not defined")
    empty = np.broadcast_to((counts == 0)[:, None], result.shape)
    y = Value(result, exact=True) if mode == "max" else Value(result, magnitude=size, steps=2)
    most = Value(places, exact=True, unspecified=tied | empty) if mode == "max" and not np.all(tied | empty) else None
    # What the first of the further outputs has is not told alike. Sizes are told where something is divided by them and there is no
    # padding: PyTorch leaves them at zero for sums.
    told = mode == "mean" and not any(padding_idx in indices[start:end] for start, end in bags)
    return y, None, Value(counts, exact=True) if told else None, most
