"""Caches in pages: rows stored and turned where they lie, places of compressed rows, and which queries go to which page of keys."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from shapes import checked, must_differ

# An operator that defines no output changes the inputs that are outputs here.


@define("StoreKVBlock", inputs="keyIn keyCacheIn groupLen:int32 groupKeyIdx:int32 groupKeyCacheIdx:int32", outputs="keyCacheIn",
        dtypes="int8 float16 bfloat16", attributes={"blockSize": REQUIRED})
def stored_in_groups(keys, cache, lengths, sources, targets, blockSize):
    """of each group groupLen rows of keyIn from groupKeyIdx on go to those of keyCacheIn, pages one behind the other, from groupKeyCacheIdx on"""
    if cache.ndim < 2 or cache.shape[1] != blockSize or keys.ndim < 1:
        raise Mismatch(f"pages of {list(cache.shape)} for blocks of {blockSize}")
    width = int(np.prod(keys.shape[1:]))
    if int(np.prod(cache.shape[2:])) != width or not lengths.shape == sources.shape == targets.shape or lengths.ndim != 1:
        raise Mismatch(f"rows of {width} for pages of {list(cache.shape)}, {lengths.size} groups")
    if np.any(lengths < 0) or np.any(sources < 0) or np.any(targets < 0):
        raise Mismatch("groups below nothing")
    filled = lengths > 0
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    if np.any((targets % blockSize + lengths > blockSize)[filled]):
        raise Mismatch("a group that goes on in another page")
    rows = checked(np.repeat(sources, lengths) + within, len(keys))
    places = checked(np.repeat(targets, lengths) + within, len(cache) * blockSize)
    must_differ(places, "places")
    y = cache.reshape(-1, width).copy()
    y[places] = keys.reshape(-1, width)[rows]
    return Value(y.reshape(cache.shape), exact=True)


@define("TransposeKvCacheByBlock", inputs="KCache* VCache* blockIDs:int64", outputs="KCache* VCache*", dtypes="float16 bfloat16",
        attributes={"blockSize": REQUIRED, "headNum": REQUIRED, "headDim": REQUIRED, "splitNum": REQUIRED, "layerNum": REQUIRED})
def turned_by_page(keys, values, pages, blockSize, headNum, headDim, splitNum, layerNum):
    """in the pages of blockIDs, of each layer, [splitNum, blockSize, headNum / splitNum] becomes [blockSize, splitNum, headNum / splitNum]"""
    if len(keys) != layerNum or len(values) != layerNum or splitNum < 1 or headNum % splitNum:
        raise Mismatch(f"{len(keys)} and {len(values)} caches of {layerNum} layers, {headNum} heads in {splitNum} parts")
    if any(cache.shape[1:] != (blockSize, headNum, headDim) for cache in keys + values):
        raise Mismatch(f"pages of other shapes than {[blockSize, headNum, headDim]}")

    def turned(cache):
        places = checked(pages.reshape(-1), len(cache))
        must_differ(places, "pages")
        parts = cache[places].reshape(len(places), splitNum, blockSize, headNum // splitNum, headDim)
        y = cache.copy()
        y[places] = parts.swapaxes(1, 2).reshape(len(places), *cache.shape[1:])
        return Value(y, exact=True)

    return [turned(cache) for cache in keys], [turned(cache) for cache in values]


FLAT, PAIRS = 1, 2


@define("CompressorMetadata", inputs="ropeCos ropeSin cuSeqlens:int32 startPos:int32 kvBlockTable:int32",
        outputs="compressCos compressSin slotMapping:int32",
        attributes={"kvBlockSize": REQUIRED, "slotMappingFormat": REQUIRED, "cmpRatio": REQUIRED, "actualNumReqs": REQUIRED})
def places_of_compressed(cos, sin, ends, starts, table, kvBlockSize, slotMappingFormat, cmpRatio, actualNumReqs, call):
    """for every cmpRatio tokens that a request completes a row: the angles of their first token, and the slot by its table; 1, 0 and -1 behind"""
    shape = call["outputs"][0]["shape"]
    if shape is None or cos.ndim != 2 or sin.shape != cos.shape or starts.ndim != 1 or table.ndim != 2 or min(kvBlockSize, cmpRatio) < 1:
        raise Mismatch(f"angles of {list(cos.shape)} and {list(sin.shape)} for tables of {list(table.shape)}")
    requests = actualNumReqs
    if not 0 < requests < ends.size or requests > min(len(starts), len(table)) or slotMappingFormat not in (FLAT, PAIRS):
        raise Mismatch(f"{requests} requests, slots of the format {slotMappingFormat}")
    ends, starts = ends.reshape(-1)[: requests + 1], starts[:requests]
    last = starts + np.diff(ends)
    counts = np.where((starts >= 0) & (last > starts), last // cmpRatio - starts // cmpRatio, 0)
    request = np.repeat(np.arange(requests), counts)
    number = np.arange(len(request)) - np.repeat(np.cumsum(counts) - counts, counts) + (starts // cmpRatio)[request]
    # As many as there is room for.
    request, number = request[: shape[0]], number[: shape[0]]
    column, token = number // kvBlockSize, number * cmpRatio
    known = (column < table.shape[1]) & (token < len(cos))
    page = np.where(known, table[request, np.minimum(column, table.shape[1] - 1)], -1)
    known &= page >= 0
    rows, token = np.nonzero(known)[0], token[known]
    angles = [np.full((shape[0], cos.shape[1]), fill) for fill in (1.0, 0.0)]
    for result, angle in zip(angles, (cos, sin)):
        result[rows] = angle[token]
    slots = np.tile(np.array([-1, kvBlockSize - 1]), (shape[0], 1))
    slots[rows] = np.stack([page, number % kvBlockSize], axis=1)[known]
    if slotMappingFormat == FLAT:
        slots = np.where(slots[:, 0] < 0, -1, slots[:, 0] * kvBlockSize + slots[:, 1])
    return *(Value(angle.reshape(shape[0], *[1] * (len(shape) - 2), cos.shape[1]), exact=True) for angle in angles), Value(slots, exact=True)


# Queries have chosen blocks of keys; blocks want to know which queries. Five operators turn the one into the other, by way of whole
# numbers that lie one behind the other in a scratch: the row of each block of a sequence, the sequence of each token, how often
# each part of the tokens chose each row, where in the result that part's choices of it begin, and how often all tokens chose it.

# Tokens are dealt out in as many parts as there are cores, at least this many on every chip; as far as there are, each has its own.
FEWEST_CORES = 40


class Scratch:
    """Its parts, which can be written."""

    def __init__(self, scratch, batch, max_kv, tokens, heads, total_rows):
        sizes = [batch * max_kv, tokens, tokens * heads * total_rows, tokens * heads * total_rows, heads * total_rows]
        if min(batch, max_kv, tokens, heads, total_rows) < 1 or tokens > FEWEST_CORES:
            raise Mismatch(f"the parts of {tokens} tokens are the machine's, and none of them may be nothing")
        if scratch.ndim != 1 or scratch.size != sum(sizes):
            raise Mismatch(f"a scratch of {list(scratch.shape)} where {sum(sizes)} are needed")
        self.whole = scratch.copy()
        parts = np.split(self.whole, np.cumsum(sizes)[:-1])
        self.row_of = parts[0].reshape(batch, max_kv)
        self.sequence_of = parts[1]
        self.counts, self.begins = (part.reshape(tokens, heads, total_rows) for part in parts[2:4])
        self.totals = parts[4].reshape(heads, total_rows)
        # Where each part lies.
        self.places = np.split(np.arange(scratch.size), np.cumsum(sizes)[:-1])

    def value(self, *silent):
        """The whole of it; of some parts nobody has said anything yet."""
        unspecified = np.zeros(self.whole.size, bool)
        for part in silent:
            unspecified[self.places[part]] = True
        return Value(self.whole, exact=True, unspecified=unspecified)


COUNTS, BEGINS = 2, 3


def must_be_lists(use_simt):
    if use_simt != 0:
        raise Mismatch("parts of threads are others")


def lengths_of(ends, total, what):
    lengths = np.diff(ends.reshape(-1))
    if ends.size < 2 or ends.reshape(-1)[0] != 0 or ends.reshape(-1)[-1] != total or np.any(lengths < 0):
        raise Mismatch(f"{what} that end at {ends.reshape(-1).tolist()} of {total}")
    return lengths


@define("K2qCsrMeta", inputs="cu_seqlens cu_block_lens scratch", outputs="scratch", dtypes="int32", ignored="topk",
        attributes={"order_method": REQUIRED, "total_rows": REQUIRED, "max_kv": REQUIRED, "num_heads": REQUIRED, "num_tokens": REQUIRED})
def rows_of_blocks(token_ends, block_ends, scratch, order_method, total_rows, max_kv, num_heads, num_tokens):
    """rows of blocks, one sequence after the other or the first blocks of all before the second ones; sequences of tokens; counts of nothing"""
    lengths, blocks = lengths_of(token_ends, num_tokens, "sequences"), lengths_of(block_ends, total_rows, "blocks")
    if order_method not in (0, 1) or len(lengths) != len(blocks) or max(blocks) != max_kv:
        raise Mismatch(f"{len(lengths)} sequences, blocks of {len(blocks)}, at most {max_kv} each, by method {order_method}")
    parts = Scratch(scratch, len(blocks), max_kv, num_tokens, num_heads, total_rows)
    there = np.arange(max_kv) < blocks[:, None]
    parts.row_of[...] = -1
    if order_method == 0:
        parts.row_of[there] = np.arange(total_rows)
    else:
        parts.row_of.T[there.T] = np.arange(total_rows)
    parts.sequence_of[...] = np.repeat(np.arange(len(lengths)), lengths)
    parts.totals[...] = 0
    return parts.value(COUNTS, BEGINS)


def chosen_rows(q2k, parts):
    """For each head, token and choice its row, -1 for none."""
    rows, sequences = parts.row_of, parts.sequence_of
    there = rows >= 0
    blocks = there.sum(axis=1)
    in_front = np.all(there == (np.arange(rows.shape[1]) < blocks[:, None]))
    rising = np.all(np.diff(rows, axis=1)[there[:, 1:]] > 0)
    if not in_front or not rising or np.any(np.sort(rows[there]) != np.arange(parts.totals.shape[1])):
        raise Mismatch("a map that does not have every row once, in the order of blocks")
    if np.any(np.diff(sequences) < 0):
        raise Mismatch("tokens out of the order of their sequences")
    sequences = checked(sequences, len(rows))
    if np.any(q2k < -1) or np.any(q2k >= blocks[sequences][None, :, None]):
        raise Mismatch("a block that the sequence does not have")
    return np.where(q2k < 0, -1, rows[sequences[None, :, None], q2k])


def counted_rows(chosen, total_rows):
    """How often each token chose each row, [token, head, row]."""
    return (chosen[..., None] == np.arange(total_rows)).sum(axis=2).swapaxes(0, 1)


def before(counts):
    """How many there are in front of each row."""
    return np.cumsum(counts, axis=-1) - counts


@define("K2qCsrHist", inputs="q2k scratch", outputs="scratch", dtypes="int32",
        attributes={"total_rows": REQUIRED, "max_kv": REQUIRED, "use_simt": REQUIRED, "batch": REQUIRED})
def counts_of_choices(q2k, scratch, total_rows, max_kv, use_simt, batch):
    """how often each token, and how often all of them, chose the row of each block, by head"""
    must_be_lists(use_simt)
    if q2k.ndim != 3:
        raise Mismatch(f"choices of {list(q2k.shape)}")
    parts = Scratch(scratch, batch, max_kv, q2k.shape[1], q2k.shape[0], total_rows)
    if np.any(parts.totals != 0):
        raise Mismatch("counts that do not begin with nothing")
    parts.counts[...] = counted_rows(chosen_rows(q2k, parts), total_rows)
    parts.totals[...] = parts.counts.sum(axis=0)
    return parts.value(BEGINS)


PREFIX = {"total_rows": REQUIRED, "max_kv": REQUIRED, "use_simt": REQUIRED, "num_heads": REQUIRED, "num_tokens": REQUIRED, "batch": REQUIRED}


@define("K2qCsrRowPrefix", inputs="scratch", outputs="row_ptr", dtypes="int32", ignored="topk", attributes=PREFIX)
def begins_of_rows(scratch, total_rows, max_kv, use_simt, num_heads, num_tokens, batch):
    """row_ptr[h, r] = how many choices of head h are in front of row r, and at the end how many there are"""
    must_be_lists(use_simt)
    totals = Scratch(scratch, batch, max_kv, num_tokens, num_heads, total_rows).totals
    return Value(np.concatenate([np.zeros((num_heads, 1), np.int64), np.cumsum(totals, axis=-1)], axis=-1), exact=True)


@define("K2qCsrTilePrefix", inputs="scratch row_ptr", outputs="scratch", dtypes="int32", ignored="topk", attributes=PREFIX)
def begins_of_tokens(scratch, row_ptr, total_rows, max_kv, use_simt, num_heads, num_tokens, batch):
    """where the choices of each row begin that are a token's: row_ptr and those of the tokens in front of it"""
    must_be_lists(use_simt)
    parts = Scratch(scratch, batch, max_kv, num_tokens, num_heads, total_rows)
    if row_ptr.shape != (num_heads, total_rows + 1):
        raise Mismatch(f"beginnings of {list(row_ptr.shape)} for {num_heads} heads of {total_rows} rows")
    parts.begins[...] = row_ptr[None, :, :-1] + np.cumsum(parts.counts, axis=0) - parts.counts
    return parts.value()


