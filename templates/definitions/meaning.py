"""What data of operators mean: values for inputs that a definition, and no sensible caller, lets be anything.

An entry of `MEANING` has an operator's inputs by their names, each with a recipe: a range that values are drawn from (whole numbers below
its upper end), or values that are repeated to the end of the tensor. A recipe may be a function of the call.
"""

MEANING = {}


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
            recipes.append({"input": one["name"], **recipe})
    return recipes


# Beyond their domain functions give what each implementation likes.
means("ErfInv", "Erfinv", "Atanh", "Acos", "Asin", "AcosV2", "AsinWithAgent", _=between(-0.98, 0.98))
means("Acosh", _=between(1.01, 8))
means("Log", "Log2", "Log10", _=between(0.05, 8))
means("Pow", "Pows", "Pow2", x1=between(0.1, 3))

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
means("CdistGrad", cdist=between(0.5, 3))


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
