"""Runs definitions for `cargo ascend-tune`, in a directory that it may write to: `run.py match|compute|data REQUEST`.

REQUEST is a JSON file with a list of requests; their answers are a list in `answer.json` in the working directory.
"""

import importlib
import json
import os
import sys


BESIDE = os.path.dirname(os.path.abspath(__file__))


def table(families):
    """The definitions of some families, the files beside this one, by operator type."""
    for family in families:
        importlib.import_module(family)
    return importlib.import_module("core").TABLE


def all_families():
    return sorted(name[:-3] for name in os.listdir(BESIDE) if name.endswith(".py") and name != "run.py")


def families_of(operator):
    """The family that defines an operator, if one does: to read all of them takes longer than most answers."""
    with open(os.path.join(BESIDE, "families.json"), encoding="utf-8") as file:
        families = json.load(file)
    return [family for family, operators in families.items() if operator in operators]


def answer(mode, request, number=0):
    families = families_of(request["operator"])
    if not families:
        return {"undefined": f"there is no definition of {request['operator']}"}
    table(families)
    core = importlib.import_module("core")
    outputs, data, changed = [], [], []
    try:
        if mode == "match":
            definition, _, _ = core.match(request)
        elif mode == "data":
            definition, pairs, values = core.match(request)
            data = importlib.import_module("meaning").data_of(definition.operator, pairs, values)
            changed = [] if request["outputs"] else list(dict.fromkeys(one["name"] for one in core.changed_inputs(definition, pairs)))
        else:
            definition, outputs = core.compute(request, number)
    except core.Undefined as reason:
        return {"undefined": str(reason)}
    except core.Mismatch as reason:
        return {"unmatched": str(reason)}
    found = {"operator": definition.operator, "file": definition.file, "formula": definition.formula}
    return {"definition": found, "outputs": outputs, "data": data, "changed": changed}


def answered(mode, request, number):
    """The answer to one request, whatever becomes of it: the others are answered all the same."""
    try:
        return answer(mode, request, number)
    except ModuleNotFoundError as error:
        return {"missing": error.name}
    except Exception as error:  # pylint: disable=broad-except
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        requests = json.load(file)
    answers = [answered(sys.argv[1], request, number) for number, request in enumerate(requests)]
    with open("answer.json", "w", encoding="utf-8") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
