"""What data of operators mean: values for inputs that a definition, and no sensible caller, lets be anything.

An entry of `MEANING` has an operator's inputs by their names, each with a recipe: a range that values are drawn from (whole numbers below
its upper end), or values that are repeated to the end of the tensor. A recipe may be a function of the call.
"""

import math

MEANING = {}
# Outputs that an operator adds to, or leaves in part as they are: whoever calls it fills them first, most with zeros.
CLEARED = {}


class Call:
    """Shapes of the inputs by the definition's names for them, and the attributes."""

    def __init__(self, pairs, attributes):
        given = [(slot.names[0], one) for slot, one in pairs if one is not None]
        self.shapes = {name: one["instances"][0]["shape"] for name, one in given}
        self.attributes = attributes

    def size(self, name):
        """Elements of an input."""
        count = 1
        for length in self.shapes[name]:
            count *= length
        return count

    def along(self, name, axis):
        """Length of an input along an axis; one where it has none."""
        shape = self.shapes[name]
        return shape[axis] if shape and -len(shape) <= axis < len(shape) else 1


def means(*operators, **inputs):
    """Registers recipes for inputs of operators."""
    for operator in operators:
        MEANING.setdefault(operator, {}).update(inputs)


def clears(operator, *outputs, value=0):
    """Registers outputs that callers of an operator clear, or fill with a value."""
    CLEARED[operator] = {name: value for name in outputs}


def between(low, high):
    return {"low": float(low), "high": float(high)}


def listed(values):
    return {"values": [float(value) for value in values]}


