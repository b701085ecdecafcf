"""Calls of softmax with what surrounds it, routing to experts and quantised products for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, numbers, tensor


def softmax(row):
    """Of numbers, and of None for what cannot be."""
    powers = [0 if v is None else exact.exp(v) for v in row]
    return [F(v) / F(sum(powers)) for v in powers]


def softmaxes(dtype):
    x, grads = numbers(dtype, 8, -2, 2), numbers(dtype, 8, -2, 2)

    def of(values, shape=None, out=dtype):
        return tensor(values, out, shape)

    mask = [False, True, False, False, True, False, False, True]
    y = [exact.value_of(exact.bits_of(v, dtype), dtype) for v in softmax(x[:4]) + softmax(x[4:])]
    right = []
    for start in (0, 4):
        total = sum(a * b for a, b in zip(grads[start:start + 4], y[start:start + 4]))
        right += [F(3, 2) * v * (g - total) for v, g in zip(y[start:start + 4], grads[start:start + 4])]
    inputs = {"yGrad": of(grads, [1, 2, 1, 4]), "y": of(y, [1, 2, 1, 4])}
    call("ScaledMaskedSoftmaxGradV2", inputs, {"xGrad": of(right, [1, 2, 1, 4])}, {"scale": 1.5, "fixed_triu_mask": False})
    call("ScaledMaskedSoftmaxGradV2", {**inputs, "mask": of(mask, [1, 2, 1, 4], "bool")},
         {"xGrad": of([0 if dropped else v for v, dropped in zip(right, mask)], [1, 2, 1, 4])}, {"scale": 1.5, "fixed_triu_mask": False})
    # Two windows of one batch, one head of one row.
    bias, masks = numbers(dtype, 4, -1, 1), numbers(dtype, 8, -3, 0)
    logits = [F(1, 2) * v + bias[at % 4] for at, v in enumerate(x)]
    plain = softmax(logits[:4]) + softmax(logits[4:])
    logits = [a + b for a, b in zip(logits, masks)]
    masked = softmax(logits[:4]) + softmax(logits[4:])
    attributes = {"scale_value": 0.5, "inner_precision_mode": 0}
    call("MaskedSoftmaxWithRelPosBias", {"x": of(x, [2, 1, 1, 4]), "relative_pos_bias": of(bias, [1, 1, 4])}, {"y": of(plain, [2, 1, 1, 4])}, attributes)
    for shape, mask_shape in (([2, 1, 1, 4], [2, 1, 4]), ([1, 2, 1, 1, 4], [1, 2, 1, 1, 4])):
        call("MaskedSoftmaxWithRelPosBias", {"x": of(x, shape), "atten_mask": of(masks, mask_shape), "relative_pos_bias": of(bias, [1, 1, 4])},
             {"y": of(masked, shape)}, attributes)


def order_of(row):
    return sorted(range(len(row)), key=lambda at: -row[at])


def experts(dtype):
    """Three rows for four experts, two of which are chosen."""
    x = numbers(dtype, 12, -3, 3)
    rows = [x[start:start + 4] for start in range(0, 12, 4)]

    def of(values, shape=None, out=dtype, **more):
        return tensor(values, out, shape, **more)

    places = [order_of(row)[:2] for row in rows]
    soft = [softmax(row) for row in rows]
    weights = [row[at] for row, chosen in zip(soft, places) for at in chosen]
    flat = [at for chosen in places for at in chosen]
    if dtype == "float32":
        call("MoeSoftMaxTopk", {"x": of(x, [3, 4])}, {"y": of(weights, [3, 2]), "indices": of(flat, [3, 2], "int32")}, {"k": 2})
    numbered = of([0, 3, 1, 4, 2, 5], [3, 2], "int32")
    call("MoeGatingTopKSoftmax", {"x": of(x, [3, 4])}, {"y": of(weights, [3, 2]), "expert_idx": of(flat, [3, 2], "int32"), "row_idx": numbered}, {"k": 2})
    call("MoeGatingTopKSoftmax", {"x": of(x, [3, 4]), "finished": of([False, True, False], None, "bool")},
         {"y": of(weights, [3, 2]), "expert_idx": of(flat[:2] + [4, 4] + flat[4:], [3, 2], "int32"), "row_idx": numbered}, {"k": 2})
    whole = of([v for row in soft for v in row], [3, 4], "float32")
    right = {"y": of(weights, [3, 2]), "expert_idx": of(flat, [3, 2], "int32")}
    call("MoeGatingTopKSoftmaxV2", {"x": of(x, [3, 4])}, {**right, "softmax_result": whole}, {"k": 2, "renorm": 0, "output_softmax_result_flag": True})
    again = [v for row, chosen in zip(rows, places) for v in softmax([row[at] for at in chosen])]
    call("MoeGatingTopKSoftmaxV2", {"x": of(x, [3, 4])}, {**right, "y": of(again, [3, 2])}, {"k": 2, "renorm": 1, "output_softmax_result_flag": False})
    # Three rows of two, each of two of four experts; expanded rows in any order.
    tokens, first, second, bias = numbers(dtype, 12, -2, 2), numbers(dtype, 6, -2, 2), numbers(dtype, 6, -2, 2), numbers(dtype, 8, -2, 2)
    scales, sources = numbers(dtype, 6, 0, 1), [4, 0, 5, 2, 1, 3]
    result = []
    for at in range(6):
        row, column = divmod(at, 2)
        total = first[at] + second[at]
        for k in (0, 1):
            total += scales[row * 2 + k] * (tokens[sources[row + 3 * k] * 2 + column] + bias[flat[row * 2 + k] * 2 + column])
        result.append(total)
    call("MoeFinalizeRouting", {"expanded_x": of(tokens, [6, 2]), "x1": of(first, [3, 2]), "x2": of(second, [3, 2]), "bias": of(bias, [4, 2]),
                                "scales": of(scales, [3, 2]), "expanded_row_idx": of(sources, None, "int32"),
                                "expanded_expert_idx": of(flat, [3, 2], "int32")}, {"y": of(result, [3, 2])})
    moved = [tokens[at * 2 + column] for at in sources for column in (0, 1)]
    inputs = {"permuted_tokens": of(tokens, [6, 2]), "sorted_indices": of(sources, None, "int32")}
    attributes = {"padded_mode": False, "restore_shape": []}
    call("MoeTokenUnpermute", inputs, {"unpermuted_tokens": of(moved, [6, 2])}, attributes)
    sums = [sum(moved[(row * 2 + k) * 2 + column] * scales[row * 2 + k] for k in (0, 1)) for row in range(3) for column in (0, 1)]
    call("MoeTokenUnpermute", {**inputs, "probs": of(scales, [3, 2])}, {"unpermuted_tokens": of(sums, [3, 2])}, attributes)


def logits(dtype):
    values = sorted(numbers(dtype, 5, -3, 3)) + sorted(numbers(dtype, 5, -3, 3))
    places, k, p = [3, 0, 4, 1, 2, 2, 4, 0, 3, 1], [2, 4], numbers(dtype, 2, 0.5, 0.8)
    for given in (("k",), ("p",), ("k", "p")):
        right = []
        for row in (0, 1):
            kept = list(values[row * 5:row * 5 + 5])
            if "k" in given:
                kept = [v if v >= kept[5 - k[row]] else None for v in kept]
            if "p" in given:
                total, soft = 0, softmax(kept)
                for at in range(4):
                    total += soft[at]
                    kept[at] = None if total <= 1 - p[row] else kept[at]
            back = [None] * 5
            for at, value in zip(places[row * 5:row * 5 + 5], kept):
                back[at] = value
            right += ["-inf" if value is None else value for value in back]
        inputs = {"sorted_value": tensor(values, dtype, [2, 5]), "sorted_indices": tensor(places, "int32", [2, 5])}
        call("ApplyTopKTopPWithSorted", {**inputs, **({"p": tensor(p, dtype)} if "p" in given else {}),
                                         **({"k": tensor(k, "int32")} if "k" in given else {})}, {"out": tensor(right, dtype, [2, 5])})


def products():
    x1, x2 = [3, -128, 77, 5, 0, -6], [127, -1, 4, -90, 33, 8]
    result = [sum(x1[row * 3 + at] * x2[at * 2 + column] for at in range(3)) for row in (0, 1) for column in (0, 1)]
    scale, tokens, bias = numbers("float32", 2, 0.001, 0.01), numbers("float32", 2, 0.5, 2), numbers("float32", 2, -1, 1)
    inputs = {"x1": tensor(x1, "int8", [2, 3]), "x2": tensor(x2, "int8", [3, 2])}
    attributes = {"dtype": 27, "transpose_x1": False, "transpose_x2": False, "group_size": 0}
    right = [v * scale[at % 2] * tokens[at // 2] + bias[at % 2] for at, v in enumerate(result)]
    call("QuantBatchMatmulV3", {**inputs, "scale": tensor(scale, "float32"), "bias": tensor(bias, "float32"), "pertoken_scale": tensor(tokens, "float32")},
         {"y": tensor(right, "bfloat16", [2, 2])}, attributes)
    bits = [exact.bits_of(v, "float32") // 8192 * 8192 for v in scale]
    short = [exact.value_of(one, "float32") for one in bits]
    turned = {"x1": tensor([3, 5, -128, 0, 77, -6], "int8", [3, 2]), "x2": tensor([127, 4, 33, -1, -90, 8], "int8", [2, 3])}
    call("QuantBatchMatmulV3", {**turned, "scale": tensor([one + 2**46 for one in bits], "uint64"), "bias": tensor([100, -7], "int32")},
         {"y": tensor([(v + (100, -7)[at % 2]) * short[at % 2] for at, v in enumerate(result)], "float16", [2, 2])},
         {**attributes, "transpose_x1": True, "transpose_x2": True})
    x, factor, offset, shift = numbers("float16", 6, -2, 2), numbers("float16", 2, 0.01, 0.1), numbers("float16", 2, -9, 9), numbers("float16", 2, -1, 1)
    right = [sum(x[row * 3 + at] * (x2[at * 2 + column] + offset[column]) * factor[column] for at in range(3)) + shift[column]
             for row in (0, 1) for column in (0, 1)]
    call("WeightQuantBatchMatmulV2", {"x": tensor(x, "float16", [2, 3]), "weight": inputs["x2"], "antiquant_scale": tensor(factor, "float16"),
                                      "antiquant_offset": tensor(offset, "float16"), "bias": tensor(shift, "float16")},
         {"y": tensor(right, "float16", [2, 2])}, {"transpose_x": False, "transpose_weight": False, "antiquant_group_size": 0})
    x, rot = numbers("bfloat16", 8, -2, 2), numbers("bfloat16", 4, -1, 1)
    moved = [x[start] * rot[column] + x[start + 1] * rot[2 + column] for start in range(0, 8, 2) for column in (0, 1)]
    scales = [max(abs(v) for v in moved[start:start + 4]) / 127 for start in (0, 4)]
    call("RotateQuant", {"x": tensor(x, "bfloat16", [2, 4]), "rot": tensor(rot, "bfloat16", [2, 2])},
         {"y": tensor([round(v / scales[at // 4]) for at, v in enumerate(moved)], "int8", [2, 4]), "scale": tensor(scales, "float32")},
         {"y_dtype": 2, "axis": -1, "round_mode": "rint", "scale_alg": 0, "dst_type_max": 0.0, "trans": False})


def all_of():
    softmaxes("float16")
    softmaxes("float32")
    experts("bfloat16")
    experts("float32")
    logits("float16")
    logits("float32")
    call("MoeComputeExpertTokens", {"sorted_experts": tensor([0, 0, 2, 2, 2, 5], "int32")},
         {"total_rows_before_expert": tensor([2, 2, 5, 5], "int32")}, {"num_experts": 4})
    products()
