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
    """Numbers of those of `faults` near places that a compiler's messages name; where there are none, of those in the files with errors."""

    def places(text):
        return [(os.path.relpath(path, root), int(line)) for path, line in re.findall(r"(/[^:\s]+):(\d+)", text)]

    def within(lines, distance):
        return {
            number
            for number, fault in faults.items()
            if any((fault.path, fault.line + 1 + by) in lines for by in range(-distance, distance + 1))
        }

    named = set(places(messages))
    near = within(named, 0) or within(named, NEAR)
    # A type with a fault in what its members are at first is not constant any more: errors name the type.
    errors = "\n".join(line for line in messages.split("\n") if "error:" in line)
    files = {path for path, _ in places(errors)}
    return near or {number for number, fault in faults.items() if fault.path in files}
