"""Calls of rows to experts and back for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, numbers, tensor
from routing_calls import softmax

# Four rows of three elements, each for two of three experts.
ROWS, WIDTH, EXPERTS = 4, 3, 3
CHOSEN = [[2, 0], [0, 1], [2, 1], [0, 2]]
FLAT = [expert for row in CHOSEN for expert in row]
# Choices expert by expert, and where each one comes to be.
ORDER = [1, 2, 6, 3, 5, 0, 4, 7]
PLACES = [5, 0, 1, 3, 6, 4, 2, 7]


def ints(values, shape=None, dtype="int32"):
    return tensor(values, dtype, shape)


# An output that nothing is written to is not there.
NOTHING = {**ints([]), "silent": True}


def rows_of(values, places, width=WIDTH):
    """Rows of a flat list, zeros for None."""
    return [0 if at is None else values[at * width + column] for at in places for column in range(width)]


def flags(**more):
    return {"active_num": 0, "expert_capacity": 0, "expert_num": 0, "drop_pad_mode": 0, "expert_tokens_count_or_cumsum_flag": 0,
            "expert_tokens_before_capacity_flag": False, **more}


def expanded(dtype):
    x = numbers(dtype, ROWS * WIDTH, -2, 2)
    rows = tensor(x, dtype, [ROWS, WIDTH])
    sources = [at // 2 for at in ORDER]
    experts = ints(FLAT, [ROWS, 2])
    # The numbers of the choices go down columns here: 0 4, 1 5, 2 6, 3 7.
    down = [at % 2 * ROWS + at // 2 for at in range(8)]
    back = [0] * 8
    for place, at in enumerate(ORDER):
        back[down[at]] = place
    inputs = {"x": rows, "row_idx": ints(down, [ROWS, 2]), "expert_idx": experts}
    right = {"expanded_row_idx": ints(back), "expanded_expert_idx": ints([0, 0, 0, 1, 1, 2, 2, 2])}
    call("MoeInitRouting", inputs, {"expanded_x": tensor(rows_of(x, sources), dtype, [8, WIDTH]), **right}, {"active_num": 8})
    if dtype == "float32":
        x = [F(3, 4), F(-30), F(41, 4), F(1, 8), F(7, 2), F(-5, 4), F(200), F(-1), F(9, 8), F(16), F(-77, 4), F(1, 4)]
        rows = tensor(x, dtype, [ROWS, WIDTH])
        whole = [max(-128, min(127, round(v * 2 + 1))) for v in rows_of(x, sources)]
        call("MoeInitRoutingQuant", {**inputs, "x": rows}, {"expanded_x": tensor(whole, "int8", [8, WIDTH]), **right},
             {"active_num": 8, "scale": 2.0, "offset": 1.0})


def expanded_v2(dtype):
    x = numbers(dtype, ROWS * WIDTH, -2, 2)
    inputs = {"x": tensor(x, dtype, [ROWS, WIDTH]), "expert_idx": ints(FLAT, [ROWS, 2])}
    nothing = {"expert_tokens_count_or_cumsum": NOTHING, "expert_tokens_before_capacity": NOTHING}
    sources = [at // 2 for at in ORDER]
    for flag, counts in ((0, None), (1, [3, 5, 8]), (2, [3, 2, 3])):
        right = {"expanded_x": tensor(rows_of(x, sources), dtype, [8, WIDTH]), "expanded_row_idx": ints(PLACES), **nothing}
        if counts:
            right["expert_tokens_count_or_cumsum"] = ints(counts)
        call("MoeInitRoutingV2", inputs, right, flags(expert_num=3 if counts else 0, expert_tokens_count_or_cumsum_flag=flag))
    call("MoeInitRoutingV2", inputs, {"expanded_x": tensor(rows_of(x, sources[:5]), dtype, [5, WIDTH]), "expanded_row_idx": ints(PLACES), **nothing},
         flags(active_num=5))
    # Of the first and third expert's three choices two are kept.
    kept = [1, 2, 3, 5, 0, 4]
    dropped = {"expanded_row_idx": ints([4, 0, 1, 2, 5, 3, -1, -1]), **nothing, "expert_tokens_before_capacity": ints([3, 2, 3])}
    padded = flags(drop_pad_mode=1, expert_num=3, expert_tokens_before_capacity_flag=True)
    call("MoeInitRoutingV2", inputs, {"expanded_x": tensor(rows_of(x, [at // 2 for at in kept]), dtype, [3, 2, WIDTH]), **dropped},
         {**padded, "expert_capacity": 2})
    # Room for four each, of which nothing is in the last place of the first expert, nor in two of the second.
    room = [0, 1, 3, None, 1, 2, None, None, 0, 2, 3, None]
    right = {"expanded_x": tensor(rows_of(x, room), dtype, [3, 4, WIDTH]), **dropped, "expanded_row_idx": ints([8, 0, 1, 4, 9, 5, 2, 10])}
    call("MoeInitRoutingV2", inputs, right, {**padded, "expert_capacity": 4})
    grads = numbers(dtype, 8 * WIDTH, -2, 2)
    attributes = {"top_k": 2, "drop_pad_mode": 0, "active_num": 0}

    def gradient(places):
        return [sum(0 if at is None else grads[at * WIDTH + column] for at in places[row * 2:row * 2 + 2])
                for row in range(ROWS) for column in range(WIDTH)]

    call("MoeInitRoutingV2Grad", {"grad_expanded_x": tensor(grads, dtype, [8, WIDTH]), "expanded_row_idx": ints(PLACES)},
         {"grad_x": tensor(gradient(PLACES), dtype, [ROWS, WIDTH])}, attributes)
    call("MoeInitRoutingV2Grad", {"grad_expanded_x": tensor(grads[:6 * WIDTH], dtype, [6, WIDTH]), "expanded_row_idx": ints(PLACES)},
         {"grad_x": tensor(gradient([at if at < 6 else None for at in PLACES]), dtype, [ROWS, WIDTH])}, {**attributes, "active_num": 6})
    places = ints([4, 0, 1, 2, 5, 3, -1, -1])
    call("MoeInitRoutingV2Grad", {"grad_expanded_x": tensor(grads[:6 * WIDTH], dtype, [3, 2, WIDTH]), "expanded_row_idx": places},
         {"grad_x": tensor(gradient([4, 0, 1, 2, 5, 3, None, None]), dtype, [ROWS, WIDTH])}, {**attributes, "drop_pad_mode": 1})


# Rows whose largest elements make scales that float32 and exact arithmetic round alike.
QUANTISED = [F(1), F(-127), F(9, 4), F(254), F(3, 2), F(-17, 4), F(5), F(-63, 2), F(1, 8), F(40), F(-7), F(11, 4)]


def by_largest(x, width=WIDTH):
    """Whole numbers and scales of rows whose largest element becomes 127."""
    scales = [max(abs(v) for v in x[start:start + width]) / 127 for start in range(0, len(x), width)]
    return [round(v / scales[at // width]) for at, v in enumerate(x)], scales


def expanded_quantised():
    x = tensor(QUANTISED, "float32", [ROWS, WIDTH])
    experts = ints(FLAT, [ROWS, 2])
    silent = {"expert_tokens_count_or_cumsum": NOTHING, "expert_tokens_before_capacity": NOTHING}
    sources = [at // 2 for at in ORDER]
    static = [max(-128, min(127, round(v / 2 + 3))) for v in rows_of(QUANTISED, sources)]
    one = {"scale": tensor([F(1, 2)], "float32"), "offset": tensor([F(3)], "float32")}
    call("MoeInitRoutingQuantV2", {"x": x, "expert_idx": experts, **one},
         {"expanded_x": tensor(static, "int8", [8, WIDTH]), "expanded_row_idx": ints(PLACES), **silent,
          "dynamic_quant_scale": tensor([], "float32", silent=True)}, flags(quant_mode=0))
    whole, scales = by_largest(QUANTISED)
    moved, its_scale = tensor(rows_of(whole, sources), "int8", [8, WIDTH]), tensor([scales[at] for at in sources], "float32")
    call("MoeInitRoutingQuantV2", {"x": x, "expert_idx": experts},
         {"expanded_x": moved, "expanded_row_idx": ints(PLACES), **silent, "dynamic_quant_scale": its_scale}, flags(quant_mode=1))
    kept = [0, 1, 1, 2, 0, 2]
    call("MoeInitRoutingQuantV2", {"x": x, "expert_idx": experts},
         {"expanded_x": tensor(rows_of(whole, kept), "int8", [3, 2, WIDTH]), "expanded_row_idx": ints([4, 0, 1, 2, 5, 3, -1, -1]), **silent,
          "expert_tokens_before_capacity": ints([3, 2, 3]), "dynamic_quant_scale": tensor([scales[at] for at in kept], "float32", [3, 2])},
         flags(quant_mode=1, drop_pad_mode=1, expert_num=3, expert_capacity=2, expert_tokens_before_capacity_flag=True))
    # A scale for each element of an expert's rows.
    factors = [F(1), F(2), F(1, 2), F(3), F(1), F(1, 4), F(1, 2), F(1), F(4)]
    right = []
    for at in ORDER:
        row, factor = QUANTISED[at // 2 * WIDTH:][:WIDTH], factors[FLAT[at] * WIDTH:][:WIDTH]
        right.append(max(abs(a * b) for a, b in zip(row, factor)) / 127)
    call("MoeInitRoutingQuantV2", {"x": x, "expert_idx": experts, "scale": tensor(factors, "float32", [3, WIDTH])},
         {"expanded_x": {**moved, "silent": True}, "expanded_row_idx": ints(PLACES), **silent, "dynamic_quant_scale": tensor(right, "float32")},
         flags(quant_mode=1, expert_num=3))
    expanded_v3(x, moved, its_scale)


def expanded_v3(x, moved, its_scale):
    attributes = {"active_num": 8, "expert_capacity": -1, "expert_num": 3, "drop_pad_mode": 0, "expert_tokens_num_type": 1,
                  "expert_tokens_num_flag": True, "quant_mode": -1, "active_expert_range": [0, 3], "row_idx_type": 0}
    inputs = {"x": x, "expert_idx": ints(FLAT, [ROWS, 2])}
    sources = [at // 2 for at in ORDER]
    plain = {"expanded_x": tensor(rows_of(QUANTISED, sources), "float32", [8, WIDTH]), "expanded_row_idx": ints(PLACES),
             "expert_tokens_count_or_cumsum": ints([3, 2, 3], None, "int64"), "expanded_scale": tensor([], "float32", silent=True)}
    call("MoeInitRoutingV3", inputs, plain, attributes)
    call("MoeInitRoutingV3", inputs, {**plain, "expanded_row_idx": ints(ORDER)}, {**attributes, "row_idx_type": 1, "active_expert_range": []})
    scales = [F(1), F(5, 2), F(-3), F(1, 4)]
    call("MoeInitRoutingV3", {**inputs, "scale": tensor(scales, "float32")},
         {**plain, "expanded_scale": tensor([scales[at] for at in sources], "float32"),
         "expert_tokens_count_or_cumsum": ints([0, 3, 1, 2, 2, 3], [3, 2], "int64")}, {**attributes, "expert_tokens_num_type": 2})
    call("MoeInitRoutingV3", inputs, {**plain, "expanded_x": moved, "expanded_scale": its_scale}, {**attributes, "quant_mode": 1})
    bytes_of_x = [at * 7 - 40 for at in range(12)]
    call("MoeInitRoutingV3", {**inputs, "x": ints(bytes_of_x, [ROWS, WIDTH], "int8")},
         {**plain, "expanded_x": ints(rows_of(bytes_of_x, sources), [8, WIDTH], "int8")}, attributes)


def rerouted(dtype):
    """Two ranks with three experts: two, none and one row, then one, two and one."""
    counts, order = [2, 0, 1, 1, 2, 1], [0, 1, 3, 4, 5, 2, 6]
    values = [at * 5 - 30 for at in range(14)] if dtype == "int8" else numbers(dtype, 14, -2, 2)
    scales = numbers("float32", 7, 0, 2)
    for index in ("int32", "int64"):
        inputs = {"tokens": tensor(values, dtype, [7, 2]), "expert_token_num_per_rank": ints(counts, [2, 3], index),
                  "per_token_scales": tensor(scales, "float32")}
        call("MoeReRouting", inputs,
             {"permute_tokens": tensor(rows_of(values, order, 2), dtype, [7, 2]),
              "permute_per_token_scales": tensor([scales[at] for at in order], "float32"), "permute_token_idx": ints(order),
              "expert_token_num": ints([3, 2, 2], None, index)}, {"expert_token_num_type": 1, "idx_type": 0})


def permuted(dtype):
    tokens = numbers(dtype, ROWS * WIDTH, -2, 2)
    given, sources = tensor(tokens, dtype, [ROWS, WIDTH]), [at // 2 for at in ORDER]
    for index, left in (("int32", 0), ("int64", 5), ("int32", -2)):
        count = left if left > 0 else 8 + left
        call("MoeTokenPermute", {"tokens": given, "indices": ints(FLAT, [ROWS, 2], index)},
             {"permute_tokens": tensor(rows_of(tokens, sources[:count]), dtype, [count, WIDTH]), "sorted_indices": ints(PLACES)},
             {"num_out_tokens": left, "padded_mode": False})
    probs = numbers(dtype, 8, 0, 1)
    # The third to sixth place are here.
    low, high = 2, 6
    within = {"range": [low, high], "padded_mode": False}
    call("MoeTokenPermuteWithEp", {"tokens": given, "indices": ints(FLAT, [ROWS, 2]), "probs": tensor(probs, dtype, [ROWS, 2])},
         {"permute_tokens": tensor(rows_of(tokens, sources[low:high]), dtype, [4, WIDTH]), "sorted_indices": ints(PLACES),
          "permute_probs": tensor([probs[at] for at in ORDER[low:high]], dtype)}, {**within, "num_out_tokens": 0})
    rows = numbers(dtype, 8 * WIDTH, -2, 2)
    part = tensor(rows[:4 * WIDTH], dtype, [4, WIDTH])
    local = [at - low if low <= at < high else None for at in PLACES]

    def summed(places, weights=None):
        return [sum(0 if places[at] is None else rows[places[at] * WIDTH + column] * (weights[at] if weights else 1) for at in (row * 2, row * 2 + 1))
                for row in range(ROWS) for column in range(WIDTH)]

    def out(values):
        return tensor(values, dtype, [ROWS, WIDTH])

    sorted_indices = ints(PLACES)
    call("MoeTokenPermuteGrad", {"permuted_output_grad": tensor(rows, dtype, [8, WIDTH]), "sorted_indices": sorted_indices},
         {"input_grad": out(summed(PLACES))}, {"num_topk": 2, "padded_mode": False})
    moved = numbers(dtype, 4, -1, 1)
    call("MoeTokenPermuteWithEpGrad",
         {"permuted_tokens_output_grad": part, "sorted_indices": sorted_indices, "permuted_probs_output_grad": tensor(moved, dtype)},
         {"token_grad": out(summed(local)), "probs_grad": tensor([0 if at is None else moved[at] for at in local], dtype, [ROWS, 2])},
         {"num_topk": 2, **within})
    attributes = {"num_topk": 2, **within, "restore_shape": []}
    inputs = {"permuted_tokens": part, "sorted_indices": sorted_indices}
    call("MoeTokenUnpermuteWithEp", inputs, {"unpermuted_tokens": out(summed(local))}, attributes)
    call("MoeTokenUnpermuteWithEp", {**inputs, "probs": tensor(probs, dtype, [ROWS, 2])}, {"unpermuted_tokens": out(summed(local, probs))}, attributes)
    gradients_of_unpermuted(dtype, rows, probs, local)


def gradients_of_unpermuted(dtype, rows, probs, local):
    grads = numbers(dtype, ROWS * WIDTH, -2, 2)

    def gradient(places, count):
        back, weights = [0] * (count * WIDTH), [0] * 8
        for at, place in enumerate(places):
            for column in range(WIDTH if place is not None else 0):
                grad = grads[at // 2 * WIDTH + column]
                back[place * WIDTH + column] = grad * probs[at]
                weights[at] += grad * rows[place * WIDTH + column]
        return {"permuted_tokens_grad": tensor(back, dtype, [count, WIDTH]), "probs_grad": tensor(weights, dtype, [ROWS, 2])}

    inputs = {"unpermuted_tokens_grad": tensor(grads, dtype, [ROWS, WIDTH]), "sorted_indices": ints(PLACES), "probs": tensor(probs, dtype, [ROWS, 2])}
    attributes = {"padded_mode": False, "restore_shape": [1, 1]}
    call("MoeTokenUnpermuteGrad", {"permuted_tokens": tensor(rows, dtype, [8, WIDTH]), **inputs}, gradient(PLACES, 8), attributes)
    call("MoeTokenUnpermuteWithEpGrad", {**inputs, "permuted_tokens": tensor(rows[:4 * WIDTH], dtype, [4, WIDTH])}, gradient(local, 4),
         {**attributes, "range": [2, 6], "topk_num": 2})
    single = [2, 0, 3, 1]
    call("MoeTokenUnpermuteGrad",
         {"permuted_tokens": tensor(rows[:12], dtype, [4, WIDTH]), "unpermuted_tokens_grad": inputs["unpermuted_tokens_grad"],
          "sorted_indices": ints(single)},
         {"permuted_tokens_grad": tensor(rows_of(grads, [1, 3, 0, 2]), dtype, [4, WIDTH]), "probs_grad": tensor([], dtype, silent=True)},
         attributes)


def mapped(dtype):
    # The map has no order within a token: its choices go by expert. Rows of it are tokens.
    table = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
    by_expert = [(token, expert) for expert in range(EXPERTS) for token in range(ROWS) if table[token][expert]]
    places = [place for token in range(ROWS) for place, (one, _) in enumerate(by_expert) if one == token]
    tokens, probs = numbers(dtype, ROWS * WIDTH, -2, 2), numbers(dtype, ROWS * EXPERTS, 0, 1)
    sources, weights = [token for token, _ in by_expert], [probs[token * EXPERTS + expert] for token, expert in by_expert]
    turned = [table[token][expert] for expert in range(EXPERTS) for token in range(ROWS)]
    straight = [one for row in table for one in row]
    turned_probs = [probs[token * EXPERTS + expert] for expert in range(EXPERTS) for token in range(ROWS)]
    right = {"permute_tokens": tensor(rows_of(tokens, sources), dtype, [8, WIDTH]), "permute_probs": tensor(weights, dtype), "sorted_indices": ints(places)}
    given, attributes = tensor(tokens, dtype, [ROWS, WIDTH]), {"num_out_tokens": 8, "drop_and_pad": False}
    call("MoeTokenPermuteWithRoutingMap", {"tokens": given, "routing_map": ints(turned, [EXPERTS, ROWS], "int8"),
                                           "probs": tensor(turned_probs, dtype, [EXPERTS, ROWS])}, right, attributes)
    call("MoeTokenPermuteWithRoutingMap", {"tokens": given, "routing_map": ints([bool(one) for one in straight], [ROWS, EXPERTS], "bool"),
                                           "probs": tensor(probs, dtype, [ROWS, EXPERTS])}, right, attributes)
    rows = numbers(dtype, 8 * WIDTH, -2, 2)
    table_in, probs_in = ints(straight, [ROWS, EXPERTS], "int8"), tensor(probs, dtype, [ROWS, EXPERTS])

    def summed(weights):
        return tensor([sum(rows[places[at] * WIDTH + column] * weights[places[at]] for at in (row * 2, row * 2 + 1))
                       for row in range(ROWS) for column in range(WIDTH)], dtype, [ROWS, WIDTH])

    silent = tensor([], dtype, silent=True)
    call("MoeTokenPermuteWithRoutingMapGrad",
         {"permuted_token_output_grad": tensor(rows, dtype, [8, WIDTH]), "permuted_probs_output_grad_optional": tensor(weights, dtype),
          "sorted_indices": ints(places), "routing_map_optional": table_in},
         {"tokens_grad_out": summed([1] * 8), "probs_grad_out_optional": silent}, {"num_experts": EXPERTS, "tokens_num": ROWS, "padded_mode": False})
    indices = {"out_index": NOTHING, "permute_token_id": NOTHING}
    inputs = {"permuted_tokens": tensor(rows, dtype, [8, WIDTH]), "sorted_indices": ints(places), "routing_map": table_in}
    attributes = {"drop_and_pad": False, "restore_shape": [ROWS, WIDTH]}
    call("MoeTokenUnpermuteWithRoutingMap", {**inputs, "probs": probs_in},
         {"unpermuted_tokens": summed(weights), **indices, "permute_probs": tensor(weights, dtype)}, attributes)
    call("MoeTokenUnpermuteWithRoutingMap", inputs,
         {"unpermuted_tokens": summed([1] * 8), **indices, "permute_probs": tensor([], dtype, silent=True)}, attributes)
    gradient_by_map(dtype, rows, probs, table_in, [(token, expert, place) for place, (token, expert) in enumerate(by_expert)], False)
    # Two rows for each expert, whoever they are for.
    held = [(3, 0, 0), (1, 0, 1), (2, 1, 2), (0, 1, 3), (2, 2, 4), (3, 2, 5)]
    gradient_by_map(dtype, rows[:6 * WIDTH], probs, table_in, held, True)


def gradient_by_map(dtype, rows, probs, table, held, padded):
    """`held`: token, expert and row of each choice."""
    grads = numbers(dtype, ROWS * WIDTH, -2, 2)
    back, plain, weights = [0] * len(rows), [0] * len(rows), [0] * (ROWS * EXPERTS)
    for token, expert, row in held:
        for column in range(WIDTH):
            grad = grads[token * WIDTH + column]
            plain[row * WIDTH + column] = grad
            back[row * WIDTH + column] = grad * probs[token * EXPERTS + expert]
            weights[token * EXPERTS + expert] += grad * rows[row * WIDTH + column]
    count, by_token = len(held), sorted(held)
    inputs = {"unpermuted_tokens_grad": tensor(grads, dtype, [ROWS, WIDTH]), "out_index": ints([row for _, _, row in by_token]),
              "permute_token_id": ints([token for token, _, _ in by_token])}
    attributes = {"drop_and_pad": padded, "restore_shape": [ROWS, WIDTH]}
    call("MoeTokenUnpermuteWithRoutingMapGrad",
         {**inputs, "routing_map": table, "permuted_tokens": tensor(rows, dtype, [count, WIDTH]), "probs": tensor(probs, dtype, [ROWS, EXPERTS])},
         {"permuted_tokens_grad": tensor(back, dtype, [count, WIDTH]), "probs_grad": tensor(weights, dtype, [ROWS, EXPERTS])}, attributes)
    call("MoeTokenUnpermuteWithRoutingMapGrad", inputs,
         {"permuted_tokens_grad": tensor(plain, dtype, [count, WIDTH]), "probs_grad": tensor([], dtype, silent=True)}, attributes)


def finalised(dtype):
    rows, scales, bias = numbers(dtype, 8 * WIDTH, -2, 2), numbers(dtype, 8, 0, 1), numbers(dtype, EXPERTS * WIDTH, -2, 2)
    first, second = numbers(dtype, ROWS * WIDTH, -2, 2), numbers(dtype, ROWS * WIDTH, -2, 2)
    added = {"x1": tensor(first, dtype, [ROWS, WIDTH]), "x2": tensor(second, dtype, [ROWS, WIDTH])}
    factors = {"scales": tensor(scales, dtype, [ROWS, 2])}
    shifts = {"bias": tensor(bias, dtype, [EXPERTS, WIDTH]), "expert_idx": ints(FLAT, [ROWS, 2])}

    def right(places, start, shifted):
        """`places` by token and choice, None for those that were dropped."""
        result = []
        for at in range(ROWS * WIDTH):
            row, column = divmod(at, WIDTH)
            total = first[at] + second[at] if start else 0
            for k in (0, 1):
                place = places[row * 2 + k]
                term = 0 if place is None else rows[place * WIDTH + column]
                total += scales[row * 2 + k] * (term + (bias[FLAT[row * 2 + k] * WIDTH + column] if shifted else 0))
            result.append(total)
        return {"y": tensor(result, dtype, [ROWS, WIDTH])}

    down = [PLACES[row * 2 + k] for k in (0, 1) for row in range(ROWS)]
    plain = {"expanded_x": tensor(rows, dtype, [8, WIDTH])}
    call("MoeFinalizeRoutingV2", {**plain, "expanded_row_idx": ints(down), **added, **factors, **shifts}, right(PLACES, True, True), {"drop_pad_mode": 0})
    call("MoeFinalizeRoutingV2", {**plain, "expanded_row_idx": ints(PLACES), **factors}, right(PLACES, False, False), {"drop_pad_mode": 2})
    dropped = [4, 0, 1, 2, 5, 3, -1, -1]
    kept = [None if at < 0 else at for at in dropped]
    down = [dropped[row * 2 + k] for k in (0, 1) for row in range(ROWS)]
    packed = {"expanded_x": tensor(rows[:6 * WIDTH], dtype, [3, 2, WIDTH])}
    call("MoeFinalizeRoutingV2", {**packed, "expanded_row_idx": ints(down), **added, **factors}, right(kept, True, False), {"drop_pad_mode": 1})
    call("MoeFinalizeRoutingV2", {**packed, "expanded_row_idx": ints(dropped), **added, **factors}, right(kept, True, False), {"drop_pad_mode": 3})
    grads = first
    attributes = {"drop_pad_mode": 0, "active_num": 0, "expert_num": 0, "expert_capacity": 0}

    def gradient(places, count, shape, shifted):
        back, weights = [0] * (count * WIDTH), [0] * 8
        for at, place in enumerate(places):
            for column in range(WIDTH):
                grad = grads[at // 2 * WIDTH + column]
                if place is not None:
                    back[place * WIDTH + column] = grad * scales[at]
                    weights[at] += grad * rows[place * WIDTH + column]
                weights[at] += grad * bias[FLAT[at] * WIDTH + column] if shifted else 0
        return {"grad_expanded_x": tensor(back, dtype, shape), "grad_scales": tensor(weights, dtype, [ROWS, 2])}

    given = {"grad_y": tensor(grads, dtype, [ROWS, WIDTH]), **factors}
    call("MoeFinalizeRoutingV2Grad", {**given, **plain, "expanded_row_idx": ints(PLACES)}, gradient(PLACES, 8, [8, WIDTH], False), attributes)
    call("MoeFinalizeRoutingV2Grad", {**given, **plain, **shifts, "expanded_row_idx": ints(PLACES)}, gradient(PLACES, 8, [8, WIDTH], True), attributes)
    call("MoeFinalizeRoutingV2Grad", {**given, "expanded_x": tensor(rows[:5 * WIDTH], dtype, [5, WIDTH]), "expanded_row_idx": ints(PLACES)},
         gradient([at if at < 5 else None for at in PLACES], 5, [5, WIDTH], False), {**attributes, "active_num": 5})
    call("MoeFinalizeRoutingV2Grad", {**given, **packed, "expanded_row_idx": ints(dropped)}, gradient(kept, 6, [3, 2, WIDTH], False),
         {**attributes, "drop_pad_mode": 1, "expert_num": 3, "expert_capacity": 2})
    single = [2, 0, 3, 1]
    call("MoeFinalizeRoutingV2Grad", {"grad_y": given["grad_y"], "expanded_row_idx": ints(single)},
         {"grad_expanded_x": tensor(rows_of(grads, [1, 3, 0, 2]), dtype, [4, WIDTH]), "grad_scales": tensor([], dtype, silent=True)},
         attributes)


def gated(dtype):
    """Two rows for eight experts in four groups."""
    x = [F(at, 4) for at in (3, -7, 5, 1, 0, 2, -4, 9, -3, 8, 6, -1, 4, 7, -6, -2)]
    rows = [x[:8], x[8:]]
    attributes = {"k": 3, "k_group": 1, "group_count": 1, "group_select_mode": 0, "renorm": 0, "norm_type": 1, "out_flag": True,
                  "routed_scaling_factor": 2.5, "eps": 1e-20}
    sigmoids = [[F(exact.sigmoid(v)) for v in row] for row in rows]

    def best(scores, groups, kept, mode):
        width = len(scores) // groups
        ranked = []
        for group in range(groups):
            own = sorted(scores[group * width:(group + 1) * width], reverse=True)
            ranked.append((-(own[0] + own[1] if mode else own[0]), group))
        among = [group for _, group in sorted(ranked)[:kept]]
        return sorted((at for at in range(len(scores)) if at // width in among), key=lambda at: -scores[at])[:3]

    for groups, kept, mode in ((1, 1, 0), (4, 2, 0), (4, 2, 1)):
        found = [best(row, groups, kept, mode) for row in sigmoids]
        shares = [row[at] * F(5, 2) / sum(row[one] for one in places) for row, places in zip(sigmoids, found) for at in places]
        call("MoeGatingTopK", {"x": tensor(x, dtype, [2, 8])},
             {"y": tensor(shares, dtype, [2, 3]), "expert_idx": ints([at for places in found for at in places], [2, 3]),
              "out": tensor([v for row in sigmoids for v in row], "float32", [2, 8])},
             {**attributes, "k_group": kept, "group_count": groups, "group_select_mode": mode})
    soft = [softmax(row) for row in rows]
    bias = [F(at, 8) for at in (1, 7, 0, 3, 2, 1, 5, 1)]
    for norm, scores in ((0, soft), (1, sigmoids)):
        found = [best([a + b for a, b in zip(row, bias)], 1, 1, 0) for row in scores]
        call("MoeGatingTopK", {"x": tensor(x, dtype, [2, 8]), "bias": tensor(bias, dtype)},
             {"y": tensor([0] * 6, dtype, [2, 3], silent=True), "expert_idx": ints([at for places in found for at in places], [2, 3]),
              "out": tensor([], "float32", silent=True)}, {**attributes, "norm_type": norm, "out_flag": False})


def gated_by_token(dtype):
    """Three rows for eight experts, two of which are chosen: by what stands for their tokens, or by their scores."""
    x = [F(at, 4) for at in (3, -7, 5, 1, 0, 2, -4, 9, -3, 8, 6, -1, 4, 7, -6, -2, 11, -9, 1, 5, -1, 3, 0, 2)]
    rows = [x[:8], x[8:16], x[16:]]
    attributes = {"k": 2, "k_group": 1, "group_count": 1, "group_select_mode": 1, "renorm": 0, "norm_type": 2, "out_flag": True,
                  "routed_scaling_factor": 1.5, "eps": 1e-20}
    roots = [[F((1 + exact.exp(v)).ln().sqrt()) for v in row] for row in rows]
    sigmoids = [[F(exact.sigmoid(v)) for v in row] for row in rows]
    table, ids = [[6, 1], [0, 7], [3, 3], [5, 2], [4, 0]], [4, 0, 3]

    def right(scores, chosen, out):
        shares = [row[at] * F(3, 2) / sum(row[one] for one in places) for row, places in zip(scores, chosen) for at in places]
        whole = tensor([v for row in scores for v in row], "float32", [3, 8], **({} if out else {"silent": True}))
        return {"y": tensor(shares, dtype, [3, 2]), "expert_idx": ints([at for places in chosen for at in places], [3, 2]), "out": whole}

    by_table = [table[one] for one in ids]
    for of_ids, of_table, scores, norm in (("int64", "int32", roots, 2), ("int32", "int64", sigmoids, 1)):
        call("MoeGatingTopKHash", {"x": tensor(x, dtype, [3, 8]), "input_ids": ints(ids, None, of_ids), "tid2eid": ints(sum(table, []), [5, 2], of_table)},
             right(scores, by_table, norm == 2), {**attributes, "norm_type": norm, "out_flag": norm == 2})
    call("MoeGatingTopKHash", {"x": tensor(x, dtype, [3, 8])}, right(roots, [sorted(range(8), key=lambda at: -row[at])[:2] for row in roots], True),
         attributes)
    bias = [F(at, 8) for at in (1, 7, 0, 3, 2, 1, 5, 1)]
    chosen = [sorted(range(8), key=lambda at: -row[at] - bias[at])[:2] for row in roots]
    unsaid = {name: {**one, "silent": True} if name != "expert_idx" else one for name, one in right(roots, chosen, False).items()}
    call("MoeGatingTopKHash", {"x": tensor(x, dtype, [3, 8]), "bias": tensor(bias, dtype)}, unsaid, {**attributes, "out_flag": False})


def all_of():
    for dtype in ("float16", "bfloat16", "float32"):
        expanded(dtype)
        expanded_v2(dtype)
        permuted(dtype)
        mapped(dtype)
        finalised(dtype)
        gated(dtype)
        gated_by_token(dtype)
    for dtype in ("float16", "int8"):
        rerouted(dtype)
    expanded_quantised()
