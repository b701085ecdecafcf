"""Calls with right results, as `make_known.py` collects them."""

import random
from fractions import Fraction as F

import exact

random.seed(24)
CALLS = []


def numbers(dtype, count, low, high):
    """Numbers of a dtype in a range, by their bit patterns, all different."""
    found = []
    while len(found) < count:
        value = exact.value_of(exact.bits_of(F(random.uniform(low, high)), dtype), dtype)
        if value not in found and value != 0 and value != "-0":
            found.append(value)
    return found


def tensor(values, dtype, shape=None, **more):
    """Values of a dtype; complex ones as pairs of real and imaginary part."""
    if dtype == "complex64":
        parts = [part for value in values for part in value]
        raw = "".join(exact.pack(exact.bits_of(part, "float32"), "float32") for part in parts)
        return {"dtype": dtype, "shape": [len(values)] if shape is None else shape, "hex": raw, **more}
    if dtype in exact.FORMATS:
        raw = "".join(exact.pack(exact.bits_of(value, dtype), dtype) for value in values)
    else:
        raw = "".join(exact.pack_integer(value, dtype) for value in values)
    return {"dtype": dtype, "shape": [len(values)] if shape is None else shape, "hex": raw, **more}


def call(operator, inputs, outputs, attributes=None):
    """Inputs: name to tensor or list of tensors; so are outputs, whose `ulps` are units in the last place that they may be off by."""
    CALLS.append({
        "operator": operator,
        "inputs": [[name, value if isinstance(value, list) else [value], isinstance(value, list)] for name, value in inputs.items()],
        "outputs": [[name, one] for name, value in outputs.items() for one in (value if isinstance(value, list) else [value])],
        "attributes": [[name, value] for name, value in (attributes or {}).items()],
    })


def mean(values):
    return sum(values) / len(values)
