"""Faults that are compiled in together and selected when a program runs: how they are written, and which cannot be."""

import os
import re

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selectable.h")
SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selectable.cpp")
# What a source with such faults is compiled with. Numbers become calls, which braces would not narrow.
FLAGS = ["-include", HEADER, "-Wno-narrowing", "-fmax-errors=0"]

OPERATORS = {
    "<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "==": "Equal", "!=": "Unequal", "+": "Plus", "-": "Minus",
    "*": "Times", "/": "Divide", "%": "Modulo", "<<": "ShiftLeft", ">>": "ShiftRight", "&": "And", "|": "Or", "+=": "Add",
}
# Values that a compiler must know, which is not always an error at that line.
CONSTANT = re.compile(r"^\s*(static |inline )*(constexpr|case)\b|^\s*k?[A-Z]\w* = \d+,")
# How far from the line that an error names its cause may be: a statement spans lines.
NEAR = 3


def written(fault, number, line):
    """How a fault stands in `line` so that it can be selected: how many characters are replaced, and by what; `None` if it cannot."""
    if CONSTANT.search(line):
        return None
    there = fault.there.strip()
    rest = line[fault.column + len(fault.there):]
    if there in OPERATORS and there != fault.there:
        return len(fault.there), f" {there} fault::{OPERATORS[there]}{{{number}}} {there} "
    if there in ("true", "false"):
        return len(there), f"fault::Truth({number}, {there})"
    if there in ("std::min", "std::max"):
        name = f"fault::{there[5:].capitalize()}<{number}"
        return (len(there) + 1, f"{name}, ") if rest.startswith("<") else (len(there), f"{name}>")
    if there.isdigit():
        suffix = re.match(r"[uU]?[lL]{0,2}", rest).group()
        return len(there + suffix), f"fault::Number({number}, {there}{suffix}, {fault.instead}{suffix})"
    return None


def with_faults(text, faults):
    """A source with these faults in it: pairs of a fault and what `written` says of it."""
    lines = text.split("\n")
    for fault, (length, instead) in sorted(faults, key=lambda pair: -pair[0].column):
        line = lines[fault.line]
        lines[fault.line] = line[: fault.column] + instead + line[fault.column + length:]
    return "\n".join(lines)


def to_blame(messages, faults, root):
    """Numbers of those of `faults`, by number with what stands for them, that a compiler's messages are about: those at places that they
    name; where there are none, near them; in the files that errors name; of the kinds that they name, as in a default argument."""

    def places(text):
        return [(os.path.relpath(path, root), int(line)) for path, line in re.findall(r"(/[^:\s]+):(\d+)", text)]

    def within(lines, distance):
        around = {(path, line + by) for path, line in lines for by in range(-distance, distance + 1)}
        return {number for number, (fault, _) in faults.items() if (fault.path, fault.line + 1) in around}

    named = places(messages)
    errors = "\n".join(line for line in messages.split("\n") if "error:" in line)
    files = {path for path, _ in places(errors)}
    kinds = re.findall(r"fault::\w+", messages)
    return (
        within(named, 0)
        or within(named, NEAR)
        or {number for number, (fault, _) in faults.items() if fault.path in files}
        or {number for number, (_, instead) in faults.items() if any(kind in instead for kind in kinds)}
    )