def rising(count, top):
    """`count` whole numbers that rise to `top`."""
    return listed((place + 1) * top // count for place in range(count))


def places_along(call, name, axis):
    """For each element its place along an axis: no two of a line are the same."""
    shape = call.shapes[name]
    axis %= max(len(shape), 1)
    behind = 1
    for length in shape[axis + 1:]:
        behind *= length
    return listed(place // behind % shape[axis] for place in range(call.size(name)))


def data_of(operator, pairs, attributes):
    """Recipes for the inputs of a call, with the operator's own names."""
    call = Call(pairs, attributes)
    recipes = []
    for slot, one in pairs:
        recipe = MEANING.get(operator, {}).get(slot.names[0])
        if one is None or recipe is None:
            continue
        recipe = recipe(call) if callable(recipe) else recipe
        if recipe is not None:
            recipes.append({"tensor": one["name"], **recipe})
    return recipes + [{"tensor": name, **listed([value])} for name, value in CLEARED.get(operator, {}).items()]


# Beyond their domain functions give what each implementation likes.
means("ErfInv", "Erfinv", "Atanh", "Acos", "Asin", "AcosV2", "AsinWithAgent", _=between(-0.98, 0.98))
means("Acosh", _=between(1.01, 8))
means("Log", "Log2", "Log10", _=between(0.05, 8))
means("Pow", "Pow2", x1=between(0.1, 3))
# Its interface calls it for the exponents that have formulas of their own.
means("Pows", x1=between(0.1, 3), x2=listed([3]))
means("ForeachPowScalar", "ForeachPowScalarList", x=between(0.1, 3))
means("ForeachPowList", x1=between(0.1, 3))
means("ForeachPowScalarAndTensor", scalar=between(0.1, 3))

# Shares and variances.
means("KLDivV2", target=between(0.01, 1))
means("KlDivTargetBackward", "KlDivLossGrad", target=between(0.01, 1))
means("GaussianNllLoss", "GaussianNllLossGrad", var=between(0.1, 2))


def scatter_places(call):
    axis = call.attributes.get("axis", 0)
    if call.along("indices", axis) > call.along("var", axis):
        return None
    return places_along(call, "indices", axis)


means("ScatterElements", indices=lambda call: places_along(call, "indices", call.attributes.get("axis", 0)))
means("ScatterElementsV2", indices=scatter_places)


def upright_regions(columns, images, shape):
    """Regions inside images [N, C, H, W], each with the number of its image in front."""
    height, width = shape[2], shape[3]
    for row in range(columns):
        left, top = 0.1 * width + row % 3, 0.1 * height + row % 2
        yield [row % images, left, top, left + 0.6 * width, top + 0.6 * height]


def regions(image, rois):
    def recipe(call):
        shape = call.shapes.get(image, [])
        if len(shape) != 4 or call.along(rois, -1) != 5:
            return None
        return listed(value for row in upright_regions(call.along(rois, 0), shape[0], shape) for value in row)

    return recipe


means("RoiAlignV2", rois=regions("features", "rois"))


def boxes(call):
    """Corners of boxes of which each overlaps some others."""
    rows = []
    for row in range(call.along("x1", 0)):
        left, top = 10.0 * (row % 4), 7.0 * (row % 3)
        rows += [left, top, left + 25, top + 20]
    return listed(rows) if call.along("x1", -1) == 4 else None


def falling(name):
    """Scores that fall where they stand behind."""

    def recipe(call):
        count = call.size(name)
        return listed(1 - (row + 0.5) / (count + 1) for row in range(count))

    return recipe


means("NMSWithMask", x1=boxes, x2=falling("x2"))
means("SwiGluQuant", group_index=lambda call: rising(call.size("group_index"), call.along("x", 0)))

# What is written over where it is not one, and distances.
means("Eye", "EyeFp64", y=listed([0]))
clears("CoalesceSparse", "new_values")
clears("MultiScaleDeformableAttentionGrad", "grad_value")
clears("RoiAlignRotatedGrad", "y_grad")
clears("ThreeInterpolateBackward", "grad_y")
means("CdistGrad", cdist=between(0.5, 3))


def shuffled(count):
    """All places below a number, each once and out of order."""
    step = next(step for step in range(max(count * 5 // 8, 1), count + 2) if math.gcd(step, count) == 1)
    return [(place * step + count // 2) % count for place in range(count)]


def all_places(name):
    return lambda call: listed(shuffled(call.size(name)))


def chosen(name, experts):
    """Experts for each row of an input, no two alike in one row; `experts` gives their number."""

    def recipe(call):
        width = call.along(name, 1)
        count = max(experts(call), width)
        return listed((place // width * 3 + place % width) % count for place in range(call.size(name)))

    return recipe


def columns(call):
    """The numbers of choices [rows, k], one column after the other."""
    rows, width = call.along("row_idx", 0), call.along("row_idx", 1)
    return listed(column * rows + row for row in range(rows) for column in range(width))


def places_in(name, count):
    """Places of choices among rows of which there may be fewer: -1 for those that are dropped."""
    return lambda call: listed(place if place < count(call) else -1 for place in shuffled(call.size(name)))


def rows_in(name):
    """Rows of an input of matrices, one behind the other."""
    return lambda call: call.size(name) // max(call.along(name, -1), 1)


# Up to this many elements in a row are added up where they stand: the interface sorts no indices for them.
SHORT_ROW = 512
means("EmbeddingDenseGradV2", sort_indices=lambda call: rising(call.size("sort_indices"), call.attributes["num_weights"] - 1), pos_idx=lambda call:
      all_places("pos_idx")(call) if call.along("grad", -1) > SHORT_ROW else listed(range(call.size("pos_idx"))))
means("MoeComputeExpertTokens", sorted_experts=lambda call: rising(call.size("sorted_experts"), call.attributes["num_experts"] - 1))
means("MoeInitRouting", "MoeInitRoutingQuant", row_idx=columns, expert_idx=chosen("expert_idx", lambda _: 8))
means("MoeInitRoutingV2", "MoeInitRoutingQuantV2", "MoeInitRoutingV3", expert_idx=chosen("expert_idx", lambda call: call.attributes["expert_num"]))
means("MoeInitRoutingV2Grad", expanded_row_idx=lambda call: places_in("expanded_row_idx", rows_in("grad_expanded_x"))(call)
      if call.attributes["drop_pad_mode"] == 1 else listed(shuffled(call.size("expanded_row_idx"))))
means("MoeFinalizeRouting", expanded_row_idx=all_places("expanded_row_idx"),
      expanded_expert_idx=chosen("expanded_expert_idx", lambda call: call.along("bias", 0)))
means("MoeFinalizeRoutingV2", expert_idx=chosen("expert_idx", lambda call: call.along("bias", 0) if "bias" in call.shapes else 0),
      expanded_row_idx=places_in("expanded_row_idx", rows_in("expanded_x")))


def finalised_rows(call):
    attributes = call.attributes
    if attributes["drop_pad_mode"] == 0:
        return listed(shuffled(call.size("expanded_row_idx")))
    return places_in("expanded_row_idx", lambda _: attributes["expert_num"] * attributes["expert_capacity"])(call)


means("MoeFinalizeRoutingV2Grad", expanded_row_idx=finalised_rows,
      expert_idx=chosen("expert_idx", lambda call: call.along("bias", 0) if "bias" in call.shapes else 0))


# Scores of experts are compared with those of groups that are left out: above zero.
means("MoeGatingTopK", "MoeGatingTopKHash", bias=between(0.05, 1))


def shares(call):
    """Counts of rows by rank and expert that differ and add up to all rows."""
    count, rows = call.size("expert_token_num_per_rank"), call.along("tokens", 0)
    edges = [0] + [rows * (place + place % 2) // (count + 1) for place in range(1, count)] + [rows]
    return listed(high - low for low, high in zip(edges, edges[1:]))


means("MoeReRouting", expert_token_num_per_rank=shares)
means("MoeTokenPermute", "MoeTokenPermuteWithEp", indices=chosen("indices", lambda _: 8))
means("MoeTokenPermuteGrad", "MoeTokenPermuteWithEpGrad", "MoeTokenUnpermute", "MoeTokenUnpermuteGrad", "MoeTokenUnpermuteWithEp",
      "MoeTokenUnpermuteWithEpGrad", "MoeTokenPermuteWithRoutingMapGrad", sorted_indices=all_places("sorted_indices"))


def choice(token, expert, experts, each):
    """Whether a map has an expert for a token: `each` of them one behind the other."""
    return (expert - token) % experts < each


def drawn_map(call):
    """A map [experts, tokens], or the other way round, as far as the tokens tell."""
    tokens, shape = call.along("tokens", 0), call.shapes["routing_map"]
    if len(shape) != 2 or tokens not in shape or tokens < 1:
        return None
    each = call.attributes["num_out_tokens"] // tokens
    if shape[1] == tokens:
        return listed(choice(token, expert, shape[0], each) for expert in range(shape[0]) for token in range(tokens))
    return listed(choice(token, expert, shape[1], each) for token in range(tokens) for expert in range(shape[1]))


means("MoeTokenPermuteWithRoutingMap", routing_map=drawn_map)


def map_of(rows):
    """A map [tokens, experts] for the rows of an input."""

    def recipe(call):
        tokens, experts = call.along("routing_map", 0), call.along("routing_map", 1)
        each = call.along(rows, 0) // max(tokens, 1)
        return listed(choice(token, expert, experts, each) for token in range(tokens) for expert in range(experts))

    return recipe


def places_by_map(tokens, experts, each):
    """For each token and choice its place in the order of experts."""
    found = [[] for _ in range(tokens)]
    for place, (_, token) in enumerate((e, t) for e in range(experts) for t in range(tokens) if choice(t, e, experts, each)):
        found[token].append(place)
    return [place for places in found for place in places]


def unpermuted_places(call):
    rows = call.along("permuted_tokens", 0)
    if "routing_map" not in call.shapes:
        return listed(shuffled(call.size("sorted_indices")))
    tokens, experts = call.along("routing_map", 0), call.along("routing_map", 1)
    return listed(places_by_map(tokens, experts, rows // max(tokens, 1)) or [0])


means("MoeTokenUnpermuteWithRoutingMap", sorted_indices=unpermuted_places, routing_map=map_of("permuted_tokens"))


def places_and_tokens(call):
    """Rows by token and the token of each; in rows for each expert as many as it holds."""
    tokens, rows = call.along("unpermuted_tokens_grad", 0), call.size("out_index")
    if "routing_map" not in call.shapes:
        return [(place, at * tokens // rows) for at, place in enumerate(shuffled(rows))]
    experts = call.along("routing_map", 1)
    if call.attributes["drop_and_pad"]:
        capacity = max(rows // experts, 1)
        held = sorted(((place // capacity * 3 + place % capacity) % tokens, place) for place in range(rows))
        return [(place, token) for token, place in held]
    each = max(rows // tokens, 1)
    return [(place, at // each) for at, place in enumerate(places_by_map(tokens, experts, each))] or [(0, 0)]


means("MoeTokenUnpermuteWithRoutingMapGrad", routing_map=map_of("out_index"),
      out_index=lambda call: listed(place for place, _ in places_and_tokens(call)),
      permute_token_id=lambda call: listed(token for _, token in places_and_tokens(call)))


# Scales that are divided by, slots that differ, lengths that add up.


def distinct(count, limit):
    """`count` different whole numbers below a limit, in no order; none where there are fewer."""
    step = next((step for step in (7, 5, 3) if limit % step), 1)
    return listed((place * step + 1) % limit for place in range(count)) if 0 < count <= limit else None


def all_below(name, other, axis):
    """Whole numbers below the length of another input."""
    return lambda call: listed((5 * place + 2) % call.along(other, axis) for place in range(call.size(name)))


def starts_in_cache(x, indices, cache):
    """Where sequences begin in a cache, or slots of it, one for each token."""

    def recipe(call):
        batch, length, room = call.along(x, 0), call.along(x, 1) if len(call.shapes[x]) == 3 else 1, call.along(cache, 1)
        if call.attributes.get("cache_mode", "contiguous") == "page":
            return distinct(call.size(indices), call.along(cache, 0) * room)
        return listed((3 * place + 1) % (room - length + 1) for place in range(batch)) if length <= room else None

    return recipe


SCALES = between(0.03, 0.1)
means("RopeQuantKvcache", quant_scale=SCALES, quant_offset=between(-5, 6), indice=starts_in_cache("qkv", "indice", "k_cache"))
means("DequantRopeQuantKvcache", scale_k=SCALES, scale_v=SCALES, indices=starts_in_cache("x", "indices", "k_cache"), x=lambda call:
      between(-200, 200) if "weight_scale" in call.shapes else between(-2, 2), weight_scale=between(0.005, 0.01), activation_scale=between(0.5, 1.5))
means("RopeWithSinCosCache", positions=all_below("positions", "cosSinCache", 0))


def targets_of_updates(call):
    batch, room, length = call.along("var", 0), call.along("var", -2), call.along("updates", -2)
    if length > room:
        return None
    places = [(3 * place + 1) % (room - length + 1) for place in range(call.along("indices", 0))]
    if len(call.shapes["indices"]) == 1:
        return listed(places)
    return listed(value for row, place in enumerate(places) for value in ((row + 1) % batch, place)) if len(places) <= batch else None


means("DynamicQuantUpdateScatter", indices=targets_of_updates, smooth_scales=between(0.5, 1.5))


def rows_named_once(call):
    depth = call.along("indices", -1)
    if depth < 1 or depth > len(call.shapes["var"]):
        return None
    sizes = call.shapes["var"][:depth]
    count, limit = call.size("indices") // depth, 1
    for size in sizes:
        limit *= size
    found = distinct(count, limit)
    if found is None:
        return None
    values = []
    for row in found["values"]:
        behind = limit
        for size in sizes:
            behind //= size
            values.append(int(row) // behind % size)
    return listed(values)


means("ScatterNdUpdateV2", indices=rows_named_once)


def lengths_of_windows(call):
    """Every other sequence just fills a window."""
    size, stride = call.attributes["compress_block_size"], call.attributes["compress_stride"]
    room = call.along("block_table", 1) * call.attributes["page_block_size"]
    if size > room or stride <= 0:
        return None
    most = (room - size) // stride + 1
    return listed(min(size + stride * (place % most) + place % 2, room) for place in range(call.size("act_seq_len")))


def slots_of_cache(call):
    rows = call.size("output_cache") // max(call.along("output_cache", -1) * call.along("output_cache", -2), 1)
    return distinct(call.size("slot_mapping"), rows)


means("NsaCompressWithCache", act_seq_len=lengths_of_windows, block_table=all_below("block_table", "input", 0), slot_mapping=slots_of_cache)


def shared_out(count, total):
    """`count` lengths that add up, none of them nothing."""
    return [total * (place + 1) // count - total * place // count for place in range(count)] if 0 < count <= total else None


def lengths_after(zeros):
    def recipe(call):
        lengths = shared_out(call.size("actual_seq_lengths") - zeros, call.along("query", 0))
        return listed([0] * zeros + lengths) if lengths else None

    return recipe


STATES = {"beta": between(0.1, 0.9), "g": between(-1, 0), "num_accepted_tokens": listed([1]),
          "ssm_state_indices": lambda call: distinct(call.size("ssm_state_indices"), call.along("state", 0))}
means("RecurrentGatedDeltaRule", actual_seq_lengths=lengths_after(1), **STATES)
means("RecurrentGatedDeltaRuleV310", actual_seq_lengths=lengths_after(0), **STATES)


def ends_of_sequences(call):
    count, total = call.size("queryStartLoc") - 1, call.along("x", 0)
    return listed(total * place // count for place in range(count + 1)) if count > 0 else None


means("CausalConv1d", "CausalConv1dV310", queryStartLoc=ends_of_sequences, initialStateMode=listed([1, 0, 1]),
      cacheIndices=lambda call: distinct(call.size("cacheIndices"), call.along("convStates", 0)))


def parts_of_tokens(call):
    lengths = shared_out(call.size("next_token_ids"), call.along("target_token_ids", 0))
    return [sum(lengths[:place]) for place in range(len(lengths) + 1)] if lengths else None


def ends_that_are_kept(call):
    starts = parts_of_tokens(call)
    pairs = enumerate(zip(starts, starts[1:])) if starts else None
    return listed(max(end - 1 - place % 3, start) for place, (start, end) in pairs) if pairs else None


TOKENS = between(1, 30000)
means("CopyAndExpandEagleInputs", target_token_ids=TOKENS, next_token_ids=TOKENS, target_positions=between(0, 4096), query_end_loc=ends_that_are_kept,
      query_start_loc=lambda call: listed(parts_of_tokens(call)) if parts_of_tokens(call) else None)

# Boxes, flags, maps.


def sides_of_boxes(shift):
    """Corners of boxes, or where their middles are and how long their sides, each a row."""

    def recipe(call):
        if len(call.shapes["bboxes"]) != 2 or call.along("bboxes", 0) != 4:
            return None
        places = range(call.along("bboxes", 1))
        left, top = [(place % 4 + shift) * 0.5 for place in places], [(place % 3 - shift) * 0.25 for place in places]
        wide, high = [1 + place % 5 * 0.25 for place in places], [2 + (place + shift) % 7 * 0.25 for place in places]
        if call.attributes["trans"]:
            return listed(left + top + wide + high)
        return listed(left + top + [a + b for a, b in zip(left, wide)] + [a + b for a, b in zip(top, high)])

    return recipe


means("CIoU", bboxes=sides_of_boxes(0), gtboxes=sides_of_boxes(1))
means("SelectV3", b=listed([1, 0, 0, 1, 1, 0, -3]))
means("ApplyAdamWQuant", qmap_m=lambda call: listed((2 * place - 255) / 256 for place in range(call.size("qmap_m"))),
      qmap_v=lambda call: listed((place + 1) / 256 for place in range(call.size("qmap_v"))), absmax_m=between(0.2, 0.8), absmax_v=between(0.2, 0.8),
      step=listed([3]))


def numbers_of_rows(call):
    """Such that what is made of them is neither nothing nor at the end of a gate."""
    return between(-60, 60) if "weight_scale" in call.shapes else None


means("DequantSituQuant", x=numbers_of_rows, weight_scale=between(0.02, 0.05), activation_scale=between(0.5, 1.5), quant_scale=between(0.05, 0.1))

# Pages of caches, and which queries go to which of them.


def tokens_of_table(call):
    return between(0, call.along("tid2eid", 0)) if "tid2eid" in call.shapes else None


means("MoeGatingTopKHash", input_ids=tokens_of_table, tid2eid=chosen("tid2eid", lambda call: call.along("x", 1)))


def groups_of_rows(part):
    """Of each page that has room some rows in its middle: how many, from where, and to where."""

    def recipe(call):
        block, pages, rows = call.attributes["blockSize"], call.along("keyCacheIn", 0), call.along("keyIn", 0)
        count = call.size("groupLen")
        filled = min(count, pages, rows)
        each = min(max(block // 2, 1), rows // max(filled, 1))
        found = [(each, place * each, (place * 3 + 1) % pages * block + (block - each) // 2) for place in range(filled)]
        pages_differ = len({target for _, _, target in found}) == filled
        return listed(one[part] for one in found + [(0, 0, 0)] * (count - filled)) if pages_differ else None

    return recipe


means("StoreKVBlock", groupLen=groups_of_rows(0), groupKeyIdx=groups_of_rows(1), groupKeyCacheIdx=groups_of_rows(2))
means("TransposeKvCacheByBlock", blockIDs=lambda call: distinct(call.size("blockIDs"), call.along("KCache", 0)))
# Requests of one length, that begin anywhere and do not reach behind the angles.
means("CompressorMetadata", kvBlockTable=lambda call: listed(shuffled(call.size("kvBlockTable"))),
      startPos=lambda call: listed(5 * place % max(call.along("ropeCos", 0) // 2, 1) for place in range(call.size("startPos"))),
      cuSeqlens=lambda call: listed(call.along("ropeCos", 0) // max(call.size("cuSeqlens"), 2) * place for place in range(call.size("cuSeqlens"))))


class Choices:
    """Blocks that tokens of sequences choose, and what is in the scratch that the five operators fill one after the other."""

    def __init__(self, call):
        given = call.attributes
        heads, tokens, each = call.shapes["q2k"] if "q2k" in call.shapes else (given.get("num_heads"), given.get("num_tokens"), 1)
        ends = next((name for name in ("cu_seqlens", "cu_block_lens") if name in call.shapes), None)
        batch = given["batch"] if "batch" in given else call.size(ends) - 1
        rows, most = given["total_rows"], given["max_kv"]
        self.tokens = shared_out(batch, tokens)
        # One sequence has as many blocks as any may have.
        self.blocks = [most] + (shared_out(batch - 1, rows - most) or [] if batch > 1 else [])
        sized = sum(self.blocks) == rows and max(self.blocks) == most and len(self.blocks) == batch
        self.fits = bool(self.tokens) and sized and call.size("scratch") == batch * most + tokens + (2 * tokens + 1) * heads * rows
        if not self.fits:
            return
        self.rows = [sum(self.blocks[:one]) + place if place < self.blocks[one] else -1 for one in range(batch) for place in range(most)]
        self.sequences = [one for one, count in enumerate(self.tokens) for _ in range(count)]
        # Now and then a token chooses less.
        self.choices = [[[-1 if (token + place) % 5 == 4 else (2 * token + place + head) % self.blocks[self.sequences[token]]
                          for place in range(each)] for token in range(tokens)] for head in range(heads)]
        self.counts = [[[0] * rows for _ in range(heads)] for _ in range(tokens)]
        for head, own in enumerate(self.choices):
            for token, blocks in enumerate(own):
                for block in blocks:
                    if block >= 0:
                        self.counts[token][head][self.rows[self.sequences[token] * most + block]] += 1
        self.totals = [[sum(own[head][row] for own in self.counts) for row in range(rows)] for head in range(heads)]
        self.ends = [[sum(own[:row]) for row in range(rows + 1)] for own in self.totals]
        self.begins, reached = [], [own[:-1] for own in self.ends]
        for own in self.counts:
            self.begins.append(reached)
            reached = [[at + count for at, count in zip(*pair)] for pair in zip(reached, own)]


def flat(values):
    return [one for value in values for one in flat(value)] if isinstance(values, list) else [values]


def sums(counts):
    return [sum(counts[:place]) for place in range(len(counts) + 1)]


def of_choices(function):
    """A recipe by the choices of a call, where its sizes are such that there are some."""

    def recipe(call):
        choices = Choices(call)
        return listed(flat(function(choices))) if choices.fits else None

    return recipe


def scratch_with(*filled):
    """A scratch of which the first two parts and some others are filled: counts of tokens, beginnings, counts of all."""

    def parts(choices):
        later = [("counts", choices.counts), ("begins", choices.begins), ("totals", choices.totals)]
        return [choices.rows, choices.sequences] + [flat(part) if name in filled else [0] * len(flat(part)) for name, part in later]

    return of_choices(parts)


CHOSEN_BLOCKS = of_choices(lambda choices: choices.choices)
ENDS_OF_TOKENS = of_choices(lambda choices: sums(choices.tokens))
means("K2qCsrMeta", cu_seqlens=ENDS_OF_TOKENS, cu_block_lens=of_choices(lambda choices: sums(choices.blocks)))
means("K2qCsrHist", q2k=CHOSEN_BLOCKS, scratch=scratch_with())
means("K2qCsrRowPrefix", scratch=scratch_with("counts", "totals"))
means("K2qCsrTilePrefix", scratch=scratch_with("counts", "totals"), row_ptr=of_choices(lambda choices: choices.ends))
means("K2qCsrScatter", q2k=CHOSEN_BLOCKS, cu_seqlens=ENDS_OF_TOKENS, scratch=scratch_with("counts", "begins", "totals"))
clears("K2qCsrScatter", "q_ind", "slot", value=-1)
