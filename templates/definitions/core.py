"""What definitions stand on: dtypes, registration, matching, and how far a result may be from a definition.

A definition is a function of NumPy arrays: floats come as float64, integers as int64 (or uint64), truth values as bool. It gives what
the operator should compute; `encode` rounds that once. Nothing here knows how any kernel goes about it.
"""

import inspect
import os

import numpy as np


class Mismatch(Exception):
    """The definition says nothing about this call; the text says why."""


class Undefined(Mismatch):
    """No definition has the operator's type at all."""


class Value:
    """A result with what is known of its exactness.

    `magnitude`: size of the terms that were added up or cancelled, element by element: errors are in proportion to it.
    `steps`: roundings to the tensor's own dtype that a fair implementation may make on the way.
    `exact`: no rounding is allowed at all, as for copies.
    `unspecified`: elements about which the interface says nothing; they are not compared.
    `slack`: by how much whole numbers may be off, where what is rounded to them lies on the edge between two.
    """

    def __init__(self, array, magnitude=None, steps=1, exact=False, unspecified=None, slack=None):
        self.array = array
        self.magnitude = magnitude
        self.steps = steps
        self.exact = exact
        self.unspecified = unspecified
        self.slack = slack


REQUIRED = object()

FLOATS = ("float16", "bfloat16", "float32")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
KINDS = {
    "float": FLOATS,
    "signed": ("int8", "int16", "int32", "int64"),
    "int": INTEGERS,
    "bool": ("bool",),
    "complex": ("complex64",),
    "double": ("float64",),
    "index": ("int32", "int64"),
}
KINDS["any"] = FLOATS + INTEGERS + ("bool", "complex64", "float64")
KINDS["number"] = FLOATS + INTEGERS

# Smallest positive value: what is below half of it is zero.
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}


def decode(raw, dtype, shape):
    """Raw little-endian bytes as an array to compute with."""
    if dtype == "bfloat16":
        bits = np.frombuffer(raw, "<u2").astype(np.uint32) << 16
        array = bits.view(np.float32).astype(np.float64)
    elif dtype in ("float16", "float32", "float64"):
        array = np.frombuffer(raw, {"float16": "<f2", "float32": "<f4", "float64": "<f8"}[dtype]).astype(np.float64)
    elif dtype == "complex64":
        array = np.frombuffer(raw, "<c8").astype(np.complex128)
    elif dtype == "bool":
        array = np.frombuffer(raw, np.uint8) != 0
    elif dtype in INTEGERS:
        array = np.frombuffer(raw, np.dtype(dtype).newbyteorder("<"))
        array = array.astype(np.uint64 if dtype == "uint64" else np.int64)
    else:
        raise Mismatch(f"no definition computes with {dtype}")
    return array.reshape(shape)


