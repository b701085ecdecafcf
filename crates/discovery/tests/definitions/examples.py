"""Examples of calls by definition: shapes, attributes and whole numbers of known calls, without results.

What a definition is known to hold for is a call that means something, whatever shapes a guess would come to.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

import exact

DEFINITIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../templates/definitions")

# Examples of an operator: one alone may be refused for its dtype, shape or mode.
MOST = 2
# Whole numbers of a tensor up to which they are written down; more are drawn from their range.
MOST_VALUES = 64
# Operators one of whose inputs is a result of the others.
RELATED = {"CdistGrad"}
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


def described(tensor, with_values):
    one = {"dtype": tensor["dtype"], "shape": tensor["shape"]}
    if tensor.get("format", "ND") != "ND":
        one["format"] = tensor["format"]
    values = values_of(tensor)
    is_whole = tensor["dtype"] not in exact.FORMATS
    if values and (is_whole or with_values) and len(values) <= MOST_VALUES:
        one["values"] = values if is_whole else [float(f"{value:.4g}") for value in values]
    elif values:
        low, high = min(values), max(values)
        # Whole numbers are drawn below the upper end. What is on both sides of zero may be just anything.
        if is_whole or not low < 0 < high:
            one["range"] = [round(low, 3), round(high, 3) + (1 if is_whole else 0)]
    return one


def example(call, with_values):
    inputs = [[name, [described(one, with_values) for one in tensors], dynamic] for name, tensors, dynamic in call["inputs"]]
    return {
        "inputs": inputs,
        "outputs": [{"dtype": one["dtype"], "shape": one["shape"]} for _, one in call["outputs"]],
        "attributes": call["attributes"],
    }


def drawn(tensor, folder):
    """A file with values of an example, drawn where it has none."""
    low, high = tensor.get("range", [-2, 2])
    draw = random.uniform if tensor["dtype"] in exact.FORMATS else lambda low, high: random.randrange(int(low), max(int(high), int(low) + 1))
    count = elements(tensor) * (2 if tensor["dtype"] == "complex64" else 1)
    values = tensor.get("values") or [draw(low, high) for _ in range(count)]
    dtype = "float32" if tensor["dtype"] == "complex64" else tensor["dtype"]
    if dtype in exact.FORMATS:
        raw = "".join(exact.pack(exact.bits_of(Fraction(value), dtype), dtype) for value in values)
    else:
        raw = "".join(exact.pack_integer(int(value), dtype) for value in values)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(bytes.fromhex(raw))
    return {"file": file.name, "dtype": tensor["dtype"], "shape": tensor["shape"], "format": tensor.get("format", "ND")}


def write_families():
    """Which file defines each operator, for who wants to read no other: of those that do when read alone the one that brings the fewest."""
    sys.path.insert(0, DEFINITIONS)
    import run  # pylint: disable=import-outside-toplevel,import-error

    alone = {family: registered([family]) for family in run.all_families()}
    families = {}
    for operator, count in registered(run.all_families()).items():
        fitting = [family for family, found in alone.items() if found.get(operator) == count]
        families.setdefault(min(fitting, key=lambda family: len(alone[family])), []).append(operator)
    lines = [f"{json.dumps(family)}: {json.dumps(sorted(operators))}" for family, operators in sorted(families.items())]
    with open(os.path.join(DEFINITIONS, "families.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def registered(families):
    """How many definitions of each operator there are where only some files are read, by an interpreter of its own."""
    program = f"import json, run\nprint(json.dumps({{name: len(all) for name, all in run.table({families!r}).items()}}))"
    words = [sys.executable, "-B", "-c", program]
    return json.loads(subprocess.run(words, cwd=DEFINITIONS, stdout=subprocess.PIPE, check=True).stdout)


def holds(call, found):
    """Whether the definition holds for an example with values that are drawn."""
    import run  # pylint: disable=import-outside-toplevel,import-error

    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        inputs = [
            {"name": name, "dynamic": dynamic, "instances": [drawn(one, folder) for one in tensors]} for name, tensors, dynamic in found["inputs"]
        ]
        outputs = [
            {"name": name, **one, "format": "ND", "tolerance": {"relative": 0.01, "absolute": 0.01}}
            for (name, _), one in zip(call["outputs"], found["outputs"])
        ]
        attributes = [{"name": name, "value": value} for name, value in found["attributes"]]
        request = {"operator": call["operator"], "inputs": inputs, "attributes": attributes, "outputs": outputs}
        here = os.getcwd()
        os.chdir(folder)
        try:
            return "definition" in run.answer("compute", request)
        except Exception:  # pylint: disable=broad-except
            return False
        finally:
            os.chdir(here)


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
    for operator, definitions in run.table(run.all_families()).items():
        groups.setdefault(tuple(one.function for one in definitions), []).append(operator)
    return groups.values()


def examples_of(calls):
    """By operator, those that differ in more than dtypes and lengths, or the name of another with the same definition."""
    groups = same_definitions()
    found = {}
    for call in sorted(calls, key=order):
        if not call["inputs"]:
            continue
        kept, seen = found.setdefault(call["operator"], ([], []))
        like = (call["attributes"], [[name, len(given), [len(one["shape"]) for one in given]] for name, given, _ in call["inputs"]])
        if like not in seen and len(kept) < MOST:
            seen.append(like)
            drawn_example = example(call, False)
            may_be_drawn = call["operator"] not in RELATED and holds(call, drawn_example)
            kept.append(drawn_example if may_be_drawn else example(call, True))
    kept = {operator: kept for operator, (kept, _) in found.items()}
    for group in groups:
        known = next((operator for operator in sorted(group) if operator in kept), None)
        if known is not None:
            kept.update({operator: known for operator in group if operator not in kept})
    return dict(sorted(kept.items()))


def short(tensor):
    """A tensor as a list, without what it does not have at the end: the tool carries all of them."""
    parts = [tensor["dtype"], tensor["shape"], tensor.get("values", []), tensor.get("range"), tensor.get("format", "")]
    while not parts[-1]:
        parts.pop()
    return parts


def line(found):
    inputs = [[name, [short(one) for one in tensors]] + [True] * dynamic for name, tensors, dynamic in found["inputs"]]
    return [inputs, [short(one) for one in found["outputs"]], found["attributes"]]


def written(calls):
    lines = []
    for name, kept in examples_of(calls).items():
        entry = kept if isinstance(kept, str) else [line(one) for one in kept]
        lines.append(f"{json.dumps(name)}:{json.dumps(entry, separators=(',', ':'))}")
    return "{\n" + ",\n".join(lines) + "\n}\n"
