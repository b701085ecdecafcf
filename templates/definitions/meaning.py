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
