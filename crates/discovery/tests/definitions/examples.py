"""Examples of calls by definition: shapes, attributes and whole numbers of known calls, without results.

What a definition is known to hold for is a call that means something, whatever shapes a guess would come to.
"""

import json
import math
import os
import sys

import exact

DEFINITIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../templates/definitions")

# Examples of an operator: one alone may be refused for its dtype, shape or mode.
MOST = 2
# Whole numbers of a tensor up to which they are written down; more are drawn from their range.
MOST_VALUES = 64
PREFERRED = ["float32", "float16", "bfloat16"]


def elements(tensor):
    return math.prod(tensor["shape"])


def values_of(tensor):
    """The numbers of a tensor, as far as they are finite; none of complex ones."""
    dtype, raw = tensor["dtype"], bytes.fromhex(tensor["hex"])
    if dtype in exact.FORMATS:
        size = exact.FORMATS[dtype][3] // 8
        bits = [int.from_bytes(raw[at:at + size], "little") for at in range(0, len(raw), size)]
        found = [exact.value_of(one, dtype) for one in bits]
        return [0.0 if isinstance(one, str) else float(one) for one in found if one not in ("nan", "inf", "-inf")]
    if dtype == "bool" or "int" in dtype:
        size = 1 if dtype == "bool" else max(int(dtype.lstrip("uint")) // 8, 1)
        signed = dtype.startswith("int")
        return [int.from_bytes(raw[at:at + size], "little", signed=signed) for at in range(0, len(raw), size)]
    return []


def described(tensor):
    one = {"dtype": tensor["dtype"], "shape": tensor["shape"]}
    if tensor.get("format", "ND") != "ND":
        one["format"] = tensor["format"]
    values = values_of(tensor)
    is_whole = tensor["dtype"] not in exact.FORMATS
    if values and is_whole and len(values) <= MOST_VALUES:
        one["values"] = values
    elif values:
        low, high = min(values), max(values)
        # Whole numbers are drawn below the upper end. What is on both sides of zero may be just anything.
        if is_whole or not low < 0 < high:
            one["range"] = [round(low, 3), round(high, 3) + (1 if is_whole else 0)]
    return one


def example(call):
    return {
        "inputs": [[name, [described(one) for one in tensors], dynamic] for name, tensors, dynamic in call["inputs"]],
        "outputs": [{"dtype": one["dtype"], "shape": one["shape"]} for _, one in call["outputs"]],
        "attributes": call["attributes"],
    }


def order(call):
    """The usual dtypes first, and of these the largest."""
    tensors = [one for _, given, _ in call["inputs"] for one in given]
    ranks = [PREFERRED.index(one["dtype"]) for one in tensors if one["dtype"] in PREFERRED]
    return min(ranks, default=len(PREFERRED)), -sum(elements(one) for one in tensors)


def same_definitions():
    """Operators with one definition, which of them ever has known calls."""
    sys.path.insert(0, DEFINITIONS)
    import run  # pylint: disable=import-outside-toplevel,import-error

    groups = {}
    for operator, definitions in run.table().items():
        groups.setdefault(tuple(one.function for one in definitions), []).append(operator)
    return groups.values()


def examples_of(calls):
    """By operator, those that differ in more than their dtypes, or the name of another with the same definition."""
    found = {}
    for call in sorted(calls, key=order):
        if not call["inputs"]:
            continue
        kept, seen = found.setdefault(call["operator"], ([], []))
        like = (call["attributes"], [[one["shape"] for one in given] for _, given, _ in call["inputs"]])
        if like not in seen and len(kept) < MOST:
            seen.append(like)
            kept.append(example(call))
    kept = {operator: kept for operator, (kept, _) in found.items()}
    for group in same_definitions():
        known = next((operator for operator in sorted(group) if operator in kept), None)
        if known is not None:
            kept.update({operator: known for operator in group if operator not in kept})
    return dict(sorted(kept.items()))


def written(calls):
    lines = (f"{json.dumps(name)}: {json.dumps(kept, separators=(',', ':'))}" for name, kept in examples_of(calls).items())
    return "{\n" + ",\n".join(lines) + "\n}\n"
