"""Softmax fused with what surrounds it, routing of rows to experts, and what is left of logits to choose from."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from reductions import softmax

# How near to each other two probabilities may be to be taken for equal.
ALIKE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-5}


def alike(call):
    return ALIKE[call["inputs"][0]["instances"][0]["dtype"]]


@define("ScaledMaskedSoftmaxGradV2", inputs="yGrad|y_grad y mask:bool?", outputs="xGrad|x_grad",
        attributes={"scale": 1.0, "fixed_triu_mask": False})
def scaled_masked_softmax_gradient(dy, y, mask, scale, fixed_triu_mask):
    """xGrad = scale * y * (yGrad - sum(yGrad * y)) along the last dimension, zero where the mask holds"""
    if fixed_triu_mask:
        raise Mismatch("a triangular mask has no definition")
    total = (dy * y).sum(axis=-1, keepdims=True)
    size = np.abs(scale * y) * (np.abs(dy) + np.abs(dy * y).sum(axis=-1, keepdims=True))
    dx = scale * y * (dy - total)
    if mask is not None:
        mask = np.broadcast_to(mask, dx.shape)
        dx, size = np.where(mask, 0.0, dx), np.where(mask, 0.0, size)
    return Value(dx, magnitude=size, steps=3)


@define("MaskedSoftmaxWithRelPosBias", inputs="x atten_mask? relative_pos_bias", outputs="y",
        attributes={"scale_value": 1.0, "inner_precision_mode": 0})
def biased_softmax(x, mask, bias, scale_value, inner_precision_mode):
    """y = softmax of scale_value * x + atten_mask + relative_pos_bias along the last dimension"""
    if x.ndim not in (4, 5) or inner_precision_mode != 0 or bias.size != x.size // np.prod(x.shape[:-3]):
        raise Mismatch(f"a bias of {list(bias.shape)} for {list(x.shape)}")
    heads = x.shape[-3:]
    windows = 1 if mask is None else mask.size // (heads[1] * heads[2])
    if mask is not None and (mask.shape[-2:] != heads[1:] or x.shape[0] * (x.shape[1] if x.ndim == 5 else 1) % windows != 0):
        raise Mismatch(f"a mask of {list(mask.shape)} for {list(x.shape)}")
    if x.ndim == 5 and mask is not None and windows != x.shape[1]:
        raise Mismatch(f"a mask of {list(mask.shape)} for {list(x.shape)}")
    parts = [scale_value * x.reshape(-1, windows, *heads), bias.reshape(1, 1, *heads)]
    if mask is not None:
        parts.append(mask.reshape(1, windows, 1, *heads[1:]))
    y = softmax(sum(parts), -1)
    # What a logit is off by is what its exponential is off by in proportion.
    size = y * sum(np.abs(part) for part in parts)
    return Value(y.reshape(x.shape), magnitude=size.reshape(x.shape), steps=4)


def largest(values, weights, count, near):
    """The first places of rows in descending order of values, what weights are there, and which places a rounding decides."""
    if not 0 < count <= values.shape[-1]:
        raise Mismatch(f"{count} of {values.shape[-1]} elements")
    if not np.all(np.isfinite(values)):
        raise Mismatch("only finite values have an order here")
    places = np.argsort(-values, axis=-1, kind="stable")
    weights = np.take_along_axis(weights, places, -1)
    same = weights[..., :-1] - weights[..., 1:] <= near * weights[..., :-1]
    none = np.zeros(weights.shape[:-1] + (1,), bool)
    tied = np.concatenate([same, none], -1) | np.concatenate([none, same], -1)
    return places[..., :count], weights[..., :count], tied[..., :count]


@define("MoeSoftMaxTopk", inputs="x", outputs="y indices:index", attributes={"k": 4})
def softmax_largest(x, k, call):
    """y = the k largest of softmax of x along the last dimension in order, indices = where they were"""
    places, weights, tied = largest(x, softmax(x, -1), k, alike(call))
    return Value(weights, steps=3), Value(places, exact=True, unspecified=tied)


@define("MoeGatingTopKSoftmax", inputs="x finished:bool?", outputs="y expert_idx:int32 row_idx:int32", attributes={"k": REQUIRED})
def gating(x, finished, k, call):
    """y, expert_idx = the k largest of softmax of x; row_idx[i, j] = j * rows + i; the number of experts for rows that are finished"""
    if x.ndim != 2:
        raise Mismatch("only matrices have a definition")
    y, experts = chosen(x, finished, k, False, call)
    rows = np.arange(x.shape[0] * k).reshape(k, x.shape[0]).T
    return y, experts, Value(rows, exact=True)


def chosen(x, finished, k, renormalises, call):
    """Weights of the chosen experts, and which ones."""
    soft = softmax(x, -1)
    places, weights, tied = largest(x, soft, k, alike(call))
    if renormalises:
        weights = softmax(np.take_along_axis(x, places, -1), -1)
    over = np.zeros(x.shape[:-1] + (1,), bool) if finished is None else finished.reshape(x.shape[:-1] + (1,))
    over = np.broadcast_to(over, places.shape)
    experts = Value(np.where(over, x.shape[-1], places), exact=True, unspecified=tied & ~over)
    return Value(weights, steps=3, unspecified=over), experts


RENORMALISED = {"k": REQUIRED, "renorm": 0, "output_softmax_result_flag": False}


@define("MoeGatingTopKSoftmaxV2", inputs="x finished:bool?", outputs="y expert_idx:int32 softmax_result:float32", attributes=RENORMALISED)
def gating_with_softmax(x, finished, k, renorm, output_softmax_result_flag, call):
    """y, expert_idx = the k largest of softmax of x, or the softmax of the k largest with renorm; softmax_result = all of it"""
    y, experts = gating_without_softmax(x, finished, k, renorm, output_softmax_result_flag, call)
    return y, experts, Value(softmax(x, -1), steps=3) if output_softmax_result_flag and renorm == 0 else None


@define("MoeGatingTopKSoftmaxV2@two", inputs="x finished:bool?", outputs="y expert_idx:int32", attributes=RENORMALISED)
def gating_without_softmax(x, finished, k, renorm, output_softmax_result_flag, call):
    """y, expert_idx = the k largest of softmax of x, or the softmax of the k largest with renorm"""
    if renorm not in (0, 1):
        raise Mismatch(f"renorm {renorm} has no definition")
    return chosen(x, finished, k, renorm == 1, call)


@define("MoeComputeExpertTokens", inputs="sorted_experts:int32", outputs="total_rows_before_expert:int32",
        attributes={"num_experts": REQUIRED})
def rows_before_experts(experts, num_experts):
    """total_rows_before_expert[e] = how many of sorted_experts are at most e"""
    if experts.ndim != 1 or np.any(np.diff(experts) < 0) or num_experts < 1:
        raise Mismatch("experts must be in order")
    return Value(np.searchsorted(experts, np.arange(num_experts), side="right"), exact=True)


def in_range(indices, size):
    if np.any(indices < 0) or np.any(indices >= size):
        raise Mismatch(f"an index is not below {size}")
    return indices


@define("MoeFinalizeRouting", inputs="expanded_x x1 x2? bias scales expanded_row_idx:int32 expanded_expert_idx:int32", outputs="y")
def finalise_routing(expanded_x, x1, x2, bias, scales, rows, experts):
    """y[i] = x1[i] + x2[i] + the sum over k of scales[i, k] * (expanded_x[expanded_row_idx[i + k * rows]] + bias[expert[i, k]])"""
    if x1.ndim != 2 or expanded_x.ndim != 2 or scales.ndim != 2 or experts.shape != scales.shape or rows.size != scales.size:
        raise Mismatch("it takes matrices, and an expert and a row for each scale")
    rows = in_range(rows.reshape(scales.shape[1], scales.shape[0]).T, expanded_x.shape[0])
    values, shifts = expanded_x[rows], bias[in_range(experts, bias.shape[0])]
    factor = scales[..., None]
    total = x1 + (0.0 if x2 is None else x2) + (factor * (values + shifts)).sum(axis=1)
    size = np.abs(x1) + (0.0 if x2 is None else np.abs(x2)) + (np.abs(factor) * (np.abs(values) + np.abs(shifts))).sum(axis=1)
    return Value(total, magnitude=size, steps=3)


@define("MoeTokenUnpermute", inputs="permuted_tokens sorted_indices:int32 probs~?:float", outputs="unpermuted_tokens",
        attributes={"padded_mode": False, "restore_shape": []})
def unpermute(tokens, indices, probs, padded_mode, restore_shape):
    """unpermuted_tokens[i] = the sum over k of permuted_tokens[sorted_indices[i * K + k]] * probs[i, k]"""
    if padded_mode or restore_shape or tokens.ndim != 2 or indices.ndim != 1 or probs is not None and probs.size != indices.size:
        raise Mismatch("only rows that are all there have a definition")
    values = tokens[in_range(indices, tokens.shape[0])]
    if probs is None:
        return Value(values, exact=True)
    terms = (values * probs.reshape(-1, 1)).reshape(probs.shape[0], -1, tokens.shape[1])
    return Value(terms.sum(axis=1), magnitude=np.abs(terms).sum(axis=1), steps=2)


@define("ApplyTopKTopPWithSorted", inputs="sorted_value sorted_indices:int32 p? k:int32? logits?", outputs="out")
def likely_logits(values, indices, p, k, logits, call):
    """out = sorted_value back in its places, -inf where it is not among the k largest or the likeliest that make up p"""
    rows, width = values.shape if values.ndim == 2 else (0, 0)
    if p is None and k is None or indices.shape != values.shape or not np.all(np.isfinite(values)) or np.any(np.diff(values) < 0):
        raise Mismatch("rows must be in order, with k or p")
    if np.any(np.sort(indices, axis=-1) != np.arange(width)):
        raise Mismatch("sorted_indices must hold each place once")
    if logits is not None and np.any(np.take_along_axis(logits, indices, -1) != values):
        raise Mismatch("logits that sorted_value was not made from")
    left, open_places = values.copy(), np.zeros(values.shape, bool)
    if k is not None:
        if k.size != rows or np.any(k < 1) or np.any(k > width):
            raise Mismatch(f"k must be from 1 to {width}")
        least = np.take_along_axis(values, (width - k.reshape(-1, 1)), -1)
        left[values < least] = -np.inf
    if p is not None:
        total = np.cumsum(softmax(left, -1), axis=-1) - (1.0 - p.reshape(-1, 1))
        near = alike(call)
        dropped, open_places = total <= 0, np.abs(total) <= near
        dropped[:, -1] = open_places[:, -1] = False
        # What k dropped stays dropped.
        open_places &= np.isfinite(left)
        left[dropped] = -np.inf
    out, unspecified = np.empty_like(left), np.empty_like(open_places)
    np.put_along_axis(out, indices, left, -1)
    np.put_along_axis(unspecified, indices, open_places, -1)
    return Value(out, exact=True, unspecified=unspecified)
