"""Steps between layers: streams that are mixed, convolutions and recurrences along tokens, fused norms; and what stands alone."""

import numpy as np

from activations import sigmoid
from caches import must_differ
from core import REQUIRED, Mismatch, Value, define
from gates import situ_parts
from geometry import boxes_of
from norm_quants import EPSILON, added, added_rms_norm
from norms import rms_normalised, trailing
from optimisers import decoupled, must_be_alike, scalar
from quantise import quantised
from shapes import checked
from spatial import must_be_finite

# Streams and tokens.


@define("HcPost", inputs="x residual post~:float comb~:float", outputs="y")
def hyper_connection(x, residual, post, comb):
    """y[i] = post[i] * x + sum over j of comb[j, i] * residual[j], i and j being streams of a token"""
    outer, width = x.shape[:-1], x.shape[-1]
    streams = residual.shape[-2] if residual.ndim > 1 else 0
    fits = residual.shape == outer + (streams, width) and post.size == int(np.prod(outer)) * streams
    if not fits or comb.shape != outer + (streams, streams):
        raise Mismatch(f"x of {list(x.shape)}, streams of {list(residual.shape)}, mixed by {list(post.shape)} and {list(comb.shape)}")
    must_be_finite(x, residual, post, comb)
    first = post.reshape(outer + (streams, 1)) * x[..., None, :]
    turned = np.swapaxes(comb, -1, -2)
    size = np.abs(first) + np.matmul(np.abs(turned), np.abs(residual))
    return Value(first + np.matmul(turned, residual), magnitude=size, steps=2)


@define("CausalConv1d", "CausalConv1dV310", dtypes="float16 bfloat16", outputs="y",
        inputs="x weight bias? convStates queryStartLoc:index cacheIndices:index initialStateMode~ numAcceptedTokens:index?",
        attributes={"activationMode": 0, "padSlotId": -1, "runMode": 0})
def causal_convolution(x, weight, bias, states, starts, lines, initial, accepted, activationMode, padSlotId, runMode):
    """y[t] = bias + sum over j of weight[j] * x[t - width + 1 + j] within a sequence, before it its line of states or zeros; silu with mode 1"""
    if runMode != 0 or accepted is not None or activationMode not in (0, 1):
        raise Mismatch("only whole sequences, as they are or with silu, have a definition")
    if x.ndim != 2 or weight.ndim != 2 or weight.shape[1] != x.shape[1] or bias is not None and bias.shape != x.shape[1:]:
        raise Mismatch(f"x of {list(x.shape)} and weights of {list(weight.shape)}")
    width, starts, lines, initial = len(weight), starts.reshape(-1), lines.reshape(-1), initial.reshape(-1)
    if states.ndim != 3 or states.shape[1:] != (width - 1, x.shape[1]):
        raise Mismatch(f"states of {list(states.shape)} for {width} weights")
    count = len(starts) - 1
    if count < 1 or starts[0] != 0 or starts[-1] != len(x) or np.any(np.diff(starts) < 0) or not len(lines) == len(initial) == count:
        raise Mismatch(f"sequences from {starts.tolist()} of {len(x)} tokens")
    if np.any((initial != 0) & (initial != 1)):
        raise Mismatch("states are there or not, 1 or 0")
    used = lines[lines != padSlotId]
    must_differ(checked(used, len(states)), "lines of states")
    must_be_finite(x, weight, states)
    total, size, left_open = np.zeros(x.shape), np.zeros(x.shape), np.zeros(x.shape, bool)
    for begin, end, line, there in zip(starts[:-1], starts[1:], lines, initial):
        left_open[begin:end] = line == padSlotId
        before = states[line] if there and line != padSlotId else np.zeros((width - 1, x.shape[1]))
        tokens = np.concatenate([before, x[begin:end]])
        for place in range(width):
            terms = weight[place] * tokens[place:place + end - begin]
            total[begin:end] += terms
            size[begin:end] += np.abs(terms)
    if bias is not None:
        total, size = total + bias, size + np.abs(bias)
    if activationMode == 1:
        total, size = total * sigmoid(total), size * 1.1
    return Value(total, magnitude=size, steps=2, unspecified=left_open)


