"""Rows to the experts chosen for them and back: in the order of experts, within a range of them, within their capacity, by a map."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from quantise import per_row, precision, quantised
from routing import in_range

# Above this float32 does not hold each whole number, and interfaces do not take it for an expert.
MOST_EXPERTS = 2**24 - 1


def in_order(experts, most=MOST_EXPERTS):
    """The places of choices in the order of their experts, those of one expert as they come, and the place that each one gets."""
    if np.any(experts < 0) or np.any(experts >= most):
        raise Mismatch(f"an expert is not below {most}")
    order = np.argsort(experts.reshape(-1), kind="stable")
    return order, inverse(order)


def inverse(order):
    places = np.empty(order.size, np.int64)
    places[order] = np.arange(order.size)
    return places


def all_different(places, size):
    if np.unique(places).size != places.size:
        raise Mismatch("a place is there twice")
    return in_range(places, size)


def choices_of(x, experts):
    if x.ndim != 2 or experts.ndim != 2 or len(experts) != len(x):
        raise Mismatch(f"experts of {list(experts.shape)} for {list(x.shape)}")
    return experts.shape[1]


def rows_of(call, fallback):
    """How many rows the first output has."""
    shape = call["outputs"][0]["shape"]
    return fallback if not shape else shape[0]


def absent(call, *positions):
    """Outputs that nothing is written to are not there."""
    for position in positions:
        shape = call["outputs"][position]["shape"]
        if shape is not None and np.prod(shape) > 0:
            raise Mismatch(f"nothing is written to output {call['outputs'][position]['name']}")


def padded(values, rows):
    """Rows with others behind them that nothing is said about."""
    if len(values) > rows:
        raise Mismatch(f"{len(values)} rows for an output of {rows}")
    array = np.zeros((rows,) + values.shape[1:], values.dtype)
    array[: len(values)] = values
    behind = np.zeros(array.shape, bool)
    behind[len(values) :] = True
    return array, behind


def expanded_by_rows(x, row_idx, experts, active_num, call):
    """Rows of the first `active_num` choices in the order of their experts, which of them are there, and both indices."""
    k = choices_of(x, experts)
    if row_idx.shape != experts.shape or active_num < 1:
        raise Mismatch("a row for each expert and active rows are needed")
    order, _ = in_order(experts)
    rows = all_different(row_idx.reshape(-1)[order], experts.size)
    count = rows_of(call, min(active_num, len(x)) * k)
    if count not in (experts.size, min(active_num, experts.size), min(active_num, len(x)) * k):
        raise Mismatch(f"{count} rows of {active_num} that are active")
    # It counts rows of the output in one place and rows of x in another: what both have is compared.
    valid, behind = padded(x[rows[: min(active_num, count)] % len(x)], count)
    return valid, behind, Value(inverse(rows), exact=True), Value(experts.reshape(-1)[order], exact=True)


@define("MoeInitRouting", inputs="x row_idx:int32 expert_idx:int32", attributes={"active_num": REQUIRED},
        outputs="expanded_x expanded_row_idx:int32 expanded_expert_idx:int32")
def expand(x, row_idx, experts, active_num, call):
    """expanded_x[i] = x[row_idx[order[i]] % rows], order = that of expert_idx; expanded_row_idx[row_idx[order[i]]] = i"""
    rows, behind, places, ordered = expanded_by_rows(x, row_idx, experts, active_num, call)
    return Value(rows, exact=True, unspecified=behind), places, ordered


@define("MoeInitRoutingQuant", inputs="x row_idx:int32 expert_idx:int32", outputs="expanded_x:int8 expanded_row_idx:int32 expanded_expert_idx:int32",
        attributes={"active_num": REQUIRED, "scale": REQUIRED, "offset": REQUIRED})
def expand_quantised(x, row_idx, experts, active_num, scale, offset, call):
    """as MoeInitRouting, of round(x * scale + offset) between -128 and 127"""
    rows, behind, places, ordered = expanded_by_rows(x, row_idx, experts, active_num, call)
    y = quantised(rows * scale + offset, np.abs(rows * scale) + abs(offset), -128, 127, precision(call))
    y.unspecified = behind | y.unspecified
    return y, places, ordered


ROUTING_V2 = {"active_num": 0, "expert_capacity": 0, "expert_num": 0, "drop_pad_mode": 0, "expert_tokens_count_or_cumsum_flag": 0,
              "expert_tokens_before_capacity_flag": False}


def dispatched(x, experts, active_num, expert_capacity, expert_num, drop_pad_mode):
    """The choice that each expanded row comes from (-1: none), its shape but for the last dimension, and the row of each choice."""
    k = choices_of(x, experts)
    if drop_pad_mode not in (0, 1) or active_num < 0 or drop_pad_mode == 1 and (expert_num < 1 or expert_capacity < 1):
        raise Mismatch(f"{expert_num} experts of the capacity {expert_capacity}, mode {drop_pad_mode}")
    order, places = in_order(experts, expert_num if drop_pad_mode == 1 or expert_num > 0 else MOST_EXPERTS)
    if drop_pad_mode == 0:
        count = min(active_num, experts.size) if active_num > 0 else experts.size
        return order[:count], (count,), places, k
    ordered = experts.reshape(-1)[order]
    rank = np.arange(order.size) - np.searchsorted(ordered, ordered)
    kept = rank < expert_capacity
    target = ordered * expert_capacity + rank
    sources = np.full(expert_num * expert_capacity, -1)
    sources[target[kept]] = order[kept]
    rows = np.full(order.size, -1)
    rows[order[kept]] = target[kept]
    return sources, (expert_num, expert_capacity), rows, k


def counted(experts, expert_num, drop_pad_mode, count_flag, before_flag):
    """What the two outputs that count hold, where they are asked for."""
    counts = np.bincount(experts.reshape(-1), minlength=max(expert_num, 1))
    if count_flag not in (0, 1, 2):
        raise Mismatch(f"the flag {count_flag} for counts")
    total = before = None
    if drop_pad_mode == 0 and count_flag:
        if expert_num < 1:
            raise Mismatch("counts without a number of experts")
        total = Value(np.cumsum(counts) if count_flag == 1 else counts, exact=True)
    if drop_pad_mode == 1 and before_flag:
        before = Value(counts, exact=True)
    return total, before


@define("MoeInitRoutingV2", inputs="x expert_idx:index", attributes=ROUTING_V2,
        outputs="expanded_x expanded_row_idx:int32 expert_tokens_count_or_cumsum:int32 expert_tokens_before_capacity:int32")
def expand_v2(x, experts, active_num, expert_capacity, expert_num, drop_pad_mode, expert_tokens_count_or_cumsum_flag,
              expert_tokens_before_capacity_flag, call):
    """expanded_x[i] = x[order[i] // k], order = that of expert_idx, or zeros where an expert has less than its capacity"""
    # A row goes to the experts chosen for it: the order is over [rows, k], as the gradient has it.
    sources, shape, rows, k = dispatched(x, experts, active_num, expert_capacity, expert_num, drop_pad_mode)
    values = np.where((sources < 0)[:, None], 0.0, x[sources // k])
    counts = counted(experts, expert_num, drop_pad_mode, expert_tokens_count_or_cumsum_flag, expert_tokens_before_capacity_flag)
    absent(call, *(position for position, one in enumerate(counts, 2) if one is None))
    return Value(values.reshape(shape + x.shape[1:]), exact=True), Value(rows, exact=True), *counts


def scaled_by_row(values, scale, experts, call):
    """Rows by their largest size to 127, each times what its expert has; what is rounded then the interface says in two ways."""
    if scale is None:
        return per_row(values, np.abs(values), 2.0**-20)
    if scale.ndim != 2 or scale.shape[1] != values.shape[1]:
        raise Mismatch(f"scales of {list(scale.shape)} for rows of {values.shape[1]}")
    factor = scale if len(scale) == 1 else scale[in_range(experts, len(scale))]
    _, largest_of = per_row(values * factor, np.abs(values * factor), precision(call))
    return None, largest_of


@define("MoeInitRoutingQuantV2", inputs="x expert_idx:int32 scale:float32? offset:float32?", attributes={**ROUTING_V2, "quant_mode": 0},
        outputs="expanded_x:int8 expanded_row_idx:int32 expert_tokens_count_or_cumsum:int32 expert_tokens_before_capacity:int32 "
                "dynamic_quant_scale:float32")
def expand_quantised_v2(x, experts, scale, offset, active_num, expert_capacity, expert_num, drop_pad_mode, expert_tokens_count_or_cumsum_flag,
                        expert_tokens_before_capacity_flag, quant_mode, call):
    """as MoeInitRoutingV2, of round(x * scale + offset), or of round(x / s), s = max |x| / 127 of each row, with quant_mode 1"""
    sources, shape, rows, k = dispatched(x, experts, active_num, expert_capacity, expert_num, drop_pad_mode)
    filled, values = sources >= 0, x[sources[sources >= 0] // k]
    scales = None
    if quant_mode == 0:
        if scale is None or offset is None or scale.size != 1 or offset.size != 1:
            raise Mismatch("one scale and one offset are needed")
        factor, shift = float(scale.reshape(-1)[0]), float(offset.reshape(-1)[0])
        y = quantised(values * factor + shift, np.abs(values * factor) + abs(shift), -128, 127, precision(call))
        absent(call, 4)
    elif quant_mode == 1 and offset is None:
        y, scales = scaled_by_row(values, scale, experts.reshape(-1)[sources[filled]], call)
        scales = spread(scales, filled, shape)
        # What scale an empty row has is not said.
        scales.unspecified = ~filled.reshape(shape)
    else:
        raise Mismatch(f"the mode {quant_mode} with an offset has no definition")
    # Whether 1 or 2 stands for sums the interface says in two ways.
    counts = counted(experts, expert_num, drop_pad_mode, expert_tokens_count_or_cumsum_flag, expert_tokens_before_capacity_flag)
    absent(call, *(position for position, one in enumerate(counts, 2) if one is None))
    y = None if y is None else spread(y, filled, shape + x.shape[1:])
    return y, Value(rows, exact=True), None, counts[1], scales


def spread(value, filled, shape):
    """Rows of a value where they belong, zeros elsewhere."""

    def placed(part, kind):
        whole = np.zeros((filled.size,) + np.shape(value.array)[1:], kind)
        whole[filled] = part
        return whole.reshape(shape)

    magnitude = None if value.magnitude is None else placed(value.magnitude, np.float64)
    slack = None if value.slack is None else placed(value.slack, np.float64)
    unspecified = None if value.unspecified is None else placed(value.unspecified, bool)
    return Value(placed(value.array, np.float64), magnitude=magnitude, steps=value.steps, unspecified=unspecified, slack=slack)


ROUTING_V3 = {"active_num": -1, "expert_num": -1, "drop_pad_mode": 0, "expert_tokens_num_type": 0, "expert_tokens_num_flag": False, "quant_mode": -1,
              "active_expert_range": [], "row_idx_type": 0}


@define("MoeInitRoutingV3", inputs="x expert_idx:int32 scale:float32? offset:float32?", attributes=ROUTING_V3, ignored="expert_capacity",
        outputs="expanded_x~ expanded_row_idx:int32 expert_tokens_count_or_cumsum:int64 expanded_scale:float32", dtypes="float int8")
def expand_v3(x, experts, scale, offset, active_num, expert_num, drop_pad_mode, expert_tokens_num_type, expert_tokens_num_flag, quant_mode,
              active_expert_range, row_idx_type, call):
    """expanded_x[i] = x[order[i] // k], order = that of the choices in active_expert_range; or round(x / s), s = max |x| / 127"""
    k = choices_of(x, experts)
    low, high = active_expert_range or [0, expert_num]
    if drop_pad_mode != 0 or active_num != experts.size or offset is not None or not 0 <= low < high <= expert_num:
        raise Mismatch(f"{active_num} rows, experts {low} to {high} of {expert_num}, mode {drop_pad_mode}")
    if row_idx_type not in (0, 1) or expert_tokens_num_type not in (1, 2) or not expert_tokens_num_flag:
        raise Mismatch(f"counts of the type {expert_tokens_num_type}, rows of the type {row_idx_type}")
    order, _ = in_order(experts, expert_num)
    chosen = experts.reshape(-1)[order]
    order = order[(chosen >= low) & (chosen < high)]
    if not order.size:
        raise Mismatch("no expert is in the range")
    chosen, values = experts.reshape(-1)[order], x[order // k]
    if row_idx_type == 0:
        rows = np.full(experts.size, -1)
        rows[order] = np.arange(order.size)
        rows = Value(rows, exact=True)
    else:
        array, behind = padded(order, experts.size)
        rows = Value(array, exact=True, unspecified=behind)
    counts = np.bincount(chosen, minlength=expert_num)[low:high]
    if expert_tokens_num_type == 1:
        counts = Value(counts, exact=True)
    else:
        pairs = np.stack([np.flatnonzero(counts) + low, counts[counts > 0]], axis=1)
        array, behind = padded(pairs, expert_num)
        counts = Value(array, exact=True, unspecified=behind)
    count, scales, filled = rows_of(call, experts.size), None, np.arange(experts.size) < order.size
    if count != experts.size:
        raise Mismatch(f"{count} rows for {experts.size} choices")
    wanted = call["outputs"][0]["dtype"], call["inputs"][0]["instances"][0]["dtype"]
    if quant_mode == -1 and wanted[0] == wanted[1]:
        if scale is not None and scale.shape != (len(x),):
            raise Mismatch(f"scales of {list(scale.shape)}")
        array, behind = padded(values, count)
        y = Value(array, exact=True, unspecified=behind)
        if scale is not None:
            array, behind = padded(scale[order // k], count)
            scales = Value(array, exact=True, unspecified=behind)
        else:
            absent(call, 3)
    elif quant_mode == 1 and wanted[0] == "int8" and wanted[1] != "int8":
        if scale is not None and len(scale) not in (1, high - low):
            raise Mismatch(f"scales of {list(scale.shape)} for {high - low} experts")
        y, scales = scaled_by_row(values, scale, chosen - low, call)
        scales = spread(scales, filled, (count,))
        scales.unspecified = ~filled
        if y is not None:
            y = spread(y, filled, (count,) + x.shape[1:])
            y.unspecified |= ~filled[:, None]
    else:
        raise Mismatch(f"the mode {quant_mode} from {wanted[1]} to {wanted[0]} has no definition")
    return y, rows, counts, scales


@define("MoeInitRoutingV2Grad", inputs="grad_expanded_x expanded_row_idx:int32", outputs="grad_x",
        attributes={"top_k": REQUIRED, "drop_pad_mode": 0, "active_num": 0})
def expand_gradient(grad, rows, top_k, drop_pad_mode, active_num):
    """grad_x[i] = the sum over t < top_k of grad_expanded_x[expanded_row_idx[i * top_k + t]], without rows that were dropped"""
    if top_k < 1 or rows.ndim != 1 or rows.size % top_k or drop_pad_mode not in (0, 1) or grad.ndim != (3 if drop_pad_mode == 1 else 2):
        raise Mismatch(f"{rows.size} rows, {top_k} for each one, of {grad.ndim} dimensions")
    grad = grad.reshape(-1, grad.shape[-1])
    if drop_pad_mode == 1:
        there = rows >= 0
        if np.any(rows < -1):
            raise Mismatch("an index below -1")
    else:
        there = rows < (active_num if active_num > 0 else rows.size)
        in_range(rows, rows.size)
    return summed(grad, rows, there, top_k)


def summed(values, rows, there, top_k, weights=None):
    """For every `top_k` indices the sum of the rows that they point to, as far as they are there."""
    # No two choices have one row.
    places = all_different(rows[there], len(values))
    terms = np.zeros((rows.size, values.shape[1]))
    terms[there] = values[places] if weights is None else values[places] * weights.reshape(-1, 1)[there]
    terms = terms.reshape(-1, top_k, values.shape[1])
    if top_k == 1 and weights is None:
        return Value(terms[:, 0], exact=True)
    return Value(terms.sum(axis=1), magnitude=np.abs(terms).sum(axis=1), steps=2)


@define("MoeReRouting", inputs="tokens expert_token_num_per_rank:index per_token_scales:float32?", dtypes="float16 bfloat16 int8",
        outputs="permute_tokens permute_per_token_scales:float32 permute_token_idx:int32 expert_token_num:index",
        attributes={"expert_token_num_type": 1, "idx_type": 0})
def by_expert(tokens, counts, scales, expert_token_num_type, idx_type, call):
    """permute_tokens[i] = tokens[permute_token_idx[i]]: from the order of ranks to that of experts; expert_token_num = counts over ranks"""
    if tokens.ndim != 2 or counts.ndim != 2 or expert_token_num_type != 1 or idx_type != 0:
        raise Mismatch(f"counts of the type {expert_token_num_type}, indices of the type {idx_type}")
    if np.any(counts < 0) or counts.sum() != len(tokens):
        raise Mismatch(f"counts that add up to {counts.sum()} and not to {len(tokens)}")
    if scales is not None and scales.shape[:1] != tokens.shape[:1]:
        raise Mismatch(f"scales of {list(scales.shape)}")
    if scales is None:
        absent(call, 1)
    experts = np.repeat(np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.reshape(-1))
    order = np.argsort(experts, kind="stable")
    moved = None if scales is None else Value(scales[order], exact=True)
    return Value(tokens[order], exact=True), moved, Value(order, exact=True), Value(counts.sum(axis=0), exact=True)


def tokens_of(tokens, indices):
    """How many experts each token has."""
    if tokens.ndim != 2 or indices.ndim not in (1, 2) or len(indices) != len(tokens):
        raise Mismatch(f"experts of {list(indices.shape)} for {list(tokens.shape)}")
    return 1 if indices.ndim == 1 else indices.shape[1]


def not_padded(padded_mode, *shapes):
    if padded_mode or any(shapes):
        raise Mismatch("rows that are padded have no definition")


@define("MoeTokenPermute", inputs="tokens indices:index", outputs="permute_tokens sorted_indices:int32", dtypes="float int8",
        attributes={"num_out_tokens": 0, "padded_mode": False})
def permute(tokens, indices, num_out_tokens, padded_mode):
    """permute_tokens[sorted_indices[i]] = tokens[i // k], sorted_indices = the places of indices in order, up to num_out_tokens rows"""
    not_padded(padded_mode)
    k = tokens_of(tokens, indices)
    order, places = in_order(indices)
    count = num_out_tokens if num_out_tokens > 0 else order.size + num_out_tokens
    if count < 1:
        raise Mismatch("no row is left")
    return Value(tokens[order[:count] // k], exact=True), Value(places, exact=True)


@define("MoeTokenPermuteGrad", inputs="permuted_output_grad sorted_indices:int32", outputs="input_grad",
        attributes={"num_topk": REQUIRED, "padded_mode": False})
def permute_gradient(grad, places, num_topk, padded_mode):
    """input_grad[i] = the sum over j < num_topk of permuted_output_grad[sorted_indices[i * num_topk + j]]"""
    not_padded(padded_mode)
    return summed(grad, checked(places, num_topk, grad), np.ones(places.size, bool), num_topk)


def checked(places, top_k, *tensors):
    """Places as a row of them, `top_k` for each token."""
    if places.ndim != 1 or top_k < 1 or places.size % top_k or any(one is not None and one.ndim != 2 for one in tensors):
        raise Mismatch(f"{list(places.shape)} places, {top_k} for each token")
    return places


def within(places, limits, rows=None):
    """The range of places that is kept here, where they are in it, and which ones are."""
    # Without a range other rules hold, and some inputs do not count.
    if not limits or len(limits) != 2 or not 0 <= limits[0] < limits[1] <= places.size:
        raise Mismatch(f"the range {limits} of {places.size} places")
    low, high = limits
    all_different(places, places.size)
    if rows is not None and rows != high - low:
        raise Mismatch(f"{rows} rows for the range {limits}")
    return places - low, (places >= low) & (places < high)


@define("MoeTokenPermuteWithEp", inputs="tokens indices:index probs?", outputs="permute_tokens sorted_indices:int32 permute_probs",
        attributes={"range": [0, 0], "padded_mode": False}, ignored="num_out_tokens")
def permute_range(tokens, indices, probs, padded_mode, call, **limits):
    """permute_tokens[sorted_indices[i] - range[0]] = tokens[i // k], permute_probs = probs[i], for sorted_indices[i] in range"""
    not_padded(padded_mode)
    k = tokens_of(tokens, indices)
    order, places = in_order(indices)
    within(places, limits["range"])
    order = order[limits["range"][0] : limits["range"][1]]
    if probs is not None and probs.size != indices.size:
        raise Mismatch(f"probabilities of {list(probs.shape)}")
    if probs is None:
        absent(call, 2)
    moved = None if probs is None else Value(probs.reshape(-1)[order], exact=True)
    return Value(tokens[order // k], exact=True), Value(places, exact=True), moved


@define("MoeTokenPermuteWithEpGrad", inputs="permuted_tokens_output_grad sorted_indices:int32 permuted_probs_output_grad?",
        outputs="token_grad probs_grad", attributes={"num_topk": 1, "range": [0, 0], "padded_mode": False})
def permute_range_gradient(grad, places, probs_grad, num_topk, padded_mode, call, **limits):
    """token_grad[i] = the sum over j of permuted_tokens_output_grad[sorted_indices[i * num_topk + j] - range[0]] as far as in range"""
    not_padded(padded_mode)
    rows, there = within(checked(places, num_topk, grad), limits["range"], len(grad))
    back = None
    if probs_grad is None:
        absent(call, 1)
    else:
        if probs_grad.size != len(grad):
            raise Mismatch(f"{probs_grad.size} probabilities for {len(grad)} rows")
        back = np.zeros(rows.size)
        back[there] = probs_grad.reshape(-1)[rows[there]]
        back = Value(back.reshape(-1, num_topk), exact=True)
    return summed(grad, rows, there, num_topk), back


@define("MoeTokenUnpermuteWithEp", inputs="permuted_tokens sorted_indices:int32 probs~?:float", outputs="unpermuted_tokens",
        attributes={"num_topk": 1, "range": [0, 0], "padded_mode": False, "restore_shape": []})
def unpermute_range(tokens, places, probs, num_topk, padded_mode, restore_shape, **limits):
    """unpermuted_tokens[i] = the sum over j of permuted_tokens[sorted_indices[i * num_topk + j] - range[0]] * probs[i, j] in range"""
    not_padded(padded_mode, restore_shape)
    rows, there = within(checked(places, num_topk, tokens), limits["range"], len(tokens))
    if probs is not None and probs.size != places.size:
        raise Mismatch(f"probabilities of {list(probs.shape)}")
    return summed(tokens, rows, there, num_topk, probs)


def given_back(grad, tokens, rows, there, top_k, probs, count, call):
    """Gradients of rows, and of the probabilities that they were multiplied by."""
    if grad.ndim != 2 or len(grad) * top_k != rows.size or probs is not None and probs.size != rows.size:
        raise Mismatch(f"gradients of {list(grad.shape)} for {rows.size} rows")
    places = all_different(rows[there], count)
    if places.size != count:
        raise Mismatch("a row is nowhere")
    terms = np.repeat(grad, top_k, axis=0)
    back = np.empty((count, grad.shape[1]))
    if probs is None:
        absent(call, 1)
        back[places] = terms[there]
        return Value(back, exact=True), None
    if tokens is None or tokens.shape != (count, grad.shape[1]):
        raise Mismatch("the rows that were multiplied are needed")
    back[places] = (terms * probs.reshape(-1, 1))[there]
    products = np.zeros(terms.shape)
    products[there] = tokens[places] * terms[there]
    total, size = products.sum(axis=1), np.abs(products).sum(axis=1)
    return Value(back, steps=2), Value(total.reshape(-1, top_k), magnitude=size.reshape(-1, top_k), steps=2)


@define("MoeTokenUnpermuteGrad", inputs="permuted_tokens unpermuted_tokens_grad sorted_indices:int32 probs~?:float",
        outputs="permuted_tokens_grad probs_grad:float", attributes={"padded_mode": False}, ignored="restore_shape")
def unpermute_gradient(tokens, grad, places, probs, padded_mode, call):
    """permuted_tokens_grad[sorted_indices[i * k + j]] = unpermuted_tokens_grad[i] * probs[i, j], probs_grad[i, j] = its row of tokens * it"""
    not_padded(padded_mode)
    k = 1 if probs is None else probs.shape[-1]
    places = checked(places, k, tokens, grad)
    return given_back(grad, tokens, places, np.ones(places.size, bool), k, probs, len(tokens), call)


@define("MoeTokenUnpermuteWithEpGrad", inputs="unpermuted_tokens_grad sorted_indices:int32 permuted_tokens? probs~?:float",
        outputs="permuted_tokens_grad probs_grad:float", attributes={"padded_mode": False, "range": [-1, -1], "topk_num": 1}, ignored="restore_shape")
def unpermute_range_gradient(grad, places, tokens, probs, padded_mode, topk_num, call, **limits):
    """as MoeTokenUnpermuteGrad, at sorted_indices - range[0] as far as in range; probs_grad is 0 beyond it"""
    not_padded(padded_mode)
    rows, there = within(checked(places, topk_num, tokens, grad), limits["range"])
    return given_back(grad, tokens, rows, there, topk_num, probs, limits["range"][1] - limits["range"][0], call)


def choices_by_expert(chosen):
    """Tokens and experts of a map [tokens, experts], expert by expert."""
    experts, tokens = np.nonzero(chosen.T)
    return tokens, experts


def each_as_many(chosen, tokens):
    """How many experts each token has by a map [tokens, experts]."""
    if chosen.ndim != 2 or len(chosen) != tokens or np.any((chosen != 0) & (chosen != 1)):
        raise Mismatch(f"a map of {list(chosen.shape)} for {tokens} tokens")
    counts = chosen.astype(np.int64).sum(axis=1)
    if counts.size == 0 or np.any(counts != counts[0]) or counts[0] < 1:
        raise Mismatch("each token must have as many experts")
    return int(counts[0])


def map_kind(call, position):
    one = call["inputs"][position]
    if one is not None and one["instances"][0]["dtype"] not in ("bool", "int8"):
        raise Mismatch(f"a map of {one['instances'][0]['dtype']}")


@define("MoeTokenPermuteWithRoutingMap", inputs="tokens routing_map~ probs?", outputs="permute_tokens permute_probs sorted_indices:int32",
        attributes={"num_out_tokens": REQUIRED, "drop_and_pad": False})
def permute_by_map(tokens, chosen, probs, num_out_tokens, drop_and_pad, call):
    """permute_tokens[sorted_indices[i * k + j]] = tokens[i], expert by expert those of a map; permute_probs = probs in that order"""
    not_padded(drop_and_pad)
    map_kind(call, 1)
    # Experts by tokens is what the operator takes, tokens by experts what the interface in front of it takes: the shape tells.
    if chosen.ndim != 2 or chosen.shape[0] == chosen.shape[1] or probs is not None and probs.shape != chosen.shape:
        raise Mismatch(f"a map of {list(chosen.shape)}")
    if chosen.shape[1] == len(tokens):
        chosen, probs = chosen.T, None if probs is None else probs.T
    k = each_as_many(chosen, len(tokens))
    if tokens.ndim != 2 or num_out_tokens != k * len(tokens):
        raise Mismatch(f"{num_out_tokens} rows of {len(tokens)} tokens")
    if probs is None:
        absent(call, 1)
    rows, experts = choices_by_expert(chosen)
    order = np.argsort(rows, kind="stable")
    moved = None if probs is None else Value(probs[rows, experts], exact=True)
    return Value(tokens[rows], exact=True), moved, Value(order, exact=True)


@define("MoeTokenPermuteWithRoutingMapGrad", outputs="tokens_grad_out probs_grad_out_optional",
        inputs="permuted_token_output_grad permuted_probs_output_grad_optional? sorted_indices:int32 routing_map_optional~?",
        attributes={"num_experts": REQUIRED, "tokens_num": REQUIRED, "padded_mode": False})
def permute_by_map_gradient(grad, probs_grad, places, chosen, num_experts, tokens_num, padded_mode, call):
    """tokens_grad_out[i] = the sum over j of permuted_token_output_grad[sorted_indices[i * k + j]]"""
    # The gradient of probabilities the interface makes itself, by a scatter that is masked.
    not_padded(padded_mode)
    absent(call, 1)
    map_kind(call, 3)
    k = len(grad) // tokens_num if tokens_num > 0 else 0
    if places.size != len(grad) or k * tokens_num != places.size or chosen is not None and chosen.shape != (tokens_num, num_experts):
        raise Mismatch(f"{places.size} places for {tokens_num} tokens")
    return summed(grad, checked(places, k, grad), np.ones(places.size, bool), k), None


@define("MoeTokenUnpermuteWithRoutingMap", inputs="permuted_tokens sorted_indices:int32 routing_map~? probs?",
        outputs="unpermuted_tokens out_index:int32 permute_token_id:int32 permute_probs", attributes={"drop_and_pad": False, "restore_shape": []})
def unpermute_by_map(tokens, places, chosen, probs, drop_and_pad, restore_shape, call):
    """unpermuted_tokens[i] = the sum over j of (permuted_tokens * permute_probs)[sorted_indices[i * k + j]], permute_probs = probs by expert"""
    not_padded(drop_and_pad)
    map_kind(call, 2)
    count = len(chosen) if chosen is not None else restore_shape[0] if restore_shape else 0
    if count < 1 or len(tokens) % count or places.size != len(tokens) or restore_shape and list(restore_shape) != [count, tokens.shape[-1]]:
        raise Mismatch(f"{places.size} places for {count} tokens")
    k = len(tokens) // count
    places = checked(places, k, tokens)
    # Without padding rows are not sorted.
    absent(call, 1, 2)
    if probs is None:
        absent(call, 3)
        return summed(tokens, places, np.ones(places.size, bool), k), None, None, None
    if chosen is None or probs.shape != chosen.shape or each_as_many(chosen, count) != k:
        raise Mismatch("a map and probabilities of its shape are needed")
    rows, experts = choices_by_expert(chosen)
    all_different(places, len(tokens))
    if np.any(rows[places] != np.repeat(np.arange(count), k)):
        raise Mismatch("places that the map was not made into")
    moved = probs[rows, experts]
    return summed(tokens, places, np.ones(places.size, bool), k, moved[places]), None, None, Value(moved, exact=True)


@define("MoeTokenUnpermuteWithRoutingMapGrad", outputs="permuted_tokens_grad probs_grad",
        inputs="unpermuted_tokens_grad out_index:int32 permute_token_id:int32 routing_map~? permuted_tokens? probs?",
        attributes={"drop_and_pad": False}, ignored="restore_shape")
def unpermute_by_map_gradient(grad, places, rows, chosen, tokens, probs, drop_and_pad, call):
    """permuted_tokens_grad[out_index[i]] = unpermuted_tokens_grad[permute_token_id[i]] * the probability of that choice"""
    map_kind(call, 3)
    if grad.ndim != 2 or places.ndim != 1 or rows.shape != places.shape:
        raise Mismatch(f"{list(places.shape)} places of {list(rows.shape)} tokens")
    all_different(places, places.size)
    source = np.empty(places.size, np.int64)
    source[places] = in_range(rows, len(grad))
    back = grad[source]
    if probs is None:
        absent(call, 1)
        return Value(back, exact=True), None
    if chosen is None or tokens is None or chosen.shape != probs.shape or len(probs) != len(grad) or tokens.shape != back.shape:
        raise Mismatch("a map, rows and probabilities are needed")
    if drop_and_pad:
        if places.size % chosen.shape[1]:
            raise Mismatch(f"{places.size} rows for {chosen.shape[1]} experts")
        experts = np.arange(places.size) // (places.size // chosen.shape[1])
        if np.unique(source * chosen.shape[1] + experts).size != places.size:
            raise Mismatch("a choice is there twice")
    else:
        each_as_many(chosen, len(grad))
        choices, experts = choices_by_expert(chosen)
        if not np.array_equal(choices, source):
            raise Mismatch("places that the map was not made into")
    products = tokens * back
    total, size = np.zeros((2,) + probs.shape)
    total[source, experts], size[source, experts] = products.sum(axis=1), np.abs(products).sum(axis=1)
    return Value(back * probs[source, experts][:, None], steps=2), Value(total, magnitude=size, steps=2)


def slots(rows, count, mode, k, sources):
    """For each token and choice its row, by columns in the modes 0 and 1, by lines in 2 and 3; and which ones are there."""
    if mode not in (0, 1, 2, 3) or rows.size != count * k:
        raise Mismatch(f"{rows.size} rows for {count} tokens, mode {mode}")
    rows = rows.reshape(k, count).T if mode in (0, 1) else rows.reshape(count, k)
    there = rows >= 0
    if np.any(rows < (-1 if mode in (1, 3) else 0)):
        raise Mismatch("an index is below what its mode has")
    in_range(rows[there], sources)
    return rows, there


@define("MoeFinalizeRoutingV2", inputs="expanded_x expanded_row_idx:int32 x1? x2? bias? scales~?:float expert_idx:int32?", outputs="y",
        attributes={"drop_pad_mode": 0})
def finalise_v2(expanded_x, rows, x1, x2, bias, scales, experts, drop_pad_mode):
    """y[i] = x1[i] + x2[i] + the sum over k of scales[i, k] * (expanded_x[row of i and k] + bias[expert_idx[i, k]]), without dropped rows"""
    if expanded_x.ndim != (3 if drop_pad_mode in (1, 3) else 2) or x2 is not None and x1 is None or rows.ndim != 1:
        raise Mismatch(f"{expanded_x.ndim} dimensions in the mode {drop_pad_mode}")
    values = expanded_x.reshape(-1, expanded_x.shape[-1])
    count, k = (rows.size, 1) if scales is None else scales.shape if scales.ndim == 2 else (0, 0)
    rows, there = slots(rows, count, drop_pad_mode, k, len(values))
    if any(one is not None and one.shape != (count, values.shape[1]) for one in (x1, x2)):
        raise Mismatch(f"what is added is not of the shape {[count, values.shape[1]]}")
    terms = np.where(there[..., None], values[np.maximum(rows, 0)], 0.0)
    size = np.abs(terms)
    if bias is not None:
        if experts is None or experts.size != rows.size or not np.all(there):
            raise Mismatch("a bias needs experts; for a row that was dropped it is not defined")
        shifts = bias[in_range(experts.reshape(rows.shape), len(bias))]
        terms, size = terms + shifts, size + np.abs(shifts)
    factor = 1.0 if scales is None else scales[..., None]
    total, size = (factor * terms).sum(axis=1), (np.abs(factor) * size).sum(axis=1)
    for one in (x1, x2):
        if one is not None:
            total, size = total + one, size + np.abs(one)
    return Value(total, magnitude=size, steps=3)


@define("MoeFinalizeRoutingV2Grad", inputs="grad_y expanded_row_idx:int32 expanded_x? scales~?:float expert_idx:int32? bias?",
        outputs="grad_expanded_x grad_scales:float", attributes={"drop_pad_mode": 0, "active_num": 0, "expert_num": 0, "expert_capacity": 0})
def finalise_v2_gradient(grad, rows, expanded_x, scales, experts, bias, drop_pad_mode, active_num, expert_num, expert_capacity, call):
    """grad_expanded_x[row of i] = grad_y[i // k] * scales[i]; grad_scales[i] = the sum of (expanded_x[row of i] + bias) * grad_y[i // k]"""
    if grad.ndim != 2 or rows.ndim != 1 or drop_pad_mode not in (0, 1) or rows.size % max(len(grad), 1):
        raise Mismatch(f"{rows.size} rows for {list(grad.shape)}, mode {drop_pad_mode}")
    k, width = rows.size // len(grad), grad.shape[1]
    if k < 1 or (k != 1 if scales is None else scales.size != rows.size):
        raise Mismatch(f"{k} rows for each one")
    if drop_pad_mode == 0:
        shape = (active_num if 0 < active_num < rows.size else rows.size,)
        in_range(rows, rows.size)
        there = rows < shape[0]
    else:
        shape = (expert_num, expert_capacity)
        there = rows >= 0
        if min(shape) < 1 or np.any(rows < -1):
            raise Mismatch(f"{expert_num} experts of the capacity {expert_capacity}")
    count = int(np.prod(shape))
    places = all_different(rows[there], count)
    spread_grad = np.repeat(grad, k, axis=0)
    back = np.zeros((count, width))
    if scales is None:
        absent(call, 1)
        back[places] = spread_grad[there]
        return Value(back.reshape(shape + (width,)), exact=True), None
    back[places] = (spread_grad * scales.reshape(-1, 1))[there]
    if expanded_x is None or expanded_x.size != back.size:
        raise Mismatch("the rows that were multiplied are needed")
    values = np.zeros(spread_grad.shape)
    values[there] = expanded_x.reshape(count, width)[places]
    size, open_places = np.abs(values), np.zeros(rows.size, bool)
    if bias is not None:
        if experts is None or experts.size != rows.size:
            raise Mismatch("a bias needs experts")
        shifts = bias[in_range(experts.reshape(-1), len(bias))]
        # What a row that was dropped adds is not said.
        values, size, open_places = values + shifts, size + np.abs(shifts), ~there
    total, size = (values * spread_grad).sum(axis=1), (size * np.abs(spread_grad)).sum(axis=1)
    weights = Value(total.reshape(-1, k), magnitude=size.reshape(-1, k), steps=2, unspecified=open_places.reshape(-1, k))
    return Value(back.reshape(shape + (width,)), steps=2), weights
