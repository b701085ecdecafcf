"""Runs calls through the definitions for the test: `driver.py DEFINITIONS CALLS`, in a directory that it may write to.

CALLS is a JSON list of requests; the answer to the n-th is `n.json`, with its files beside it under `n/`. `functions.json` has the
operators of each function that there is.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import run  # noqa: E402

with open(sys.argv[2], encoding="utf-8") as file:
    calls = json.load(file)
root = os.getcwd()
for number, request in enumerate(calls):
    os.makedirs(os.path.join(root, str(number)))
    os.chdir(os.path.join(root, str(number)))
    result = run.answer(request.pop("mode", "compute"), request)
    with open(os.path.join(root, f"{number}.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)

functions = {}
for operator, definitions in run.table(run.all_families()).items():
    for definition in definitions:
        functions.setdefault(id(definition.function), []).append(operator)
with open(os.path.join(root, "functions.json"), "w", encoding="utf-8") as file:
    json.dump(list(functions.values()), file)

# What a family defines where no other is read is all that there is of its operators, and every operator is in one.
counts = {operator: len(definitions) for operator, definitions in run.table([]).items()}
with open(os.path.join(sys.argv[1], "families.json"), encoding="utf-8") as file:
    families = json.load(file)
assert sorted(operator for operators in families.values() for operator in operators) == sorted(counts)
for family, operators in families.items():
    for name in run.all_families():
        sys.modules.pop(name, None)
    found = run.table([family])
    for operator in operators:
        assert len(found.get(operator, [])) == counts[operator], f"{operator} is not in {family} alone"