def delta_rule(query, key, value, beta, state, lengths, lines, g, accepted, scale):
    """Outputs and states, token by token, with the sizes of what they are made of."""
    if any(one.ndim != 3 for one in (query, key, value)) or key.shape != query.shape or state.ndim != 4 or len(value) != len(query):
        raise Mismatch(f"queries of {list(query.shape)}, keys of {list(key.shape)} and values of {list(value.shape)}")
    tokens, heads, _ = value.shape
    if heads % query.shape[1] or beta.shape != (tokens, heads) or g is not None and g.shape != (tokens, heads):
        raise Mismatch(f"{query.shape[1]} heads of keys, {heads} of values, beta of {list(beta.shape)}")
    if state.shape[1:] != (heads, value.shape[2], query.shape[2]) or lines.size != tokens:
        raise Mismatch(f"states of {list(state.shape)} and {lines.size} lines for {tokens} tokens")
    if np.any(lengths < 1) or lengths.sum() != tokens:
        raise Mismatch(f"sequences of {lengths.tolist()} in {tokens} tokens")
    if accepted is not None and (accepted.size != len(lengths) or np.any((accepted < 1) | (accepted > lengths))):
        raise Mismatch("accepted tokens must be some of a sequence")
    lines = checked(lines.reshape(-1), len(state))
    must_differ(lines, "lines of states")
    must_be_finite(query, key, value, beta, state)
    # Several heads of values share one of keys.
    query, key = (np.repeat(one, heads // one.shape[1], axis=1) for one in (query * scale, key))
    decay = np.ones((tokens, heads)) if g is None else np.exp(g)
    y, y_size = np.zeros(value.shape), np.zeros(value.shape)
    states, states_size = state.copy(), np.zeros(state.shape)
    begin = 0
    for sequence, length in enumerate(lengths):
        first = begin if accepted is None else begin + int(accepted.reshape(-1)[sequence]) - 1
        now, size = state[lines[first]], np.abs(state[lines[first]])
        for at in range(begin, begin + length):
            q, k, step = query[at][:, None, :], key[at][:, None, :], beta[at][:, None]
            now, size = now * decay[at][:, None, None], size * decay[at][:, None, None]
            change = (value[at] - (now * k).sum(axis=-1)) * step
            change_size = (np.abs(value[at]) + (size * np.abs(k)).sum(axis=-1)) * np.abs(step)
            now, size = now + change[..., None] * k, size + change_size[..., None] * np.abs(k)
            states[lines[at]], states_size[lines[at]] = now, size
            y[at], y_size[at] = (now * q).sum(axis=-1), (size * np.abs(q)).sum(axis=-1)
        begin += length
    return Value(y, magnitude=y_size, steps=2), Value(states, magnitude=states_size, steps=2)


DELTA = {"inputs": "query key value beta state~:float actual_seq_lengths:int32 ssm_state_indices:int32 g?:float32 num_accepted_tokens?:int32",
         "outputs": "out state:float", "dtypes": "float16 bfloat16", "attributes": {"scale_value": 1.0}}


@define("RecurrentGatedDeltaRule", **DELTA)
def gated_delta_rule(query, key, value, beta, state, lengths, lines, g, accepted, scale_value):
    """S = exp(g) * S, S = S + beta * (v - S k) k^T, out = scale * S q for each token and head; lengths follow a zero"""
    lengths = lengths.reshape(-1)
    if len(lengths) < 2 or lengths[0] != 0:
        raise Mismatch("lengths must follow the first token, 0")
    return delta_rule(query, key, value, beta, state, lengths[1:], lines, g, accepted, scale_value)


@define("RecurrentGatedDeltaRuleV310", **DELTA)
def gated_delta_rule_of_lengths(query, key, value, beta, state, lengths, lines, g, accepted, scale_value):
    """S = exp(g) * S, S = S + beta * (v - S k) k^T, out = scale * S q for each token and head, sequence by sequence"""
    return delta_rule(query, key, value, beta, state, lengths.reshape(-1), lines, g, accepted, scale_value)


@define("CopyAndExpandEagleInputs", dtypes="int32", inputs="target_token_ids target_positions next_token_ids query_start_loc query_end_loc",
        outputs="out_input_ids out_positions out_is_rejected_token_mask:int8 out_is_masked_token_mask:int8 out_new_token_indices "
                "out_hidden_state_mapping",
        attributes={"padding_token_id": REQUIRED, "parallel_drafting_token_id": REQUIRED, "num_padding_slots_per_request": REQUIRED,
                    "shift_input_ids": REQUIRED, "total_input_tokens": REQUIRED})
def expanded_requests(tokens, positions, following, starts, ends, padding_token_id, parallel_drafting_token_id, num_padding_slots_per_request,
                      shift_input_ids, total_input_tokens):
    """of each request the tokens that were kept, without the first where they are shifted, the next one, drafting ones, padding for the rest"""
    slots, count = num_padding_slots_per_request, len(following)
    if total_input_tokens != len(tokens) or positions.shape != tokens.shape or len(starts) != count + 1 or len(ends) != count or slots < 1:
        raise Mismatch(f"{total_input_tokens} tokens of {count} requests, {slots} slots each")
    if starts[0] != 0 or starts[-1] != len(tokens) or np.any(ends < starts[:-1]) or np.any(ends >= starts[1:]):
        raise Mismatch(f"requests from {starts.tolist()} that keep their tokens up to {ends.tolist()}")
    parts, new, kept_as, begin = [], [], [], 0
    for request in range(count):
        first = starts[request] + (1 if shift_input_ids else 0)
        kept, rest = ends[request] + 1 - first, starts[request + 1] - ends[request] - 1
        length = kept + slots
        added_ids = [following[request]] + [parallel_drafting_token_id] * (slots - 1) + [padding_token_id] * rest
        ids = np.concatenate([tokens[first:first + kept], added_ids])
        places = np.concatenate([positions[starts[request]] + np.arange(length), np.zeros(rest)])
        at = np.arange(length + rest)
        parts.append((ids, places, at >= length, (at > kept) & (at < length)))
        new.append(begin + kept + np.arange(slots))
        kept_as.append(begin + np.arange(starts[request + 1] - starts[request]))
        begin += length + rest
    results = [Value(np.concatenate(one).astype(np.int64), exact=True) for one in (*zip(*parts), new, kept_as)]
    # Where hidden states go is asked for only with tokens that are shifted.
    return (*results[:5], results[5] if shift_input_ids else None)


# Norms.


@define("AddRmsNormBias", inputs="x1 x2 gamma beta?", outputs="y rstd:float32 x", attributes=EPSILON)
def add_rms_norm_biased(x1, x2, gamma, beta, epsilon):
    """x = x1 + x2; y = x * rstd * gamma + beta, rstd = 1 / sqrt(mean(x^2) + epsilon)"""
    x, size = added(x1, x2, None)
    y = added_rms_norm(x, size, gamma, beta, epsilon)
    return y, rms_normalised(x, trailing(x, gamma), gamma, epsilon)[1], Value(x, magnitude=size)


# Single ones.


@define("SelectV3", inputs="x y b~:int8", outputs="z")
def select_by_bytes(x, y, b):
    """z = x where b is not zero, else y"""
    if x.shape != y.shape or x.shape != b.shape:
        raise Mismatch("shapes that differ")
    return Value(np.where(b != 0, x, y), exact=True)


@define("CIoU", inputs="bboxes gtboxes", outputs="overlap atan_sub",
        attributes={"trans": False, "is_cross": False, "mode": "iou", "atan_sub_flag": True})
def complete_overlaps(bboxes, gtboxes, trans, is_cross, mode, atan_sub_flag):
    """overlap = iou - d^2 / c^2 - a * v, v = 4 / pi^2 * (difference of atan(width / height))^2, a = v / (1 - iou + v)"""
    if is_cross or mode != "iou" or not atan_sub_flag:
        raise Mismatch("only pairs of boxes by what both cover, with what was saved, have a definition")
    if bboxes.shape != gtboxes.shape or bboxes.ndim != 2 or len(bboxes) != 4:
        raise Mismatch(f"boxes of {list(bboxes.shape)} and {list(gtboxes.shape)}")
    must_be_finite(bboxes, gtboxes)
    if trans:
        bboxes, gtboxes = (np.concatenate([one[:2] - one[2:] / 2.0, one[:2] + one[2:] / 2.0]) for one in (bboxes, gtboxes))
    one, other = boxes_of(bboxes.T), boxes_of(gtboxes.T)
    sides = [(box[2] - box[0], box[3] - box[1]) for box in (one, other)]
    shortest = min(float(np.min(side)) for pair in sides for side in pair)
    # A summand that keeps quotients finite counts for nothing where sides are as long as that.
    if shortest < 0.1:
        raise Mismatch(f"a side of {shortest}")
    common = [np.maximum(np.minimum(one[at + 2], other[at + 2]) - np.maximum(one[at], other[at]), 0.0) for at in (0, 1)]
    around = [np.maximum(one[at + 2], other[at + 2]) - np.minimum(one[at], other[at]) for at in (0, 1)]
    apart = [(one[at] + one[at + 2] - other[at] - other[at + 2]) / 2.0 for at in (0, 1)]
    inner = common[0] * common[1]
    iou = inner / (sides[0][0] * sides[0][1] + sides[1][0] * sides[1][1] - inner)
    far = (apart[0] ** 2 + apart[1] ** 2) / (around[0] ** 2 + around[1] ** 2)
    angles = [np.arctan(wide / high) for wide, high in sides]
    v = 4.0 / np.pi**2 * (angles[0] - angles[1]) ** 2
    # Two boxes that are alike make a quotient of zeros, which counts for nothing.
    share = np.where(v > 0, v / np.where(v > 0, 1.0 - iou + v, 1.0), 0.0)
    # Sides are differences, of which large coordinates leave little.
    reach = np.max(np.abs(np.stack(one + other)), axis=0) / np.min(np.stack([side for pair in sides for side in pair]), axis=0)
    # Which of the angles is taken from the other is not said.
    return Value((iou - far - share * v)[None, :], magnitude=(1.0 + reach)[None, :], steps=2), None


def must_be_scales(scale, width):
    if scale is not None and scale.size not in (1, width):
        raise Mismatch(f"{scale.size} scales for {width} elements")


@define("DequantSituQuant", outputs="y:int8 y_scale:float32",
        inputs="x~ weight_scale?:float32 activation_scale?:float32 bias?:float32 quant_scale?:float32 quant_offset?:float32 group_index?:int64",
        attributes={"beta": 4.0, "linear_beta": 25.0, "activate_left": True, "quant_type": "dynamic"})
def dequant_situ_quant(x, weight_scale, activation_scale, bias, quant_scale, quant_offset, groups, beta, linear_beta, activate_left, quant_type,
                       call):
    """y = trunc(s / y_scale), y_scale = max |s| / 127 of each row, s = the gate of SituGlu of x, dequantised; static: trunc(s / quant_scale + ...)"""
    dtype = call["inputs"][0]["instances"][0]["dtype"]
    if dtype not in ("int8", "int32", "float16", "bfloat16") or groups is not None:
        raise Mismatch(f"x of {dtype}, in groups, has no definition")
    # Which of the parameters are there is fixed by the dtype.
    there = [one is not None for one in (weight_scale, activation_scale, bias)]
    if dtype == "int8" and (not there[0] or there[1]) or dtype == "int32" and not (there[0] and there[1]) or "float" in dtype and any(there):
        raise Mismatch(f"scales that x of {dtype} does not take")
    must_be_finite(x)
    for one in (weight_scale, bias):
        must_be_scales(one, x.shape[-1])
    value, size = x.astype(np.float64), np.abs(x)
    if weight_scale is not None:
        value = value * weight_scale.reshape(-1) * (1.0 if activation_scale is None else scalar(activation_scale))
        size = np.abs(value)
    if bias is not None:
        value, size = value + bias.reshape(-1), size + np.abs(bias.reshape(-1))
    gate, _, _, through, _ = situ_parts(value, -1, beta, linear_beta, activate_left)
    s = gate * through
    # Both factors have slopes of little more than one: errors of their terms are theirs.
    left, right = np.split(size, 2, axis=-1)
    of_gate, of_other = (left, right) if activate_left else (right, left)
    size = np.abs(s) + 1.2 * (of_gate * np.abs(through) + of_other * np.abs(gate))
    relative = 2.0**-14
    if quant_type == "static":
        if quant_scale is None or np.any(quant_scale == 0):
            raise Mismatch("static quantisation without scales")
        for one in (quant_scale, quant_offset):
            must_be_scales(one, s.shape[-1])
        scale, offset = quant_scale.reshape(-1), 0.0 if quant_offset is None else quant_offset.reshape(-1)
        return quantised(s / scale + offset, size / np.abs(scale) + np.abs(offset), -128, 127, relative, np.trunc), None
    if quant_type != "dynamic" or quant_scale is not None or quant_offset is not None:
        raise Mismatch(f"the mode {quant_type} with scales has no definition")
    largest = np.abs(s).max(axis=-1, keepdims=True)
    if np.any(largest == 0):
        raise Mismatch("a row of zeros has no scale")
    scale = largest / 127.0
    # The largest is 127 itself, whatever its quotient by the scale is rounded to.
    whole = quantised(s / largest * 127.0, size / scale + np.abs(s) / scale, -128, 127, relative, np.trunc)
    return whole, Value(scale[..., 0], magnitude=size.max(axis=-1) / 127.0, steps=5)


@define("ApplyAdamWQuant", outputs="var m:uint8 v:uint8 absmax_m:float32 absmax_v:float32",
        inputs="var grad m:uint8 v:uint8 qmap_m:float32 qmap_v:float32 absmax_m:float32 absmax_v:float32 step:int64",
        attributes={"lr": REQUIRED, "beta1": REQUIRED, "beta2": REQUIRED, "weight_decay": REQUIRED, "eps": REQUIRED, "gnorm_scale": REQUIRED,
                    "block_size": 256}, ignored="quant_mode")
def apply_adam_w_quantised(var, grad, m, v, qmap_m, qmap_v, absmax_m, absmax_v, step, lr, beta1, beta2, weight_decay, eps, gnorm_scale,
                           block_size):
    """A step of AdamW, m and v being places in qmap_m and qmap_v, times absmax of their block; absmax_m, absmax_v = the largest of each block"""
    must_be_alike(var, grad, m, v)
    blocks = -(-var.size // block_size)
    if any(one.size != 256 or np.any(np.diff(one.reshape(-1)) <= 0) for one in (qmap_m, qmap_v)):
        raise Mismatch("maps must have 256 values that rise")
    if absmax_m.size != blocks or absmax_v.size != blocks or scalar(step) < 1 or np.any(qmap_v < 0) or np.any(absmax_v < 0):
        raise Mismatch(f"{absmax_m.size} and {absmax_v.size} scales for {blocks} blocks, step {scalar(step)}")
    block = np.arange(var.size).reshape(var.shape) // block_size
    moments = [table.reshape(-1)[one] * scale.reshape(-1)[block] for table, one, scale in ((qmap_m, m, absmax_m), (qmap_v, v, absmax_v))]
    powers = (np.float64(beta1) ** scalar(step), np.float64(beta2) ** scalar(step))
    updated, moment, square = decoupled(var, *moments, grad * gnorm_scale, lr, beta1, beta2, weight_decay, eps, powers)
    largest = []
    for one, shape in ((moment, absmax_m.shape), (square, absmax_v.shape)):
        found, size = np.zeros(blocks), np.zeros(blocks)
        np.maximum.at(found, block.reshape(-1), np.abs(one.array).reshape(-1))
        np.maximum.at(size, block.reshape(-1), one.magnitude.reshape(-1))
        largest.append(Value(found.reshape(shape), magnitude=size.reshape(shape), steps=2))
    # Which of two places a value between them goes to is not said.
    return updated, None, None, *largest
