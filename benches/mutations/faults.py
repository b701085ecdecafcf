"""Which faults there are, and which of them are drawn."""

import collections
import os
import random
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS = ("sdk/src/isa", "sdk/include/ascendc")
# `path` is below `sdk`; `line` and `column` count from 0.
Fault = collections.namedtuple("Fault", "path line column there instead")

# Lines that say something, declare something or only count time.
NOT_CODE = re.compile(r"^\s*(//|\*|/\*|#|using |namespace |template|static_assert|extern |friend )|RaiseFault|Describe|printf|ASCENDSIM_LOG|Fail\(|Report")

# What is replaced by what. Words of their own, so that no name is cut in two.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+= ", " -= "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "), (r" \| ", " & "),
    (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"\bkMax\b", "kMin"), (r"\bkMin\b", "kMax"), (r"\bCAST_RINT\b", "CAST_FLOOR"), (r"\bCAST_FLOOR\b", "CAST_RINT"),
    (r"\bCAST_ROUND\b", "CAST_RINT"), (r"\bCAST_CEIL\b", "CAST_ROUND"), (r"\bCAST_TRUNC\b", "CAST_RINT"), (r"\bCAST_NONE\b", "CAST_TRUNC"),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?=[uU]?[lL]{0,2}(?![\w.\"']))")

# An integer that is the smaller or larger of two values: `const uint32_t n = a < b ? a : b;`. Where they are equal, either is the
# result, so it does not matter whether the comparison holds then. Of floats this is not so: a zero may have either sign.
EITHER = re.compile(
    r"^\s*(?:const )?(?:u?int(?:8|16|32|64)_t|size_t|int) \w+ = (?P<a>[^?:]+) (?P<sign>[<>]=?) (?P<b>[^?:<>=]+) \? (?P<c>[^?:]+) : (?P<d>[^?:]+);$"
)


def changes_nothing(line, column):
    """Whether a swap of the comparison at `column` certainly leaves all results as they are."""
    either = EITHER.match(line)
    if either is None or either.start("sign") != column + 1:
        return False
    return sorted(either.group("a", "b")) == sorted(either.group("c", "d"))


def faults_of(path):
    """All faults of a file."""
    found, inside = [], False
    with open(os.path.join(ROOT, "sdk", path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines):
        inside = (inside or "/*" in line) and "*/" not in line
        code = line.split("//")[0]
        if inside or NOT_CODE.search(line) or '"' in code:
            continue
        for pattern, other in SWAPS:
            found += [
                Fault(path, number, match.start(), match.group(), other)
                for match in re.finditer(pattern, code)
                if not changes_nothing(code.rstrip(), match.start())
            ]
        for match in NUMBER.finditer(code):
            found.append(Fault(path, number, match.start(), match.group(), str(int(match.group()) + 1)))
    return found


def drawn(seed, only):
    """All faults at places that `only` names, in an order that the seed decides: as many of instructions as of API functions."""
    generator = random.Random(seed)
    parts = []
    for part in PARTS:
        faults = []
        for folder, _, files in sorted(os.walk(os.path.join(ROOT, part))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "sdk"))
                if name.endswith((".cpp", ".h")) and "/host_api/" not in path:
                    faults += [one for one in faults_of(path) if any(place in f"{path}:{one.line + 1}:" for place in only)]
        generator.shuffle(faults)
        parts.append(faults)
    together = min(map(len, parts))
    pairs = [fault for pair in zip(*parts) for fault in pair]
    return pairs + [fault for part in parts for fault in part[together:]]
