"""Keys and values on their way to caches: rotated by position, quantised, compressed, written where slots point."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from quantise import dequantised, per_row, precision, quantised
from rotations import MODES, pairing, rotated
from scatters import scatter_nd_update
from shapes import checked, must_differ
from spatial import must_be_finite


def split_heads(x, sizes, width):
    """The parts of the last dimension, each [..., head, element]."""
    if len(sizes) != 3 or sum(sizes) != x.shape[-1] or min(sizes) <= 0 or any(size % width for size in sizes):
        raise Mismatch(f"{x.shape[-1]} elements in heads of {width} and parts of {list(sizes)}")
    return [part.reshape(x.shape[:-1] + (-1, width)) for part in np.split(x, np.cumsum(sizes)[:-1], axis=-1)]


def quantised_heads(value, scale, offset, relative):
    """round(x / scale + offset); scales are those of an element, or of a head and an element."""
    heads, width = value.array.shape[-2:]
    if scale.size not in (width, heads * width) or offset is not None and offset.size != scale.size:
        raise Mismatch(f"{scale.size} scales for {heads} heads of {width}")
    scale = scale.reshape(-1, width)
    if np.any(scale == 0):
        raise Mismatch("a scale of zero")
    offset = 0.0 if offset is None else offset.reshape(-1, width)
    return quantised(value.array / scale + offset, value.magnitude / np.abs(scale) + np.abs(offset), -128, 127, relative)


def stored(cache, rows, whole):
    """A cache whose rows are replaced by what was quantised."""
    result, slack = cache.copy(), np.zeros(cache.shape)
    result[rows], slack[rows] = whole.array, whole.slack
    return Value(result, slack=slack)


def rotated_heads(q, k, v, cos, sin, tokens):
    """q and k rotated by halves, all heads of a token by the same angles, and v as it is."""
    width = q.array.shape[-1]
    if cos.size != tokens * width or sin.size != cos.size:
        raise Mismatch(f"angles of {list(cos.shape)} for {tokens} tokens of {width} elements")
    cos, sin = (angle.reshape(q.array.shape[:-2] + (1, width)) for angle in (cos, sin))
    _, other, _ = pairing(width, MODES["half"])
    parts = []
    for x in (q, k):
        one = rotated(x.array, cos, sin, MODES["half"])
        size = x.magnitude * np.abs(cos) + x.magnitude[..., other] * np.abs(sin)
        parts.append(Value(one.array, magnitude=size, steps=2))
    return parts[0], parts[1], v


def rows_of_sequences(starts, length, batch, limit):
    """Pairs of batch and place: of each sequence as many places as it has tokens, from its start on."""
    starts = starts.reshape(-1)
    if len(starts) != batch or np.any(starts < 0) or np.any(starts + length > limit):
        raise Mismatch(f"{length} tokens of {batch} sequences that begin at other places than the cache has")
    return np.arange(batch)[:, None], starts[:, None] + np.arange(length)[None, :]


def rotated_into_caches(parts, angles, caches, indices, scales, offsets, cache_mode, kv_output, relative):
    """q, k and v, the latter two only where they are asked for, and the caches that k and v were quantised into."""
    q, k, v = parts
    outer = q.array.shape[:-2]
    q, k, v = rotated_heads(q, k, v, *angles, int(np.prod(outer)))
    must_be_finite(q.array, k.array, v.array)
    heads, width = k.array.shape[-2:]
    if any(cache.ndim != 4 or cache.shape[2:] != (heads, width) for cache in caches) or v.array.shape[-2] != heads:
        raise Mismatch(f"caches of {[list(cache.shape) for cache in caches]} for {heads} heads of {width}")
    batch, length = outer[0], outer[1] if len(outer) == 2 else 1
    results = []
    for one, cache, scale, offset in zip((k, v), caches, scales, offsets):
        whole = quantised_heads(one, scale, offset, relative)
        if cache_mode == "contiguous":
            if len(cache) < batch:
                raise Mismatch(f"{batch} sequences for a cache of {len(cache)}")
            rows = rows_of_sequences(indices, length, batch, cache.shape[1])
            whole.array, whole.slack = (part.reshape(batch, length, heads, width) for part in (whole.array, whole.slack))
            results.append(stored(cache, rows, whole))
            continue
        slots = checked(indices.reshape(-1), cache.shape[0] * cache.shape[1])
        if len(slots) != batch * length:
            raise Mismatch(f"{len(slots)} slots for {batch * length} tokens")
        must_differ(slots, "slots")
        whole.array, whole.slack = (part.reshape(-1, heads, width) for part in (whole.array, whole.slack))
        kept = stored(cache.reshape(-1, heads, width), slots, whole)
        results.append(Value(kept.array.reshape(cache.shape), slack=kept.slack.reshape(cache.shape)))
    return q, k if kv_output else None, v if kv_output else None, *results


ROTATED = {"size_splits": REQUIRED, "layout": "BSND", "kv_output": False}


def must_be_tokens(layout, quant_mode="static", cache_mode="contiguous"):
    if layout != "BSND" or quant_mode != "static" or cache_mode not in ("contiguous", "page"):
        raise Mismatch(f"the layout {layout}, mode {quant_mode} and cache {cache_mode} have no definition")


@define("RopeQuantKvcache", inputs="qkv cos sin quant_scale:float32 quant_offset:int32 k_cache:int8 v_cache:int8 indice:int32",
        outputs="q k v k_cache:int8 v_cache:int8", dtypes="float16", attributes=ROTATED)
def rope_quant_kvcache(qkv, cos, sin, quant_scale, quant_offset, k_cache, v_cache, indice, size_splits, layout, kv_output, call):
    """q, k, v = parts of qkv, q and k rotated by halves; k_cache, v_cache [b, indice[b]] = round(k, v / quant_scale + quant_offset)"""
    must_be_tokens(layout)
    if qkv.ndim != 3 or qkv.shape[1] != 1 or quant_scale.size != k_cache.shape[-1]:
        raise Mismatch("only one token of each sequence, with a scale for each element of a head, has a definition")
    parts = [Value(part, magnitude=np.abs(part)) for part in split_heads(qkv, size_splits, k_cache.shape[-1])]
    return rotated_into_caches(parts, (cos, sin), (k_cache, v_cache), indice, (quant_scale,) * 2, (quant_offset,) * 2, "contiguous",
                               kv_output, 2.0 * precision(call))


@define("DequantRopeQuantKvcache", outputs="q k v k_cache:int8 v_cache:int8", dtypes="float16 bfloat16",
        inputs="x~ cos sin k_cache:int8 v_cache:int8 indices:int32 scale_k:float32 scale_v:float32 offset_k?:float32 offset_v?:float32 "
               "weight_scale?:float32 activation_scale?:float32 bias~?",
        attributes={**ROTATED, "quant_mode": "static", "cache_mode": "contiguous"})
def dequant_rope_quant_kvcache(x, cos, sin, k_cache, v_cache, indices, scale_k, scale_v, offset_k, offset_v, weight_scale, activation_scale,
                               bias, size_splits, layout, kv_output, quant_mode, cache_mode, call):
    """q, k, v = parts of x, dequantised where it is int32, q and k rotated by halves; rows of the caches = round(k, v / scale + offset)"""
    must_be_tokens(layout, quant_mode, cache_mode)
    dtype, other = (call["inputs"][place]["instances"][0]["dtype"] for place in (0, 1))
    if x.ndim not in (2, 3) or k_cache.ndim != 4:
        raise Mismatch(f"x of {list(x.shape)} and a cache of {list(k_cache.shape)}")
    size = np.abs(x)
    if dtype == "int32":
        if weight_scale is None or weight_scale.size != x.shape[-1] or bias is not None and bias.size != x.shape[-1]:
            raise Mismatch("whole numbers take a weight scale, and as many of it and of the bias as a token has elements")
        scale = np.broadcast_to(weight_scale.reshape(-1), x.shape)
        if activation_scale is not None:
            if activation_scale.size != x.size // x.shape[-1]:
                raise Mismatch(f"{activation_scale.size} activation scales for x of {list(x.shape)}")
            scale = scale * activation_scale.reshape(x.shape[:-1] + (1,))
        found = dequantised(x, scale, None if bias is None else bias.reshape(-1))
        x, size = found.array, np.abs(found.array) + (0.0 if found.magnitude is None else found.magnitude)
    elif dtype != other:
        raise Mismatch(f"x is {dtype} and angles are {other}")
    parts = [Value(part, magnitude=large) for part, large in
             zip(split_heads(x, size_splits, k_cache.shape[-1]), split_heads(size, size_splits, k_cache.shape[-1]))]
    return rotated_into_caches(parts, (cos, sin), (k_cache, v_cache), indices, (scale_k, scale_v), (offset_k, offset_v), cache_mode,
                               kv_output, 2.0 * precision(call, 1))


@define("RopeWithSinCosCache", inputs="positions:index queryIn|query_in keyIn|key_in cosSinCache|cos_sin_cache",
        outputs="queryOut|query_out keyOut|key_out",
        attributes={"numQHeads": REQUIRED, "numKHeads": REQUIRED, "headSize": REQUIRED, "mropeSection": [0, 0, 0], "qStride|qstride": REQUIRED,
                    "kStride|kstride": REQUIRED, "isNeoxStyle": True})
def rope_of_positions(positions, query, key, table, numQHeads, numKHeads, headSize, mropeSection, qStride, kStride, isNeoxStyle):
    """queries and keys rotated by the cosines and sines in the rows of the table that positions name, by halves or by neighbours"""
    if table.ndim != 2 or table.shape[1] % 2 or not 0 < table.shape[1] <= headSize:
        raise Mismatch(f"a table of {list(table.shape)} for heads of {headSize}")
    rows = table[checked(positions, len(table))]
    half = table.shape[1] // 2
    if positions.ndim == 2:
        if len(positions) != 3 or len(mropeSection) != 3 or sum(mropeSection) != half or min(mropeSection) < 0:
            raise Mismatch(f"positions of {list(positions.shape)} with sections of {mropeSection} in {half}")
        # Which of the three positions counts changes from section to section.
        which = np.repeat(np.arange(3), mropeSection)
        cos, sin = (np.stack([rows[part, :, start + place] for place, part in enumerate(which)], axis=-1) for start in (0, half))
    elif positions.ndim == 1:
        cos, sin = rows[:, :half], rows[:, half:]
    else:
        raise Mismatch(f"positions of {list(positions.shape)}")
    mode = MODES["half" if isNeoxStyle else "interleave"]
    both = [np.tile(angle, 2) if isNeoxStyle else np.repeat(angle, 2, axis=-1) for angle in (cos, sin)]
    cos, sin = (angle[:, None, :] for angle in both)
    results = []
    for x, heads, stride in ((query, numQHeads, qStride), (key, numKHeads, kStride)):
        if x.shape != (len(cos), heads * headSize) or stride != heads * headSize:
            raise Mismatch(f"{heads} heads of {headSize} in {list(x.shape)}, {stride} apart, of {len(cos)} tokens")
        heads = x.reshape(len(x), heads, headSize)
        y, size = heads.copy(), np.abs(heads)
        turned = rotated(heads[..., :2 * half], cos, sin, mode)
        y[..., :2 * half], size[..., :2 * half] = turned.array, turned.magnitude
        results.append(Value(y.reshape(x.shape), magnitude=size.reshape(x.shape), steps=2))
    return tuple(results)


@define("InplacePartialRotaryMul", inputs="x cos~:float sin~:float", outputs="x", attributes={"mode": 0, "partial_slice": REQUIRED})
def partly_rotated(x, cos, sin, mode, partial_slice):
    """x = x * cos + r * sin between the places of partial_slice along the last dimension, r = x turned there by a right angle in pairs"""
    if mode not in MODES.values():
        raise Mismatch(f"the mode {mode} has no definition")
    if len(partial_slice) != 2 or not 0 <= partial_slice[0] < partial_slice[1] <= x.shape[-1]:
        raise Mismatch(f"places {partial_slice} of {x.shape[-1]}")
    part = slice(*partial_slice)
    turned = rotated(x[..., part], cos, sin, mode)
    y, size = x.copy(), np.zeros(x.shape)
    y[..., part], size[..., part] = turned.array, turned.magnitude
    return Value(y, magnitude=size)


@define("ScatterNdUpdateV2", inputs="var indices~:index updates", outputs="var", dtypes="number bool", attributes={"strides": REQUIRED},
        ignored="use_locking")
def scatter_nd_update_strided(var, indices, updates, strides):
    """var[indices[k]] = updates[k]: indices have a row for each element or slice; strides are those of a variable without gaps"""
    if list(strides) != [int(np.prod(var.shape[axis + 1:])) for axis in range(var.ndim)]:
        raise Mismatch(f"strides {list(strides)} of a variable of {list(var.shape)}")
    return scatter_nd_update(var, indices, updates)


@define("DynamicQuantUpdateScatter", inputs="var:int8 var_scale:float32 indices:index updates smooth_scales?",
        outputs="var:int8 var_scale:float32", dtypes="float16 bfloat16", attributes={"reduce": REQUIRED, "axis": 0})
def dynamic_quant_update_scatter(var, var_scale, indices, updates, smooth, reduce, axis, call):
    """var, var_scale [b, ..., indices[b]:] = rows of updates * smooth_scales, rounded by their scales, max / 127; [batch, place] with pairs"""
    if reduce not in ("update", "none", "") or var.ndim < 3 or axis % var.ndim != var.ndim - 2:
        raise Mismatch(f"the reduction {reduce} along {axis} has no definition")
    if indices.ndim not in (1, 2) or indices.ndim == 2 and indices.shape[1] != 2:
        raise Mismatch(f"indices of {list(indices.shape)}")
    count, length = len(indices), updates.shape[-2]
    fits = updates.ndim == var.ndim and updates.shape[:1] == (count,) and updates.shape[1:-2] == var.shape[1:-2]
    if not fits or updates.shape[-1] != var.shape[-1] or var_scale.shape != var.shape[:-1] + (1,):
        raise Mismatch(f"updates of {list(updates.shape)} for {list(var.shape)}")
    batches, places = (np.arange(count), indices) if indices.ndim == 1 else indices.T
    batches = checked(batches, len(var))
    if np.any(places < 0) or np.any(places + length > var.shape[-2]):
        raise Mismatch("updates that reach beyond the variable")
    taken = np.unique(np.stack([np.repeat(batches, length), (places[:, None] + np.arange(length)).reshape(-1)]), axis=1)
    if taken.shape[1] != count * length:
        raise Mismatch("updates that overlap")
    if smooth is not None and smooth.size != var.shape[-1]:
        raise Mismatch(f"{smooth.size} smooth scales for {var.shape[-1]} elements")
    value = updates if smooth is None else updates * smooth.reshape(-1)
    whole, scale = per_row(value, np.abs(value), 2.0**-20 if smooth is None else precision(call, 3))
    y, slack, scales = var.copy(), np.zeros(var.shape), var_scale.copy()
    for at, (batch, place) in enumerate(zip(batches, places)):
        rows = (batch, Ellipsis, slice(place, place + length), slice(None))
        y[rows], slack[rows], scales[rows] = whole.array[at], whole.slack[at], scale.array[at][..., None]
    return Value(y, slack=slack), Value(scales, steps=2)


# Compressed keys and values of native sparse attention.


def windows_of(ends, size, stride, tokens):
    """First tokens of the windows of each sequence, one sequence after the other."""
    ends = ends.reshape(-1)
    lengths = np.diff(ends, prepend=0)
    if size <= 0 or stride <= 0 or np.any(lengths < 0) or ends[-1] != tokens:
        raise Mismatch(f"sequences that end at {ends.tolist()} of {tokens} tokens, windows of {size}")
    starts = ends - lengths
    found = [np.arange(start, start + length - size + 1, stride) for start, length in zip(starts, lengths) if length >= size]
    return np.concatenate(found).astype(np.int64) if found else np.zeros(0, np.int64)


def must_be_weights(x, weight, size):
    if x.ndim < 3 or weight.shape != (size, x.shape[-2]):
        raise Mismatch(f"weights of {list(weight.shape)} for {list(x.shape)} and windows of {size}")


def must_be_sums(layout, kind):
    if layout != "TND" or kind != 0:
        raise Mismatch(f"the layout {layout} with lengths of the kind {kind} has no definition")


COMPRESS = {"layoutOptional": "TND", "compressBlockSize": REQUIRED, "compressStride": REQUIRED, "actSeqLenType": REQUIRED}


@define("NsaCompress", inputs="input weight actSeqLenOptional:index", outputs="output", dtypes="float16 bfloat16", attributes=COMPRESS)
def nsa_compress(x, weight, ends, layoutOptional, compressBlockSize, compressStride, actSeqLenType):
    """output[i] = sum over j of weight[j] * input[first of window i + j], the windows of each sequence a stride apart, those that fit"""
    must_be_sums(layoutOptional, actSeqLenType)
    must_be_weights(x, weight, compressBlockSize)
    must_be_finite(x, weight)
    starts = windows_of(ends, compressBlockSize, compressStride, len(x))
    tokens = x[starts[:, None] + np.arange(compressBlockSize)]
    terms = tokens * weight[..., None]
    return Value(terms.sum(axis=1), magnitude=np.abs(terms).sum(axis=1), steps=2)


@define("NsaCompressGrad", inputs="outputGrad input weight actSeqLenOptional:index", outputs="inputGrad weightGrad", dtypes="float16 bfloat16",
        attributes=COMPRESS)
def nsa_compress_gradient(dy, x, weight, ends, layoutOptional, compressBlockSize, compressStride, actSeqLenType):
    """inputGrad, weightGrad = the slopes of the sum of outputGrad * output, output[i] = sum over j of weight[j] * input[first of window i + j]"""
    must_be_sums(layoutOptional, actSeqLenType)
    must_be_weights(x, weight, compressBlockSize)
    must_be_finite(dy, x, weight)
    starts = windows_of(ends, compressBlockSize, compressStride, len(x))
    if dy.shape != (len(starts),) + x.shape[1:]:
        raise Mismatch(f"gradients of {list(dy.shape)} for {len(starts)} windows")
    dx, size = np.zeros(x.shape), np.zeros(x.shape)
    dw, dw_size = np.zeros(weight.shape), np.zeros(weight.shape)
    for place in range(compressBlockSize):
        terms = dy * weight[place][:, None]
        # Windows of the same place begin at different tokens.
        dx[starts + place] += terms
        size[starts + place] += np.abs(terms)
        terms = dy * x[starts + place]
        dw[place], dw_size[place] = terms.sum(axis=(0, 2)), np.abs(terms).sum(axis=(0, 2))
    return Value(dx, magnitude=size, steps=2), Value(dw, magnitude=dw_size, steps=2)


@define("NsaCompressWithCache", outputs="output_cache", dtypes="float16 bfloat16", ignored="layout",
        inputs="input weight slot_mapping:int32 output_cache act_seq_len:index block_table:int32",
        attributes={"compress_block_size": REQUIRED, "compress_stride": REQUIRED, "act_seq_len_type": REQUIRED, "page_block_size": REQUIRED})
def nsa_compress_with_cache(x, weight, slots, cache, lengths, table, compress_block_size, compress_stride, act_seq_len_type, page_block_size):
    """output_cache[slot_mapping[b]] = sum over j of weight[j] * the last tokens of sequence b, where its length just fills a window"""
    size, lengths = compress_block_size, lengths.reshape(-1)
    if act_seq_len_type != 1 or x.ndim != 4 or x.shape[1] != page_block_size or cache.shape[-2:] != x.shape[-2:] or size <= 0:
        raise Mismatch(f"pages of {list(x.shape)} and lengths of the kind {act_seq_len_type} have no definition")
    must_be_weights(x, weight, size)
    must_be_finite(x, weight)
    if table.ndim != 2 or len(table) != len(lengths) or slots.size != len(lengths):
        raise Mismatch(f"{len(lengths)} lengths, {slots.size} slots and a table of {list(table.shape)}")
    if np.any(lengths < 0) or np.any(lengths > table.shape[1] * page_block_size):
        raise Mismatch("sequences longer than their pages")
    filled = np.nonzero((lengths >= size) & ((lengths - size) % compress_stride == 0))[0]
    rows = cache.reshape((-1,) + x.shape[-2:])
    where = checked(slots.reshape(-1)[filled], len(rows))
    must_differ(where, "slots")
    y, terms_of = rows.copy(), np.zeros(rows.shape)
    for batch, slot in zip(filled, where):
        tokens = lengths[batch] - size + np.arange(size)
        pages = checked(table[batch, tokens // page_block_size], len(x))
        terms = x[pages, tokens % page_block_size] * weight[..., None]
        y[slot], terms_of[slot] = terms.sum(axis=0), np.abs(terms).sum(axis=0)
    return Value(y.reshape(cache.shape), magnitude=terms_of.reshape(cache.shape), steps=2)
