"""Runs an operator's own reference for `cargo ascend-tune survey`, in a directory that it may write to.

`run_reference.py golden REQUEST` calls the function that a golden.py names, on given inputs.
`run_reference.py data REQUEST` runs a script that makes test data, and says which arrays it wrote to which files.
REQUEST is a JSON file; the answer is `answer.json` in the working directory.
"""

import importlib.util
import inspect
import json
import os
import runpy
import sys


def numpy_dtype(name):
    import numpy

    if name == "bfloat16":
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(name)


def load(tensor):
    import numpy

    with open(tensor["file"], "rb") as file:
        return numpy.frombuffer(file.read(), numpy_dtype(tensor["dtype"])).reshape(tensor["shape"]).copy()


def to_array(value):
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float().numpy() if str(value.dtype) == "torch.bfloat16" else value.numpy()
    elif hasattr(value, "numpy") and not isinstance(value, numpy.ndarray):
        value = value.numpy()
    return numpy.asarray(value)


def golden_function(module, operator):
    table = getattr(module, "__golden__", {})
    kernels = table.get("kernel", {})
    chosen = kernels.get(operator) or (next(iter(kernels.values())) if len(kernels) == 1 else None)
    chosen = chosen or operator + "_golden"
    return getattr(module, chosen) if isinstance(chosen, str) else chosen


def golden(request):
    sys.path.insert(0, os.path.dirname(request["script"]))
    spec = importlib.util.spec_from_file_location("operator_golden", request["script"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = golden_function(module, request["operator"])

    values = {}
    for name, tensors in request["inputs"]:
        arrays = [load(tensor) for tensor in tensors["instances"]]
        values[name] = arrays if tensors["dynamic"] else (arrays[0] if arrays else None)
    for name, value in request["attributes"]:
        values[name] = value
    outputs = request["outputs"]
    extra = {
        "short_soc_version": request["soc"],
        "input_dtypes": request["input_dtypes"],
        "output_dtypes": [output["dtype"] for output in outputs],
        "input_ori_shapes": request["input_shapes"],
        "input_shapes": request["input_shapes"],
        "output_ori_shapes": [tuple(output["shape"]) for output in outputs],
        "output_shapes": [tuple(output["shape"]) for output in outputs],
        "input_formats": request["input_formats"],
        "input_ori_formats": request["input_formats"],
        "output_formats": [output["format"] for output in outputs],
        "output_ori_formats": [output["format"] for output in outputs],
    }
    parameters = inspect.signature(function).parameters.values()
    plain = [one for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    open_ended = any(one.kind == one.VAR_KEYWORD for one in parameters)
    known = {**extra, **values}
    if all(one.name in known or one.default is not one.empty for one in plain):
        result = function(**{one.name: known[one.name] for one in plain if one.name in known},
                          **({name: value for name, value in extra.items()
                              if name not in [one.name for one in plain]} if open_ended else {}))
    else:
        result = function(*values.values(), **(extra if open_ended else {}))
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    answer = []
    for index, (value, output) in enumerate(zip(results, outputs)):
        if value is None:
            answer.append(None)
            continue
        array = to_array(value)
        file = f"golden-{index}.bin"
        array.astype(numpy_dtype(output["dtype"])).tofile(file)
        answer.append({"file": file, "dtype": output["dtype"], "shape": list(array.shape)})
    return answer


class Watch:
    """Notes every array that is written with `tofile`: the file that changed since the last look is its file."""

    def __init__(self):
        self.arrays = []
        self.known = self.files()

    @staticmethod
    def files():
        found = {}
        for folder, _, names in os.walk("."):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:
                    continue
                found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        return found

    def __call__(self, _frame, event, function):
        if event != "c_return" or getattr(function, "__name__", "") != "tofile":
            return
        array = getattr(function, "__self__", None)
        now = self.files()
        for path, status in now.items():
            if self.known.get(path) != status:
                self.arrays.append({"file": path, "dtype": array.dtype.name, "shape": list(array.shape)})
        self.known = now


def data(request):
    import numpy

    numpy.random.seed(1)
    script = os.path.basename(request["script"])
    sys.argv = [script, *request["arguments"]]
    sys.path.insert(0, os.getcwd())
    watch = Watch()
    sys.setprofile(watch)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise RuntimeError(f"exit status {end.code}") from end
    finally:
        sys.setprofile(None)
    return watch.arrays


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        request = json.load(file)
    try:
        answer = {"arrays": {"golden": golden, "data": data}[sys.argv[1]](request)}
    except ModuleNotFoundError as error:
        answer = {"missing": error.name}
    except BaseException as error:  # pylint: disable=broad-except
        answer = {"error": f"{type(error).__name__}: {error}"}
    with open("answer.json", "w", encoding="utf-8") as file:
        json.dump(answer, file)


main()
