"""Cases several times larger than those that an operator was tuned on."""

import re
import tomllib

FIRST = re.compile(r"shape = \[(\d+)(?=[,\]])")


def manifest(text, factor):
    """The manifest with its timed cases so many times larger on the first axis; nothing where no tensor of them has one that can grow."""
    blocks = re.split(r"(?m)^(?=\[)", text)
    cases = iter(tomllib.loads(text)["case"])
    grown = [grow(block, next(cases), factor) if block.startswith("[[case]]") else block for block in blocks]
    return "".join(grown) if grown != blocks else None


def grow(block, case, factor):
    """Tensors that are as long as the first one grow with it; those with values mean something else."""
    if case.get("verify-only") or "values" in case["inputs"][0] or not case["inputs"][0]["shape"]:
        return block
    length = case["inputs"][0]["shape"][0]

    def longer(found):
        return f"shape = [{length * factor}" if int(found[1]) == length else found[0]

    return "".join(line if "values = " in line else FIRST.sub(longer, line) for line in block.splitlines(keepends=True))
