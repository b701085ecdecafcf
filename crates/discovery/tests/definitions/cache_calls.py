"""Calls of what goes into caches, mixes streams and tokens, and of single ones, for `make_known.py`."""

import random
from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec

FLOATS = ("float16", "bfloat16", "float32")
HALVES = ("float16", "bfloat16")
EPSILON = F(1, 1024)


def stored(value, dtype):
    """As it is once stored."""
    return exact.value_of(exact.bits_of(value, dtype), dtype)


def many(dtype, count, low, high):
    """Numbers of a dtype, of which some may be the same."""
    return [stored(F(random.uniform(low, high)), dtype) for _ in range(count)]


def bytes_of(count):
    return [random.randint(-100, 100) for _ in range(count)]


def clipped(value):
    return min(max(round(value), -128), 127)


def by_halves(row, cos, sin):
    half = len(row) // 2
    turned = [-v for v in row[half:]] + row[:half]
    return [v * c + t * s for v, t, c, s in zip(row, turned, cos, sin)]


def by_neighbours(row, cos, sin):
    turned = [-row[at + 1] if at % 2 == 0 else row[at - 1] for at in range(len(row))]
    return [v * c + t * s for v, t, c, s in zip(row, turned, cos, sin)]


def heads_of(row, width):
    return [row[at:at + width] for at in range(0, len(row), width)]


# Into caches.


def one_token():
    """Two sequences, two heads of queries and one of keys, of 32 elements."""
    width, parts = 32, [64, 32, 32]
    qkv, cos, sin = numbers("float16", 256, -2, 2), many("float16", 64, -1, 1), many("float16", 64, -1, 1)
    scale, offset, places = numbers("float32", 32, 0.03, 0.1), [random.randint(-5, 5) for _ in range(32)], [2, 0]
    caches = [bytes_of(2 * 4 * width) for _ in range(2)]
    q, k, v, right = [], [], [], [list(one) for one in caches]
    for batch in range(2):
        row, angles = qkv[128 * batch:128 * batch + 128], (cos[32 * batch:32 * batch + 32], sin[32 * batch:32 * batch + 32])
        q += [value for head in heads_of(row[:64], width) for value in by_halves(head, *angles)]
        k += by_halves(row[64:96], *angles)
        v += row[96:]
        for cache, values in zip(right, (k[-32:], row[96:])):
            begin = (4 * batch + places[batch]) * width
            cache[begin:begin + width] = [clipped(a / b + c) for a, b, c in zip(values, scale, offset)]
    inputs = {"qkv": tensor(qkv, "float16", [2, 1, 128]), "cos": tensor(cos, "float16", [2, 1, 1, 32]), "sin": tensor(sin, "float16", [2, 1, 1, 32]),
              "quant_scale": tensor(scale, "float32"), "quant_offset": tensor(offset, "int32"),
              "k_cache": tensor(caches[0], "int8", [2, 4, 1, 32]), "v_cache": tensor(caches[1], "int8", [2, 4, 1, 32]),
              "indice": tensor(places, "int32")}
    for asked in (False, True):
        silent = {} if asked else {"silent": True}
        call("RopeQuantKvcache", inputs,
             {"q": tensor(q, "float16", [2, 1, 2, 32]), "k": tensor(k, "float16", [2, 1, 1, 32], **silent),
              "v": tensor(v, "float16", [2, 1, 1, 32], **silent), "k_cache": tensor(right[0], "int8", [2, 4, 1, 32]),
              "v_cache": tensor(right[1], "int8", [2, 4, 1, 32])}, {"size_splits": parts, "layout": "BSND", "kv_output": asked})


