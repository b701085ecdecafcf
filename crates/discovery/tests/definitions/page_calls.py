"""Calls of caches in pages, and of queries that want to know their keys the other way round, for `make_known.py`."""

import random

from cache_calls import FLOATS, HALVES, many
from calls import call, tensor


def ints(values, shape=None, dtype="int32"):
    return tensor(values, dtype, shape)


def groups_of(slots, block):
    """Runs of tokens whose slots follow each other within a page, by a list of slots that has -1 for none."""
    found = []
    for token, slot in enumerate(slots):
        if slot < 0:
            continue
        last = found[-1] if found else None
        if last and token == last[1] + last[0] and slot == last[2] + last[0] and slot % block:
            last[0] += 1
        else:
            found.append([1, token, slot])
    return found + [[0, 0, 0]] * (len(slots) - len(found))


def stored(dtype):
    """Eleven tokens of two heads, three of which go nowhere; pages of four."""
    block, pages, width, slots = 4, 5, 16, [6, 7, 8, 9, -1, 2, -1, 18, 17, 16, -1]
    draw = (lambda count: [random.randint(-100, 100) for _ in range(count)]) if dtype == "int8" else (lambda count: many(dtype, count, -3, 3))
    keys, cache = draw(len(slots) * width), draw(pages * block * width)
    right = list(cache)
    for token, slot in enumerate(slots):
        if slot >= 0:
            right[slot * width:(slot + 1) * width] = keys[token * width:(token + 1) * width]
    groups = groups_of(slots, block)
    inputs = {name: ints([one[part] for one in groups]) for part, name in enumerate(("groupLen", "groupKeyIdx", "groupKeyCacheIdx"))}
    call("StoreKVBlock",
         {"keyIn": tensor(keys, dtype, [len(slots), 2, width // 2]), "keyCacheIn": tensor(cache, dtype, [pages, block, 2, width // 2]), **inputs},
         {"keyCacheIn": tensor(right, dtype, [pages, block, 2, width // 2])}, {"blockSize": block})


def turned(dtype):
    """Two layers of four pages, of which three are turned; four heads that came in two parts."""
    layers, pages, block, heads, width, parts = 2, 4, 4, 4, 16, 2
    chosen, each = [3, 0, 1], heads // parts
    given = {name: [many(dtype, pages * block * heads * width, -3, 3) for _ in range(layers)] for name in ("KCache", "VCache")}

    def right(cache):
        result = list(cache)
        for page in chosen:
            for part in range(parts):
                for token in range(block):
                    for head in range(each):
                        source = ((page * parts + part) * block + token) * each + head
                        target = (page * block + token) * heads + part * each + head
                        result[target * width:(target + 1) * width] = cache[source * width:(source + 1) * width]
        return result

    shape = [pages, block, heads, width]
    caches = {name: [tensor(one, dtype, shape) for one in cache] for name, cache in given.items()}
    results = {name: [tensor(right(one), dtype, shape) for one in cache] for name, cache in given.items()}
    call("TransposeKvCacheByBlock", {**caches, "blockIDs": ints(chosen, None, "int64")}, results,
         {"blockSize": block, "headNum": heads, "headDim": width, "splitNum": parts, "layerNum": layers})


def compressed_places(dtype, pairs):
    """Four requests, of which the third is none of ours, and rows of four tokens; room for some more."""
    ratio, block, width, tokens, room = 4, 3, 16, 64, 12
    lengths, starts, table = [9, 3, 14, 5], [0, 6, 11, 40], [[7, 2, 5], [4, 9, 1], [3, -1, 8], [6, 0, 2]]
    cos, sin = many(dtype, tokens * width, -1, 1), many(dtype, tokens * width, -1, 1)
    rows = []
    for request, (length, start) in enumerate(zip(lengths[:3], starts)):
        for token in range(start, start + length):
            if token % ratio == ratio - 1:
                page = table[request][token // ratio // block]
                rows.append((token - ratio + 1, page, token // ratio % block) if page >= 0 else None)
    # Behind them, and where there is no page.
    rows += [None] * (room - len(rows))
    right = {"compressCos": [], "compressSin": [], "slotMapping": []}
    for row in rows:
        right["compressCos"] += [1] * width if row is None else cos[row[0] * width:(row[0] + 1) * width]
        right["compressSin"] += [0] * width if row is None else sin[row[0] * width:(row[0] + 1) * width]
        page, offset = (-1, block - 1) if row is None else row[1:]
        right["slotMapping"] += [page, offset] if pairs else [-1 if row is None else page * block + offset]
    ends = [sum(lengths[:at]) for at in range(len(lengths) + 1)]
    shape = [room, 1, 1, width]
    call("CompressorMetadata",
         {"ropeCos": tensor(cos, dtype, [tokens, width]), "ropeSin": tensor(sin, dtype, [tokens, width]), "cuSeqlens": ints(ends),
          "startPos": ints(starts), "kvBlockTable": ints(sum(table, []), [4, 3])},
         {"compressCos": tensor(right["compressCos"], dtype, shape), "compressSin": tensor(right["compressSin"], dtype, shape),
          "slotMapping": ints(right["slotMapping"], [room, 2] if pairs else [room])},
         {"kvBlockSize": block, "slotMappingFormat": 2 if pairs else 1, "cmpRatio": ratio, "actualNumReqs": 3})


def by_block(blocks, tokens, choices, order, in_all):
    """Tokens of sequences choose blocks of theirs: `choices` by head, token and place, -1 for none. Every stage's scratch from scratch."""
    batch, most, total, heads, count = len(blocks), max(blocks), sum(blocks), len(choices), sum(tokens)
    sequence = [one for one, length in enumerate(tokens) for _ in range(length)]
    if order == 0:
        rows = [(one, block) for one in range(batch) for block in range(blocks[one])]
    else:
        rows = [(one, block) for block in range(most) for one in range(batch) if block < blocks[one]]
    number = {pair: at for at, pair in enumerate(rows)}
    # Who chose each row, in the order of tokens.
    chose = {(head, row): [] for head in range(heads) for row in range(total)}
    for head, own in enumerate(choices):
        for token, chosen in enumerate(own):
            for place, block in enumerate(chosen):
                if block >= 0:
                    chose[head, number[sequence[token], block]].append((token, place))
    first = {}
    for head in range(heads):
        at = 0
        for row in range(total):
            first[head, row] = at
            at += len(chose[head, row])
        first[head, total] = at
    keys = [(token, head, row) for token in range(count) for head in range(heads) for row in range(total)]
    own = [sum(one == token for one, _ in chose[head, row]) for token, head, row in keys]
    begins = [first[head, row] + sum(one < token for one, _ in chose[head, row]) for token, head, row in keys]
    totals = [len(chose[head, row]) for head in range(heads) for row in range(total)]
    fixed = [number.get((one, block), -1) for one in range(batch) for block in range(most)] + sequence
    nothing = [0] * len(keys)
    garbage = [random.randint(-9, 9) for _ in keys]
    stages = [fixed + nothing + garbage + [0] * len(totals), fixed + own + garbage + totals, fixed + own + begins + totals]
    start = ints([random.randint(-9, 9) for _ in fixed] + nothing + garbage + [7] * len(totals))
    after = [ints(one) for one in stages]
    q2k = ints([block for head in choices for chosen in head for block in chosen], [heads, count, len(choices[0][0])])
    token_ends, block_ends = (ints([sum(one[:at]) for at in range(batch + 1)]) for one in (tokens, blocks))
    sizes = {"num_heads": heads, "num_tokens": count, "topk": len(choices[0][0])}
    table = {"total_rows": total, "max_kv": most}
    prefix = {**table, "use_simt": 0, **sizes, "batch": batch}
    row_ptr = ints([first[head, row] for head in range(heads) for row in range(total + 1)], [heads, total + 1])
    call("K2qCsrMeta", {"cu_seqlens": token_ends, "cu_block_lens": block_ends, "scratch": start}, {"scratch": after[0]},
         {"order_method": order, **table, **sizes})
    call("K2qCsrHist", {"q2k": q2k, "scratch": after[0]}, {"scratch": after[1]}, {**table, "use_simt": 0, "batch": batch})
    call("K2qCsrRowPrefix", {"scratch": after[1]}, {"row_ptr": row_ptr}, prefix)
    call("K2qCsrTilePrefix", {"scratch": after[1], "row_ptr": row_ptr}, {"scratch": after[2]}, prefix)
    lists = [[one for row in range(total) for one in chose[head, row]] for head in range(heads)]
    begin = [0 if in_all else sum(tokens[:one]) for one in range(batch)]
    places = count * len(choices[0][0])
    rest = [[-1] * (places - len(one)) for one in lists]
    right = {"q_ind": [value for one, more in zip(lists, rest) for value in [token - begin[sequence[token]] for token, _ in one] + more],
             "slot": [value for one, more in zip(lists, rest) for value in [place for _, place in one] + more]}
    call("K2qCsrScatter", {"q2k": q2k, "cu_seqlens": token_ends, "scratch": after[2]},
         {name: ints(values, [heads, places]) for name, values in right.items()}, {**table, "use_simt": 0, "q_global_offset": in_all})


def all_of():
    for dtype in ("int8",) + HALVES:
        stored(dtype)
    for dtype in HALVES:
        turned(dtype)
    for dtype in FLOATS:
        for pairs in (True, False):
            compressed_places(dtype, pairs)
    several = [[[2, 0], [1, -1], [1, 0], [3, 1], [0, 2]], [[0, 1], [0, 2], [0, 1], [-1, 1], [3, 0]]]
    for order in (0, 1):
        by_block([3, 2, 4], [2, 1, 2], several, order, order)
    by_block([3], [4], [[[2, 0, 1], [0, 1, 2], [1, 2, 0], [2, 1, 0]]], 0, 0)
