"""Runs definitions for `cargo ascend-tune`, in a directory that it may write to: `run.py match|compute|data REQUEST`.

REQUEST is a JSON file; the answer is `answer.json` in the working directory.
"""

import importlib
import json
import os
import sys


def table():
    """All definitions by operator type, of the families beside this file."""
    beside = os.listdir(os.path.dirname(os.path.abspath(__file__)))
    for family in sorted(name[:-3] for name in beside if name.endswith(".py")):
        if family != "run":
            importlib.import_module(family)
    return importlib.import_module("core").TABLE


def answer(mode, request):
    table()
    core = importlib.import_module("core")
    outputs, data = [], []
    try:
        if mode == "match":
            definition, _, _ = core.match(request)
        elif mode == "data":
            definition, pairs, values = core.match(request)
            data = importlib.import_module("meaning").data_of(definition.operator, pairs, values)
        else:
            definition, outputs = core.compute(request)
    except core.Undefined as reason:
        return {"undefined": str(reason)}
    except core.Mismatch as reason:
        return {"unmatched": str(reason)}
    found = {"operator": definition.operator, "file": definition.file, "formula": definition.formula}
    return {"definition": found, "outputs": outputs, "data": data}


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        request = json.load(file)
    try:
        result = answer(sys.argv[1], request)
    except ModuleNotFoundError as error:
        result = {"missing": error.name}
    except Exception as error:  # pylint: disable=broad-except
        result = {"error": f"{type(error).__name__}: {error}"}
    with open("answer.json", "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