@define("K2qCsrScatter", inputs="q2k cu_seqlens scratch", outputs="q_ind slot", dtypes="int32",
        attributes={"total_rows": REQUIRED, "max_kv": REQUIRED, "use_simt": REQUIRED, "q_global_offset": REQUIRED})
def queries_by_row(q2k, token_ends, scratch, total_rows, max_kv, use_simt, q_global_offset):
    """of each head, row by row, the tokens that chose it, counted in their sequence or in all, and which of their choices it was"""
    must_be_lists(use_simt)
    if q2k.ndim != 3 or q_global_offset not in (0, 1):
        raise Mismatch(f"choices of {list(q2k.shape)}, offsets {q_global_offset}")
    heads, tokens, each = q2k.shape
    lengths = lengths_of(token_ends, tokens, "sequences")
    parts = Scratch(scratch, len(lengths), max_kv, tokens, heads, total_rows)
    chosen = chosen_rows(q2k, parts)
    counts = counted_rows(chosen, total_rows)
    totals = counts.sum(axis=0)
    begins = before(totals)[None] + np.cumsum(counts, axis=0) - counts
    sequences = np.repeat(np.arange(len(lengths)), lengths)
    if np.any(parts.sequence_of != sequences) or np.any(parts.begins != begins):
        raise Mismatch("a scratch that belongs to other choices")
    first = 0 if q_global_offset else (np.cumsum(lengths) - lengths)[sequences]
    token = np.repeat(np.arange(tokens) - first, each)
    order = np.argsort(np.where(chosen < 0, total_rows, chosen).reshape(heads, -1), axis=-1, kind="stable")
    # Behind them stays what the caller put there.
    behind = np.arange(tokens * each) >= totals.sum(axis=-1)[:, None]
    results = (np.where(behind, -1, what[order]) for what in (token, np.tile(np.arange(each), tokens)))
    return tuple(Value(result, exact=True, unspecified=behind) for result in results)
