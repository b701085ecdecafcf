"""What data of operators mean: values for inputs that a definition, and no sensible caller, lets be anything.

An entry of `MEANING` has an operator's inputs by their names, each with a recipe: a range that values are drawn from (whole numbers below
its upper end), or values that are repeated to the end of the tensor. A recipe may be a function of the call.
"""

import math

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
means("MoeGatingTopK", bias=between(0.05, 1))


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
