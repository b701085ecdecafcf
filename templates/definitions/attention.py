"""Attention: what goes into it, softmax of products, and sampled at places of images of several sizes, with the gradient."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from sampling import sampled, spread, taps_at
from spatial import must_be_finite


@define("TransformBiasRescaleQkv", inputs="qkv qkv_bias", outputs="q k v", attributes={"num_heads": REQUIRED})
def biased_heads(qkv, qkv_bias, num_heads):
    """q, k, v [batch, head, time, element] = the thirds of qkv + qkv_bias; q is divided by the root of the elements of a head"""
    if qkv.ndim != 3 or num_heads <= 0 or qkv.shape[2] % (3 * num_heads) or qkv_bias.size != qkv.shape[2]:
        raise Mismatch(f"{num_heads} heads of {list(qkv.shape)} with a bias of {list(qkv_bias.shape)}")
    batch, time, width = qkv.shape
    size = width // (3 * num_heads)
    bias = qkv_bias.reshape(-1)

    def heads(array):
        return np.transpose(array.reshape(batch, time, 3, num_heads, size), (2, 0, 3, 1, 4))

    q, k, v = heads(qkv + bias)
    terms = heads(np.abs(qkv) + np.abs(bias))
    root = np.sqrt(size)
    return Value(q / root, magnitude=terms[0] / root, steps=2), Value(k, magnitude=terms[1]), Value(v, magnitude=terms[2])


@define("FlashAttentionScoreWithLargeHeadDim", inputs="query key value",
        outputs="softmax_max:float32 softmax_sum:float32 attention_out", dtypes="float16",
        attributes={"scale_value": 1.0, "head_num": REQUIRED})
def attention(query, key, value, scale_value, head_num):
    """attention_out = softmax(scale * q * k^T) * v, head by head; the largest of each row and the sum of its exponentials, eight times"""
    if query.ndim != 3 or key.shape != value.shape or key.ndim != 3 or len(key) != len(query) or key.shape[2] != query.shape[2]:
        raise Mismatch(f"queries of {list(query.shape)}, keys of {list(key.shape)} and values of {list(value.shape)}")
    if head_num <= 0 or query.shape[2] % head_num:
        raise Mismatch(f"{head_num} heads of {query.shape[2]}")
    must_be_finite(query, key, value)

    def heads(array):
        return np.swapaxes(array.reshape(array.shape[:2] + (head_num, -1)), 1, 2)

    q, k, v = heads(query), heads(key), heads(value)
    scores = scale_value * np.matmul(q, np.swapaxes(k, -1, -2))
    sizes = abs(scale_value) * np.matmul(np.abs(q), np.swapaxes(np.abs(k), -1, -2)).max(axis=-1, keepdims=True)
    largest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - largest)
    whole = powers.sum(axis=-1, keepdims=True)
    shares = powers / whole
    out = np.matmul(shares, v)
    # Scores are off in proportion to their terms, and exponentials by that.
    terms = np.matmul(shares, np.abs(v)) * (1.0 + sizes)

    def back(array):
        return np.swapaxes(array, 1, 2).reshape(query.shape)

    def eight(array):
        return np.repeat(array, 8, axis=-1)

    return (Value(eight(largest), magnitude=eight(sizes)), Value(eight(whole), magnitude=eight(whole * (1.0 + sizes))),
            Value(back(out), magnitude=back(terms), steps=2))


class Deformable:
    """Values of several levels, and the taps of the places where each query, head, level and point looks."""

    def __init__(self, value, shapes, starts, locations, weights, value_turned, relative):
        # Kernels take places with the queries last too, as their interface turns them.
        self.turned = locations.ndim == 6 and locations.shape[-1] != 2
        if self.turned:
            locations = np.transpose(locations, (0, 5, 1, 2, 3, 4)) if locations.shape[4] == 2 else locations
            weights = np.moveaxis(weights, -1, 1)
        self.value_turned = value_turned and self.turned
        if self.value_turned:
            value = np.swapaxes(value, 1, 2)
        if value.ndim != 4 or locations.ndim != 6 or locations.shape[-1] != 2 or weights.shape != locations.shape[:-1]:
            raise Mismatch(f"values of {list(value.shape)}, places of {list(locations.shape)}, weights of {list(weights.shape)}")
        must_be_finite(value, locations, weights)
        self.batch, self.queries, self.heads, self.levels, self.points = weights.shape
        sizes = [tuple(int(one) for one in row) for row in shapes.reshape(-1, 2)]
        areas = [height * width for height, width in sizes]
        if len(sizes) != self.levels or starts.reshape(-1).tolist() != np.cumsum([0] + areas[:-1]).tolist():
            raise Mismatch(f"levels of {sizes} that do not begin one after the other")
        if value.shape[0] != self.batch or value.shape[1] != sum(areas) or value.shape[2] != self.heads:
            raise Mismatch(f"values of {list(value.shape)} for {sum(areas)} places of {self.heads} heads")
        self.value, self.locations, self.weights = value, locations, weights
        self.sizes, self.starts, self.areas, self.relative = sizes, np.cumsum([0] + areas), areas, relative

    def __iter__(self):
        """Of each batch, head and level: where it is, its values (channels, elements), size and taps of (queries, points)."""
        for batch, head, level in np.ndindex(self.batch, self.heads, self.levels):
            begin, size = self.starts[level], self.sizes[level]
            values = self.value[batch, begin:begin + self.areas[level], head].T
            at = self.locations[batch, :, head, level]
            # The first of a place is that along the width.
            places = [at[..., 1 - axis] * size[axis] - 0.5 for axis in range(2)]
            taps = [taps_at(place, one, "bilinear", "zeros", False, self.relative) for place, one in zip(places, size)]
            yield (batch, head, level), values, size, taps


@define("MultiScaleDeformableAttnFunction", outputs="output", dtypes="float",
        inputs="value value_spatial_shapes:index value_level_start_index:index sampling_locations attention_weights")
def deformable_attention(value, shapes, starts, locations, weights, call):
    """output = the sum over levels and points of attention_weights * value at sampling_locations, from 0 at one edge to 1 at the other"""
    every = Deformable(value, shapes, starts, locations, weights, True, call["outputs"][0]["tolerance"]["relative"])
    y = np.zeros((every.batch, every.queries, every.heads, every.value.shape[3]))
    terms = np.zeros(y.shape)
    for (batch, head, level), values, size, taps in every:
        weight = every.weights[batch, :, head, level]
        y[batch, :, head] += (weight * sampled(values, taps, size)).sum(axis=-1).T
        terms[batch, :, head] += (np.abs(weight) * sampled(np.abs(values), taps, size, "sizes")).sum(axis=-1).T
    shape = (every.batch, every.queries, -1)
    return Value(y.reshape(shape), magnitude=terms.reshape(shape), steps=2)


@define("MultiScaleDeformableAttentionGrad", dtypes="float32",
        inputs="value value_spatial_shapes:index value_level_start_index:index sampling_locations attention_weights grad_output",
        outputs="grad_value grad_sampling_locations grad_attention_weights")
def deformable_attention_gradient(value, shapes, starts, locations, weights, grad_output, call):
    """The slopes of the sum of grad_output * output by value, sampling_locations and attention_weights"""
    every = Deformable(value, shapes, starts, locations, weights, False, call["outputs"][0]["tolerance"]["relative"])
    channels = every.value.shape[3]
    if grad_output.size != every.batch * every.queries * every.heads * channels:
        raise Mismatch(f"gradients of {list(grad_output.shape)}")
    must_be_finite(grad_output)
    grads = grad_output.reshape(every.batch, every.queries, every.heads, channels)
    dvalue, vterms = np.zeros(every.value.shape), np.zeros(every.value.shape)
    dplaces, pterms = np.zeros(every.locations.shape), np.zeros(every.locations.shape)
    turns = np.zeros(every.locations.shape, bool)
    dweights, wterms = np.zeros(every.weights.shape), np.zeros(every.weights.shape)
    for (batch, head, level), values, size, taps in every:
        weight, dy = every.weights[batch, :, head, level], grads[batch, :, head].T[..., None]
        inside = slice(every.starts[level], every.starts[level] + every.areas[level])
        dvalue[batch, inside, head] += spread(weight * dy, taps, size).T
        vterms[batch, inside, head] += spread(np.abs(weight * dy), taps, size, "sizes").T
        dweights[batch, :, head, level] = (dy * sampled(values, taps, size)).sum(axis=0)
        wterms[batch, :, head, level] = (np.abs(dy) * sampled(np.abs(values), taps, size, "sizes")).sum(axis=0)
        largest = np.abs(values).max(axis=1)[:, None, None]
        for axis in range(2):
            at = (batch, slice(None), head, level, slice(None), 1 - axis)
            dplaces[at] = size[axis] * weight * (dy * sampled(values, taps, size, along=axis)).sum(axis=0)
            pterms[at] = size[axis] * np.abs(weight) * (np.abs(dy) * largest).sum(axis=0) * 4.0
            turns[at] = taps[0].turns | taps[1].turns

    def back(array):
        if not every.turned:
            return array
        return np.transpose(array, (0, 2, 3, 4, 5, 1)) if array.ndim == 6 else np.moveaxis(array, 1, -1)

    return (Value(dvalue, magnitude=vterms, steps=2),
            Value(back(dplaces), magnitude=back(pterms), steps=2, unspecified=back(turns)),
            Value(back(dweights), magnitude=back(wterms), steps=2))
