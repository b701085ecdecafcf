"""Runs definitions for `cargo ascend-tune`, in a directory that it may write to: `run.py match|compute REQUEST`.

REQUEST is a JSON file; the answer is `answer.json` in the working directory.
"""

import importlib
import json
import sys

FAMILIES = ("elementwise", "arithmetic", "integers", "activations", "gates", "slopes", "special", "foreach", "reductions", "losses",
            "norms", "quantise", "shapes", "products", "images", "pools", "optimisers", "rotations", "order")
FAMILIES = ("elementwise", "integers", "activations", "foreach", "reductions", "norms", "quantise", "shapes", "products",
            "images", "pools", "optimisers", "rotations", "order", "layout", "indices", "embeddings", "groups",
            "scatters", "blocks", "along")
            "images", "pools", "optimisers", "rotations", "order", "batch_norms",
            "norm_quants", "recurrent", "routing", "quantised_products")
            "images", "pools", "optimisers", "rotations", "order", "linear", "transforms",
            "windows", "convolutions", "attention", "geometry", "regions", "antialias")


def table():
    """All definitions by operator type."""
    for family in FAMILIES:
        importlib.import_module(family)
    return importlib.import_module("core").TABLE


def answer(mode, request):
    table()
    core = importlib.import_module("core")
    outputs = []
    try:
        if mode == "match":
            definition, _, _ = core.match(request)
        else:
            definition, outputs = core.compute(request)
    except core.Undefined as reason:
        return {"undefined": str(reason)}
    except core.Mismatch as reason:
        return {"unmatched": str(reason)}
    found = {"operator": definition.operator, "file": definition.file, "formula": definition.formula}
    return {"definition": found, "outputs": outputs}


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