def to_bfloat16_bits(array):
    """float64 to bfloat16, rounded once, ties to even.

    By way of float32 rounded to odd, which keeps what the second rounding needs to know.
    """
    # A single number as well is an array of elements here, whose bits can be set.
    array = np.asarray(array, np.float64).reshape(-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        single = array.astype(np.float32)
    bits = single.view(np.uint32).copy()
    back = single.astype(np.float64)
    number = ~np.isnan(array)
    inexact = number & (back != array)
    away = inexact & (np.abs(back) > np.abs(array))
    bits[away] -= 1
    bits[inexact] |= 1
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    rounded[~number] = 0x7FC0
    return rounded


def round_to(array, dtype):
    """Values as they are once stored in a dtype."""
    return decode(encode(Value(array), dtype)[0], dtype, np.shape(array))


def encode(value, dtype):
    """Raw bytes of a result in a dtype, and the elements that the dtype cannot hold (or `None`)."""
    array = np.asarray(value.array)
    if dtype == "bfloat16":
        return to_bfloat16_bits(array).astype("<u2").tobytes(), None
    if dtype in ("float16", "float32", "float64"):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return array.astype({"float16": "<f2", "float32": "<f4", "float64": "<f8"}[dtype]).tobytes(), None
    if dtype == "complex64":
        return array.astype("<c8").tobytes(), None
    if dtype == "bool":
        return (array != 0).astype(np.uint8).tobytes(), None
    if dtype not in INTEGERS:
        raise Mismatch(f"no definition gives {dtype}")
    limits = np.iinfo(dtype)
    if array.dtype == bool:
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        # Bounds that float64 cannot hold are excluded: 2^63 - 1 rounds up.
        low, high = float(limits.min), float(limits.max)
        fits = (array >= low) & ((array < high) | ((array == high) & (int(high) <= limits.max)))
        whole = np.where(fits, array, 0.0)
        if np.any(whole != np.trunc(whole)):
            raise Mismatch("a definition gives fractions for integers")
        array = whole.astype(np.uint64 if dtype == "uint64" else np.int64)
    else:
        fits = (array >= limits.min) & (array <= limits.max)
        array = np.where(fits, array, 0)
    raw = array.astype(np.dtype(dtype).newbyteorder("<")).tobytes()
    return raw, None if np.all(fits) else ~np.asarray(fits, bool)


def wide(array):
    """Integers that do not overflow: 64-bit ones as Python's own."""
    array = np.asarray(array)
    return array.astype(object) if array.dtype.kind in "iu" else array


class Slot:
    """An input or output of a definition: `name|other:kind` with `?` optional, `*` a list, `~` of a dtype of its own."""

    def __init__(self, text):
        self.optional = "?" in text
        self.dynamic = "*" in text
        self.free = "~" in text
        text = text.translate(str.maketrans("", "", "?*~"))
        names, _, kind = text.partition(":")
        self.names = names.split("|")
        self.kind = kind
        self.any_name = names == "_"


class Definition:
    """What an operator computes, and what must be true of a call for it to hold."""

    def __init__(self, operator, function, formula, inputs, outputs, dtypes, attributes, ignored):
        self.operator = operator
        self.function = function
        self.inputs = [Slot(text) for text in inputs.split()]
        self.outputs = [Slot(text) for text in outputs.split()]
        self.dtypes = dtypes.split()
        self.attributes = {names.split("|")[0]: (names.split("|"), default) for names, default in attributes.items()}
        self.ignored = ignored.split()
        self.file = os.path.basename(inspect.getsourcefile(function))
        self.formula = formula or (inspect.getdoc(function) or "").split("\n")[0]


TABLE = {}


def define(*operators, formula=None, inputs="_", outputs="_", dtypes="float", attributes=None, ignored=""):
    """Registers a function as a definition of operators. `Abs@complex` is one of `Abs` that holds for other calls."""

    def register(function):
        for operator in operators:
            name, _, _ = operator.partition("@")
            if operator == name and name in TABLE:
                raise ValueError(f"{operator} is defined twice")
            definition = Definition(name, function, formula, inputs, outputs, dtypes, attributes or {}, ignored)
            TABLE.setdefault(name, []).append(definition)
        return function

    return register


def kind_allows(kinds, dtype):
    return any(dtype in KINDS.get(kind, (kind,)) for kind in kinds)


def private_format(name):
    """Formats that only the device uses: shapes in memory are not those of the tensor."""
    return name.startswith("FRACTAL") or "C0" in name


def assign(definition, given):
    """The operator's input for each of the definition's: by name where it has names, else by position."""
    slots = definition.inputs
    if all(slot.any_name for slot in slots):
        present = [one for one in given if one["instances"]]
        if len(present) != len(slots):
            raise Mismatch(f"it takes {len(slots)} inputs, and {len(present)} are given")
        return list(zip(slots, present))
    rest = list(given)
    pairs = []
    for slot in slots:
        found = next((one for one in rest if one["name"].lower() in [name.lower() for name in slot.names]), None)
        if found is None and not slot.optional:
            raise Mismatch(f"no input is called {' or '.join(slot.names)}")
        if found is not None:
            rest.remove(found)
        if found is not None and not found["instances"]:
            found = None
        if found is None and not slot.optional:
            raise Mismatch(f"input {slot.names[0]} is not given")
        pairs.append((slot, found))
    unknown = [one["name"] for one in rest if one["instances"]]
    if unknown:
        raise Mismatch(f"it does not know the input {unknown[0]}")
    return pairs


def chosen_attributes(definition, given):
    values = {}
    known = set(definition.ignored)
    for key, (names, default) in definition.attributes.items():
        known.update(names)
        found = [one for one in given if one["name"] in names]
        value = found[0]["value"] if found else None
        if value is None:
            if default is REQUIRED:
                raise Mismatch(f"attribute {key} has no value")
            value = default
        values[key] = float(np.float32(value)) if isinstance(value, float) else value
    # What is there for others and was given no value says nothing.
    unknown = [one["name"] for one in given if one["name"] not in known and one["value"] not in (None, "", [])]
    if unknown:
        raise Mismatch(f"it does not know the attribute {unknown[0]}")
    return values


def check_dtypes(definition, pairs, outputs):
    common = None
    for slot, one in pairs:
        if one is None:
            continue
        if len(one["instances"]) > 1 and not slot.dynamic:
            raise Mismatch(f"input {one['name']} is a list")
        for instance in one["instances"]:
            dtype = instance["dtype"]
            if private_format(instance.get("format", "ND")):
                raise Mismatch(f"input {one['name']} has the format {instance['format']}")
            if slot.kind:
                if not kind_allows([slot.kind], dtype):
                    raise Mismatch(f"input {one['name']} is {dtype}")
                continue
            if slot.free:
                if not kind_allows(["any"], dtype):
                    raise Mismatch(f"input {one['name']} is {dtype}")
                continue
            if not kind_allows(definition.dtypes, dtype):
                raise Mismatch(f"it does not hold for {dtype}")
            if common not in (None, dtype):
                raise Mismatch(f"inputs are {common} and {dtype}")
            common = dtype
    slots = definition.outputs
    names = list(dict.fromkeys(one["name"] for one in outputs))
    if len(names) != len(slots):
        raise Mismatch(f"it gives {len(slots)} outputs, and the operator {len(names)}")
    for slot, name in zip(slots, names):
        if not slot.any_name and name.lower() not in [known.lower() for known in slot.names]:
            raise Mismatch(f"an output is called {name} and not {slot.names[0]}")
        for one in outputs:
            if one["name"] != name:
                continue
            if private_format(one.get("format", "ND")):
                raise Mismatch(f"output {name} has the format {one['format']}")
            wanted = [slot.kind] if slot.kind else ["any"] if slot.free or common is None else [common]
            if not kind_allows(wanted, one["dtype"]):
                raise Mismatch(f"output {name} is {one['dtype']}")


def changed_inputs(definition, pairs):
    """Of an operator that defines no output the inputs that it changes, as outputs: those that the definition gives."""
    given = {name.lower() for slot in definition.outputs if not slot.any_name for name in slot.names}
    changed = [one for slot, one in pairs if one is not None and any(name.lower() in given for name in slot.names)]
    return [{"name": one["name"], **instance} for one in changed for instance in one["instances"]]


def match(request):
    """The definition that holds for a call, with its inputs and attributes; `Mismatch` where there is none."""
    reasons = []
    for definition in TABLE.get(request["operator"], []):
        try:
            pairs = assign(definition, request["inputs"])
            values = chosen_attributes(definition, request["attributes"])
            check_dtypes(definition, pairs, request["outputs"] or changed_inputs(definition, pairs))
        except Mismatch as reason:
            reasons.append(str(reason))
            continue
        return definition, pairs, values
    if not reasons:
        raise Undefined(f"there is no definition of {request['operator']}")
    raise Mismatch(f"the definition of {request['operator']} does not fit: {'; '.join(reasons)}")


def same_shape(left, right):
    """Whether shapes are the same but for dimensions of one."""
    return [size for size in left if size != 1] == [size for size in right if size != 1]


def load(instance):
    with open(instance["file"], "rb") as file:
        return decode(file.read(), instance["dtype"], instance["shape"])


def flattened(result, outputs, slots):
    """Results in the order of the outputs, a list for a list."""
    results = list(result) if isinstance(result, tuple) else [result]
    if len(results) != len(slots):
        raise ValueError(f"{len(results)} results for {len(slots)} outputs")
    flat = []
    for slot, one in zip(slots, results):
        flat.extend(one if slot.dynamic else [one])
    if len(flat) != len(outputs):
        raise Mismatch(f"it gives {len(flat)} tensors, and the operator {len(outputs)}")
    return [one if isinstance(one, Value) or one is None else Value(one) for one in flat]


def bounds_of(value, output, unspecified):
    """How far each element may be off; `None` where every one must be exact."""
    array = np.asarray(value.array)
    dtype = output["dtype"]
    if value.exact or dtype not in SMALLEST and dtype != "complex64":
        bounds = np.zeros(array.shape, np.float32) if unspecified is not None else None
        if value.slack is not None:
            bounds = np.broadcast_to(np.asarray(value.slack, np.float32), array.shape)
    else:
        relative, absolute = output["tolerance"]["relative"], output["tolerance"]["absolute"]
        size = np.abs(array)
        finite = np.isfinite(size)
        largest = float(np.max(size, initial=0.0, where=finite))
        magnitude = size if value.magnitude is None else np.broadcast_to(size + np.abs(value.magnitude), size.shape)
        floor = absolute * min(1.0, largest) + SMALLEST.get(dtype, SMALLEST["float32"])
        with np.errstate(over="ignore", invalid="ignore"):
            # An array as well where there is but one number without dimensions.
            bounds = np.array(relative * value.steps * magnitude + floor, np.float32)
        # What is not finite must be just that, unless nothing was said about it.
        bounds[~np.isfinite(bounds)] = np.float32(0.0)
    if unspecified is not None and bounds is not None:
        bounds = bounds.copy()
        bounds[unspecified] = np.float32(np.inf)
    return bounds


def compute(request, number=0):
    """Right outputs of a call, in files that are named by the request's number."""
    definition, pairs, values = match(request)
    arguments = []
    for slot, one in pairs:
        arrays = None if one is None else [load(instance) for instance in one["instances"]]
        arguments.append(arrays if slot.dynamic or arrays is None else arrays[0])
    outputs = request["outputs"]
    if "call" in inspect.signature(definition.function).parameters:
        values["call"] = {"outputs": outputs, "inputs": [one for _, one in pairs]}
    with np.errstate(all="ignore"):
        results = flattened(definition.function(*arguments, **values), outputs, definition.outputs)
        answer = []
        for index, (value, output) in enumerate(zip(results, outputs)):
            answer.append(None if value is None else written(f"{number}-{index}", value, output))
    return definition, answer


def written(name, value, output):
    """Writes one output and its bounds to files of a name."""
    value.array = np.asarray(value.array)
    shape = list(value.array.shape)
    if output["shape"] is not None and not same_shape(shape, output["shape"]):
        raise Mismatch(f"output {output['name']} has the shape {output['shape']}, and it gives {shape}")
    raw, outside = encode(value, output["dtype"])
    unspecified = outside
    if value.unspecified is not None:
        extra = np.broadcast_to(np.asarray(value.unspecified, bool), value.array.shape)
        unspecified = extra if outside is None else extra | outside
    count = 0 if unspecified is None else int(np.count_nonzero(unspecified))
    if count and count == value.array.size:
        raise Mismatch(f"the interface does not say what output {output['name']} is for such values")
    bounds = bounds_of(value, output, unspecified if count else None)
    answer = {"file": f"definition-{name}.bin", "unspecified": count, "bounds": None}
    with open(answer["file"], "wb") as file:
        file.write(raw)
    if bounds is not None:
        answer["bounds"] = f"bounds-{name}.bin"
        if output["dtype"] == "complex64":
            # Both parts count as elements.
            bounds = np.repeat(bounds.reshape(-1), 2)
        with open(answer["bounds"], "wb") as file:
            file.write(bounds.astype("<f4").tobytes())
    return answer