def several_tokens(dtype, whole, mode, with_scale=True, bias_dtype=None):
    """Two sequences of three tokens, two heads of queries and one of keys, of 64 elements."""
    width, parts, tokens = 64, [128, 64, 64], 6
    cos, sin = many(dtype, tokens * width, -1, 1), many(dtype, tokens * width, -1, 1)
    inputs, rows = {}, []
    if whole:
        x = [random.randint(-200, 200) for _ in range(tokens * 256)]
        weights, scales = numbers("float32", 256, 0.005, 0.01), numbers("float32", tokens, 0.5, 1.5)
        bias = None
        if bias_dtype is not None:
            bias = [random.randint(-20, 20) for _ in range(256)] if bias_dtype == "int32" else many(bias_dtype, 256, -1, 1)
        for token in range(tokens):
            factor = scales[token] if with_scale else 1
            row = x[256 * token:256 * token + 256]
            if bias_dtype == "int32":
                rows.append([(a + b) * w * factor for a, b, w in zip(row, bias, weights)])
            else:
                rows.append([a * w * factor + b for a, w, b in zip(row, weights, bias or [0] * 256)])
        inputs["x"] = tensor(x, "int32", [2, 3, 256])
    else:
        x = many(dtype, tokens * 256, -2, 2)
        rows = [x[256 * token:256 * token + 256] for token in range(tokens)]
        inputs["x"] = tensor(x, dtype, [2, 3, 256])
    inputs["cos"], inputs["sin"] = tensor(cos, dtype, [2, 3, 1, 64]), tensor(sin, dtype, [2, 3, 1, 64])
    caches, scale = [bytes_of(2 * 8 * width) for _ in range(2)], [numbers("float32", width, 0.03, 0.1) for _ in range(2)]
    offset = [many("float32", width, -5, 5) for _ in range(2)]
    places = [1, 5] if mode == "contiguous" else [3, 15, 0, 7, 9, 8]
    q, k, v, right = [], [], [], [list(one) for one in caches]
    for token, row in enumerate(rows):
        angles = cos[width * token:width * token + width], sin[width * token:width * token + width]
        q += [value for head in heads_of(row[:128], width) for value in by_halves(head, *angles)]
        k.append(by_halves(row[128:192], *angles))
        v.append(row[192:])
        slot = 8 * (token // 3) + places[token // 3] + token % 3 if mode == "contiguous" else places[token]
        for which, values in enumerate((k[-1], v[-1])):
            right[which][slot * width:slot * width + width] = [clipped(a / b + c) for a, b, c in zip(values, scale[which], offset[which])]
    inputs.update({"k_cache": tensor(caches[0], "int8", [2, 8, 1, 64]), "v_cache": tensor(caches[1], "int8", [2, 8, 1, 64]),
                   "indices": tensor(places, "int32"), "scale_k": tensor(scale[0], "float32"), "scale_v": tensor(scale[1], "float32"),
                   "offset_k": tensor(offset[0], "float32"), "offset_v": tensor(offset[1], "float32")})
    if whole:
        inputs["weight_scale"] = tensor(weights, "float32")
        if with_scale:
            inputs["activation_scale"] = tensor(scales, "float32")
        if bias is not None:
            inputs["bias"] = tensor(bias, bias_dtype)
    call("DequantRopeQuantKvcache", inputs,
         {"q": tensor(q, dtype, [2, 3, 2, 64]), "k": tensor(sum(k, []), dtype, [2, 3, 1, 64]), "v": tensor(sum(v, []), dtype, [2, 3, 1, 64]),
          "k_cache": tensor(right[0], "int8", [2, 8, 1, 64]), "v_cache": tensor(right[1], "int8", [2, 8, 1, 64])},
         {"size_splits": parts, "quant_mode": "static", "layout": "BSND", "kv_output": True, "cache_mode": mode})


def by_position(dtype):
    """Three tokens, two heads of queries and one of keys, of 64 elements of which 32 are turned."""
    table = many(dtype, 8 * 32, -1, 1)
    query, key = many(dtype, 3 * 128, -2, 2), many(dtype, 3 * 64, -2, 2)
    for sections, positions in (([0, 0, 0], [[5, 0, 7]]), ([8, 0, 8], [[5, 0, 7], [1, 2, 3], [6, 4, 0]])):
        for neox in (True, False):
            results = []
            for x, heads in ((query, 2), (key, 1)):
                y = []
                for token in range(3):
                    first = []
                    for place in range(16):
                        which = 0 if len(positions) == 1 or place < 8 else 2
                        row = positions[which][token]
                        first.append((table[32 * row + place], table[32 * row + 16 + place]))
                    order = [place % 16 if neox else place // 2 for place in range(32)]
                    cos, sin = ([first[place][part] for place in order] for part in (0, 1))
                    for head in heads_of(x[64 * heads * token:64 * heads * (token + 1)], 64):
                        y += (by_halves if neox else by_neighbours)(head[:32], cos, sin) + head[32:]
                results.append(tensor(y, dtype, [3, 64 * heads]))
            shape = [3] if len(positions) == 1 else [3, 3]
            call("RopeWithSinCosCache",
                 {"positions": tensor(sum(positions, []), "int64", shape), "queryIn": tensor(query, dtype, [3, 128]),
                  "keyIn": tensor(key, dtype, [3, 64]), "cosSinCache": tensor(table, dtype, [8, 32])},
                 {"queryOut": results[0], "keyOut": results[1]},
                 {"numQHeads": 2, "numKHeads": 1, "headSize": 64, "mropeSection": sections, "qStride": 128, "kStride": 64, "isNeoxStyle": neox})


def in_part(dtype, angles):
    x, cos, sin = many(dtype, 2 * 2 * 48, -2, 2), many(angles, 2 * 32, -1, 1), many(angles, 2 * 32, -1, 1)
    for mode, turn in ((1, by_neighbours), (0, by_halves)):
        right = []
        for token in range(2):
            for row in heads_of(x[96 * token:96 * token + 96], 48):
                right += row[:16] + turn(row[16:], cos[32 * token:32 * token + 32], sin[32 * token:32 * token + 32])
        call("InplacePartialRotaryMul", {"x": tensor(x, dtype, [2, 1, 2, 48]), "cos": tensor(cos, angles, [2, 1, 1, 32]),
                                         "sin": tensor(sin, angles, [2, 1, 1, 32])},
             {"x": tensor(right, dtype, [2, 1, 2, 48])}, {"mode": mode, "partial_slice": [16, 48]})


def replaced_rows():
    rows, updates = many("float16", 6 * 32, -2, 2), many("float16", 3 * 32, -2, 2)
    right = list(rows)
    for at, row in enumerate((4, 0, 5)):
        right[32 * row:32 * row + 32] = updates[32 * at:32 * at + 32]
    call("ScatterNdUpdateV2", {"var": tensor(rows, "float16", [6, 32]), "indices": tensor([4, 0, 5], "int32", [3, 1]),
                               "updates": tensor(updates, "float16", [3, 32])},
         {"var": tensor(right, "float16", [6, 32])}, {"strides": [32, 1], "use_locking": False})


def quantised_updates(dtype, smooth, pairs):
    """Two updates of two heads and one place each, in three batches of four places, of 32 elements."""
    cache, scales, updates = bytes_of(3 * 2 * 4 * 32), numbers("float32", 24, 0.1, 1), many(dtype, 4 * 32, -3, 3)
    factors = many(dtype, 32, 0.5, 1.5) if smooth else [F(1)] * 32
    right, right_scales = list(cache), list(scales)
    targets = [(2, 1), (0, 3)] if pairs else [(0, 1), (1, 3)]
    for at, (batch, place) in enumerate(targets):
        for head in range(2):
            row = [a * b for a, b in zip(updates[32 * (2 * at + head):32 * (2 * at + head) + 32], factors)]
            line = (2 * batch + head) * 4 + place
            right_scales[line] = max(abs(a) for a in row) / 127
            right[32 * line:32 * line + 32] = [round(a / right_scales[line]) for a in row]
    indices = tensor(sum(targets, ()), "int32", [2, 2]) if pairs else tensor([1, 3], "int64")
    inputs = {"var": tensor(cache, "int8", [3, 2, 4, 32]), "var_scale": tensor(scales, "float32", [3, 2, 4, 1]), "indices": indices,
              "updates": tensor(updates, dtype, [2, 2, 1, 32])}
    if smooth:
        inputs["smooth_scales"] = tensor(factors, dtype)
    call("DynamicQuantUpdateScatter", inputs,
         {"var": tensor(right, "int8", [3, 2, 4, 32]), "var_scale": tensor(right_scales, "float32", [3, 2, 4, 1])}, {"reduce": "update", "axis": -2})


# Compressed keys and values.


def compressed(dtype):
    """Sequences of 40 and 20 tokens, two heads of 16 elements, windows of 32 and 16 tokens that are 16 apart."""
    width, heads = 16, 2
    x = many(dtype, 60 * heads * width, -2, 2)
    for size, firsts in ((32, [0]), (16, [0, 16, 40])):
        weight, dy = many(dtype, size * heads, -1, 1), many(dtype, len(firsts) * heads * width, -1, 1)

        def at(token, head, element):
            return x[(token * heads + head) * width + element]

        right = [sum(weight[place * heads + head] * at(first + place, head, element) for place in range(size))
                 for first in firsts for head in range(heads) for element in range(width)]
        attributes = {"layoutOptional": "TND", "compressBlockSize": size, "compressStride": 16, "actSeqLenType": 0}
        inputs = {"input": tensor(x, dtype, [60, heads, width]), "weight": tensor(weight, dtype, [size, heads]),
                  "actSeqLenOptional": tensor([40, 60], "int64")}
        call("NsaCompress", inputs, {"output": tensor(right, dtype, [len(firsts), heads, width])}, attributes)
        dx, dw = [F(0)] * len(x), [F(0)] * len(weight)
        for window, first in enumerate(firsts):
            for place in range(size):
                for head in range(heads):
                    for element in range(width):
                        grad = dy[(window * heads + head) * width + element]
                        dx[((first + place) * heads + head) * width + element] += grad * weight[place * heads + head]
                        dw[place * heads + head] += grad * at(first + place, head, element)
        call("NsaCompressGrad", {"outputGrad": tensor(dy, dtype, [len(firsts), heads, width]), **inputs},
             {"inputGrad": tensor(dx, dtype, [60, heads, width]), "weightGrad": tensor(dw, dtype, [size, heads])}, attributes)


def compressed_into_cache(dtype):
    """Three sequences in pages of 64 tokens; the second has no window that just ends."""
    width, size = 16, 32
    x, weight, cache = many(dtype, 5 * 64 * width, -2, 2), many(dtype, size, -1, 1), many(dtype, 4 * width, -1, 1)
    lengths, slots, table = [32, 70, 80], [3, 0, 1], [4, 1, 0, 2, 3, 4]
    right = list(cache)
    for batch in (0, 2):
        for element in range(width):
            total = F(0)
            for place in range(size):
                token = lengths[batch] - size + place
                page = table[2 * batch + token // 64]
                total += weight[place] * x[(64 * page + token % 64) * width + element]
            right[slots[batch] * width + element] = total
    call("NsaCompressWithCache",
         {"input": tensor(x, dtype, [5, 64, 1, width]), "weight": tensor(weight, dtype, [size, 1]), "slot_mapping": tensor(slots, "int32"),
          "output_cache": tensor(cache, dtype, [4, 1, width]), "act_seq_len": tensor(lengths, "int64"),
          "block_table": tensor(table, "int32", [3, 2])},
         {"output_cache": tensor(right, dtype, [4, 1, width])},
         {"layout": "TND", "compress_block_size": size, "compress_stride": 16, "act_seq_len_type": 1, "page_block_size": 64})


# Streams and tokens.


def streams(dtype):
    """Three tokens, four streams of 64 elements."""
    x, residual = many(dtype, 3 * 64, -2, 2), many(dtype, 3 * 4 * 64, -2, 2)
    post, comb = numbers("float32", 12, 0, 2), numbers("float32", 48, 0, 1)
    right = []
    for token in range(3):
        for to in range(4):
            for element in range(64):
                mixed = sum(comb[16 * token + 4 * stream + to] * residual[(4 * token + stream) * 64 + element] for stream in range(4))
                right.append(post[4 * token + to] * x[64 * token + element] + mixed)
    call("HcPost", {"x": tensor(x, dtype, [1, 3, 64]), "residual": tensor(residual, dtype, [1, 3, 4, 64]),
                    "post": tensor(post, "float32", [1, 3, 4]), "comb": tensor(comb, "float32", [1, 3, 4, 4])},
         {"y": tensor(right, dtype, [1, 3, 4, 64])})


def convolved(operator, dtype, silu, with_bias):
    """Sequences of five and two tokens, the second with a state before it; 32 channels, four weights."""
    channels, width, ends, lines, there = 32, 4, [0, 5, 7], [2, 0], [0, 1]
    x, weight, states = many(dtype, 7 * channels, -2, 2), many(dtype, width * channels, -1, 1), many(dtype, 3 * 3 * channels, -2, 2)
    bias = many(dtype, channels, -1, 1)
    right = []
    for token in range(7):
        sequence = 0 if token < 5 else 1
        for channel in range(channels):
            total = bias[channel] if with_bias else F(0)
            for place in range(width):
                at = token - width + 1 + place
                if at >= ends[sequence]:
                    total += weight[place * channels + channel] * x[at * channels + channel]
                elif there[sequence]:
                    line = lines[sequence] * 3 + at - ends[sequence] + 3
                    total += weight[place * channels + channel] * states[line * channels + channel]
            right.append(F(dec(total) * exact.sigmoid(total)) if silu else total)
    inputs = {"x": tensor(x, dtype, [7, channels]), "weight": tensor(weight, dtype, [width, channels])}
    if with_bias:
        inputs["bias"] = tensor(bias, dtype)
    inputs.update({"convStates": tensor(states, dtype, [3, 3, channels]), "queryStartLoc": tensor(ends, "int32"),
                   "cacheIndices": tensor(lines, "int32"), "initialStateMode": tensor(there, "int32")})
    call(operator, inputs, {"y": tensor(right, dtype, [7, channels])}, {"activationMode": int(silu), "padSlotId": -1, "runMode": 0})


def delta_rule(operator, dtype, state_dtype, with_decay, accepted):
    """Sequences of two tokens and one, one head of keys and two of values, of 16 elements."""
    size, tokens, heads = 16, 3, 2
    q, k, v = many(dtype, tokens * size, -1, 1), many(dtype, tokens * size, -1, 1), many(dtype, tokens * heads * size, -1, 1)
    beta, g = many(dtype, tokens * heads, 0.1, 0.9), many("float32", tokens * heads, -1, 0)
    state, lines, scale = many(state_dtype, 4 * heads * size * size, -1, 1), [3, 0, 1], F(1, 4)
    states, out = list(state), [None] * (tokens * heads * size)
    for sequence, (begin, end) in enumerate(((0, 2), (2, 3))):
        line = lines[begin + (accepted[sequence] if accepted else 1) - 1]
        for head in range(heads):
            start = (line * heads + head) * size * size
            now = [[dec(state[start + size * row + column]) for column in range(size)] for row in range(size)]
            for token in range(begin, end):
                decay = exact.exp(g[heads * token + head]) if with_decay else D(1)
                key, query = ([dec(one[size * token + at]) for at in range(size)] for one in (k, q))
                for row in range(size):
                    now[row] = [decay * value for value in now[row]]
                    change = dec(v[(heads * token + head) * size + row]) - sum(a * b for a, b in zip(now[row], key))
                    change *= dec(beta[heads * token + head])
                    now[row] = [value + change * one for value, one in zip(now[row], key)]
                    out[(heads * token + head) * size + row] = F(sum(a * b for a, b in zip(now[row], query))) * scale
                    place = ((lines[token] * heads + head) * size + row) * size
                    states[place:place + size] = [F(value) for value in now[row]]
    lengths = [2, 1] if operator.endswith("310") else [0, 2, 1]
    inputs = {"query": tensor(q, dtype, [tokens, 1, size]), "key": tensor(k, dtype, [tokens, 1, size]),
              "value": tensor(v, dtype, [tokens, heads, size]), "beta": tensor(beta, dtype, [tokens, heads]),
              "state": tensor(state, state_dtype, [4, heads, size, size]), "actual_seq_lengths": tensor(lengths, "int32"),
              "ssm_state_indices": tensor(lines, "int32")}
    if with_decay:
        inputs["g"] = tensor(g, "float32", [tokens, heads])
    if accepted:
        inputs["num_accepted_tokens"] = tensor(accepted, "int32")
    call(operator, inputs, {"out": tensor(out, dtype, [tokens, heads, size]), "state": tensor(states, state_dtype, [4, heads, size, size])},
         {"scale_value": 0.25})


def drafted(shift):
    """Three requests of five, two and three tokens, of which two, none and one were rejected; three slots each."""
    tokens, positions, following = list(range(101, 111)), [7, 8, 9, 10, 11, 40, 41, 3, 4, 5], [900, 901, 902]
    starts, ends, draft, padding, nobody = [0, 5, 7, 10], [2, 6, 8], 77, 0, -1
    rows = {"ids": [], "positions": [], "rejected": [], "masked": []}
    new, places = [], []

    def put(token, position, rejected, masked):
        for name, value in zip(rows, (token, position, rejected, masked)):
            rows[name].append(value)

    for request, (start, end) in enumerate(zip(starts, starts[1:])):
        begin, position = len(rows["ids"]), positions[start]
        places += [begin + at for at in range(end - start)]
        for at in range(start + (1 if shift else 0), ends[request] + 1):
            put(tokens[at], position, 0, 0)
            position += 1
        for slot in range(3):
            new.append(len(rows["ids"]))
            put(draft if slot else following[request], position, 0, 1 if slot else 0)
            position += 1
        for _ in range(ends[request] + 1, end):
            put(padding, 0, 1, 0)
    last = tensor(places, "int32") if shift else tensor([nobody] * 10, "int32", silent=True)
    call("CopyAndExpandEagleInputs",
         {"target_token_ids": tensor(tokens, "int32"), "target_positions": tensor(positions, "int32"), "next_token_ids": tensor(following, "int32"),
          "query_start_loc": tensor(starts, "int32"), "query_end_loc": tensor(ends, "int32")},
         {"out_input_ids": tensor(rows["ids"], "int32"), "out_positions": tensor(rows["positions"], "int32"),
          "out_is_rejected_token_mask": tensor(rows["rejected"], "int8"), "out_is_masked_token_mask": tensor(rows["masked"], "int8"),
          "out_new_token_indices": tensor(new, "int32"), "out_hidden_state_mapping": last},
         {"padding_token_id": padding, "parallel_drafting_token_id": draft, "num_padding_slots_per_request": 3, "shift_input_ids": shift,
          "total_input_tokens": 10})


# Norms.


def rms(row, gamma):
    rstd = F(1 / dec(mean([value * value for value in row]) + EPSILON).sqrt())
    return [value * rstd * g for value, g in zip(row, gamma)], rstd


def norms(dtype):
    x, other, gamma, beta = many(dtype, 64, -3, 3), many(dtype, 64, -3, 3), many(dtype, 32, -2, 2), many(dtype, 32, -2, 2)
    sums = [a + b for a, b in zip(x, other)]
    found = [rms(sums[at:at + 32], gamma) for at in (0, 32)]
    inputs = {"x1": tensor(x, dtype, [2, 32]), "x2": tensor(other, dtype, [2, 32]), "gamma": tensor(gamma, dtype)}
    rstd = tensor([one for _, one in found], "float32", [2, 1])
    for with_bias in (True, False):
        right = [value + (b if with_bias else 0) for row, _ in found for value, b in zip(row, beta)]
        call("AddRmsNormBias", {**inputs, "beta": tensor(beta, dtype)} if with_bias else inputs,
             {"y": tensor(right, dtype, [2, 32]), "rstd": rstd, "x": tensor(sums, dtype, [2, 32])}, {"epsilon": 1 / 1024})
    if dtype == "float32":
        return
    smooth = [many(dtype, 32, 0.5, 1.5) for _ in range(2)]
    rows = [rms(x[at:at + 32], gamma)[0] for at in (0, 32)]
    results = []
    for factors in smooth:
        smoothed = [[(value + b) * s for value, b, s in zip(row, beta, factors)] for row in rows]
        scales = [max(abs(value) for value in row) / 127 for row in smoothed]
        whole = [round(value / scale) for row, scale in zip(smoothed, scales) for value in row]
        results.append((tensor(whole, "int8", [2, 32]), tensor(scales, "float32")))
    inputs = {"x": tensor(x, dtype, [2, 32]), "gamma": tensor(gamma, dtype), "smooth_scale1": tensor(smooth[0], dtype)}
    for second in (True, False):
        given = {**inputs, "smooth_scale2": tensor(smooth[1], dtype)} if second else inputs
        nothing = {"y2": tensor([0], "int8", silent=True), "scale2": tensor([0], "float32", silent=True)}
        call("RmsNormDynamicQuant", {**given, "beta": tensor(beta, dtype)},
             {"y1": results[0][0], "y2": results[1][0] if second else nothing["y2"], "scale1": results[0][1],
              "scale2": results[1][1] if second else nothing["scale2"]}, {"epsilon": 1 / 1024, "output_mask": []})


# Single ones.


def slopes(dtype):
    x, y = numbers(dtype, 10, -3, 3), numbers(dtype, 10, 0.05, 0.95)
    call("SigmoidGrad", {"x": tensor(y, dtype), "y": tensor(x, dtype)}, {"z": tensor([g * s * (1 - s) for g, s in zip(x, y)], dtype)})
    dy, t = numbers(dtype, 10, -2, 2), numbers(dtype, 10, -0.9, 0.9)
    right = [g * (s + v * (1 - s * s) * F(exact.sigmoid(v))) for g, v, s in zip(dy, x, t)]
    for operator in ("MishGrad", "MishGradV2"):
        call(operator, {"grad": tensor(dy, dtype), "x": tensor(x, dtype), "tanhx": tensor(t, dtype)}, {"x_grad": tensor(right, dtype)})


def selected(dtype):
    x, y, b = numbers(dtype, 12, -3, 3), numbers(dtype, 12, -3, 3), [1, 0, -1, 0, 5, 1, 0, 0, 1, 1, 0, 1]
    call("SelectV3", {"x": tensor(x, dtype), "y": tensor(y, dtype), "b": tensor(b, "int8")},
         {"z": tensor([one if c else other for one, other, c in zip(x, y, b)], dtype)})


def boxes(count, dtype):
    rows = [numbers(dtype, count, 0, 4), numbers(dtype, count, 0, 4)]
    return rows + [[stored(low + F(random.uniform(1, 4)), dtype) for low in row] for row in rows]


def complete_overlap(dtype):
    count = 8
    one, other = boxes(count, dtype), boxes(count, dtype)
    # One that is alike, one that is apart.
    for side in range(4):
        other[side][0] = one[side][0]
    for side, value in enumerate((20, 21, 22, 25)):
        other[side][1] = F(value)
    right = []
    for at in range(count):
        a, b = ([dec(side[at]) for side in box] for box in (one, other))
        common = max(min(a[2], b[2]) - max(a[0], b[0]), D(0)) * max(min(a[3], b[3]) - max(a[1], b[1]), D(0))
        iou = common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)
        far = ((a[0] + a[2] - b[0] - b[2]) ** 2 + (a[1] + a[3] - b[1] - b[3]) ** 2) / 4
        far /= (max(a[2], b[2]) - min(a[0], b[0])) ** 2 + (max(a[3], b[3]) - min(a[1], b[1])) ** 2
        v = 4 / exact.PI**2 * (exact.atan((a[2] - a[0]) / (a[3] - a[1])) - exact.atan((b[2] - b[0]) / (b[3] - b[1]))) ** 2
        right.append(F(iou - far - (v * v / (1 - iou + v) if v else 0)))
    call("CIoU", {"bboxes": tensor(sum(one, []), dtype, [4, count]), "gtboxes": tensor(sum(other, []), dtype, [4, count])},
         {"overlap": tensor(right, dtype, [1, count]), "atan_sub": tensor([0] * count, dtype, [1, count], silent=True)},
         {"trans": False, "is_cross": False, "mode": "iou", "atan_sub_flag": True})
    middle = [[(low + high) / 2 for low, high in zip(box[at], box[at + 2])] for box in (one, other) for at in (0, 1)]
    sides = [[high - low for low, high in zip(box[at], box[at + 2])] for box in (one, other) for at in (0, 1)]
    if all(stored(value, dtype) == value for value in sum(middle + sides, [])):
        call("CIoU", {"bboxes": tensor(sum(middle[:2] + sides[:2], []), dtype, [4, count]),
                      "gtboxes": tensor(sum(middle[2:] + sides[2:], []), dtype, [4, count])},
             {"overlap": tensor(right, dtype, [1, count]), "atan_sub": tensor([0] * count, dtype, [1, count], silent=True)},
             {"trans": True, "is_cross": False, "mode": "iou", "atan_sub_flag": True})


def situ(row, beta, linear_beta):
    half = len(row) // 2
    result = []
    for gate, up in zip(row[:half], row[half:]):
        bent = beta * exact.tanh(dec(gate) / beta) * exact.sigmoid(gate)
        result.append(F(bent * (linear_beta * exact.tanh(dec(up) / linear_beta) if linear_beta > 0 else dec(up))))
    return result


def gated_and_quantised():
    """Two rows of 64 elements."""
    beta, linear_beta = D(4), D(25)
    for dtype in ("int8", "int32", "float16", "bfloat16"):
        if "int" in dtype:
            x, weights, bias = [random.randint(-100, 100) for _ in range(128)], numbers("float32", 64, 0.02, 0.05), numbers("float32", 64, -1, 1)
            factor = numbers("float32", 1, 0.5, 1.5) if dtype == "int32" else [F(1)]
            rows = [[value * w * factor[0] + b for value, w, b in zip(x[at:at + 64], weights, bias)] for at in (0, 64)]
            more = {"weight_scale": tensor(weights, "float32"), "bias": tensor(bias, "float32")}
            if dtype == "int32":
                more["activation_scale"] = tensor(factor, "float32")
        else:
            x, more = many(dtype, 128, -3, 3), {}
            rows = [x[:64], x[64:]]
        inputs = {"x": tensor(x, dtype, [2, 64]), **more}
        right = [situ(row, beta, linear_beta) for row in rows]
        scales = [max(abs(value) for value in row) / 127 for row in right]
        # What is largest is 127 itself.
        whole = [int(value / scale) for row, scale in zip(right, scales) for value in row]
        attributes = {"beta": 4.0, "linear_beta": 25.0, "activate_left": True}
        call("DequantSituQuant", inputs, {"y": tensor(whole, "int8", [2, 32]), "y_scale": tensor(scales, "float32")},
             {**attributes, "quant_type": "dynamic"})
        if dtype == "int8":
            scale, offset = numbers("float32", 32, 0.05, 0.1), numbers("float32", 32, -3, 3)
            whole = [min(max(int(value / s + o), -128), 127) for row in right for value, s, o in zip(row, scale, offset)]
            call("DequantSituQuant", {**inputs, "quant_scale": tensor(scale, "float32"), "quant_offset": tensor(offset, "float32")},
                 {"y": tensor(whole, "int8", [2, 32]), "y_scale": tensor([0, 0], "float32", silent=True)}, {**attributes, "quant_type": "static"})


def adam_by_maps(dtype):
    """Two blocks of 256 weights."""
    count = 512
    var, grad = many(dtype, count, -2, 2), many(dtype, count, -1, 1)
    m, v = ([random.randrange(256) for _ in range(count)] for _ in range(2))
    signed, positive = [F(2 * at - 255, 256) for at in range(256)], [F(at + 1, 256) for at in range(256)]
    largest = [numbers("float32", 2, 0.2, 0.8) for _ in range(2)]
    rate, decay, epsilon, factor, step = F(1, 64), F(1, 128), F(1, 1 << 20), F(1, 2), 3
    beta1, beta2 = F(7, 8), F(127, 128)
    right, moments = [], []
    for at in range(count):
        g = grad[at] * factor
        first = beta1 * signed[m[at]] * largest[0][at // 256] + (1 - beta1) * g
        second = beta2 * positive[v[at]] * largest[1][at // 256] + (1 - beta2) * g * g
        root = F(dec(second / (1 - beta2**step)).sqrt()) + epsilon
        right.append(var[at] - rate * first / (1 - beta1**step) / root - rate * decay * var[at])
        moments.append((abs(first), second))
    absmax = [[max(one[part] for one in moments[at:at + 256]) for at in (0, 256)] for part in (0, 1)]
    call("ApplyAdamWQuant",
         {"var": tensor(var, dtype), "grad": tensor(grad, dtype), "m": tensor(m, "uint8"), "v": tensor(v, "uint8"),
          "qmap_m": tensor(signed, "float32"), "qmap_v": tensor(positive, "float32"), "absmax_m": tensor(largest[0], "float32"),
          "absmax_v": tensor(largest[1], "float32"), "step": tensor([step], "int64")},
         {"var": tensor(right, dtype), "m": tensor(m, "uint8", silent=True), "v": tensor(v, "uint8", silent=True),
          "absmax_m": tensor(absmax[0], "float32"), "absmax_v": tensor(absmax[1], "float32")},
         {"lr": float(rate), "beta1": float(beta1), "beta2": float(beta2), "weight_decay": float(decay), "eps": float(epsilon),
          "gnorm_scale": float(factor), "quant_mode": "BLOCKWISE", "block_size": 256})


def all_of():
    one_token()
    several_tokens("float16", False, "contiguous")
    several_tokens("bfloat16", False, "page")
    several_tokens("float16", True, "page", True, "int32")
    several_tokens("bfloat16", True, "contiguous", False, "float32")
    in_part("float16", "float16")
    in_part("bfloat16", "float32")
    replaced_rows()
    drafted(True)
    drafted(False)
    for smooth in (False, True):
        for pairs in (False, True):
            quantised_updates("bfloat16" if pairs else "float16", smooth, pairs)
    for dtype in FLOATS:
        by_position(dtype)
        streams(dtype)
        norms(dtype)
        slopes(dtype)
        adam_by_maps(dtype)
    for dtype in HALVES:
        compressed(dtype)
        compressed_into_cache(dtype)
        convolved("CausalConv1d", dtype, dtype == "float16", dtype == "float16")
        delta_rule("RecurrentGatedDeltaRule", dtype, "float32" if dtype == "float16" else dtype, dtype == "float16", [2, 1])
    convolved("CausalConv1dV310", "float16", True, True)
    delta_rule("RecurrentGatedDeltaRuleV310", "float16", "float16", True, None)
    for dtype in ("float16", "float32"):
        selected(dtype)
        complete_overlap(dtype)
    gated_and_quantised()
