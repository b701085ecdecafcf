"""Runs Python tests of an operator without a device, and notes with what they call it.

`record_calls.py calls REQUEST`; REQUEST is a JSON file with the tests' files, the operator's names and the schemas of the
calls. What is not installed is replaced by something that takes every call; what is asked to be on the device stays where
it is. A call under one of the names is noted and ends its test. The answer is `answer.json` in the working directory.
"""

import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import os
import sys
import time
import types
import unittest

# Calls of one test function, and of all of them together.
PER_TEST = 4
MOST_CALLS = 24
# Whole numbers say where to read and write, so they matter; of anything longer only the range is kept.
MOST_VALUES = 1 << 16
SECONDS = 40.0
# Random numbers beyond this take long, and their values do not matter.
MANY_RANDOM = 1 << 20


class Recorded(BaseException):
    """Ends a test whose call has been noted."""


class Skipped(Exception):
    """Ends a test that skips itself."""


class Anything:
    """Takes every call and has every attribute."""

    def __init__(self, name, recorder):
        self.__dict__.update(_name=name, _recorder=recorder)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Anything(name, self._recorder)

    def __call__(self, *arguments, **named):
        self._recorder(self._name, arguments, named)
        # A decorator gives back what it decorates.
        if len(arguments) == 1 and not named and inspect.isroutine(arguments[0]):
            return arguments[0]
        return Anything(self._name, self._recorder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __iter__(self):
        return iter(())

    def __getitem__(self, _):
        return Anything(self._name, self._recorder)

    def __mro_entries__(self, _):
        return (object,)

    def __bool__(self):
        return False


class Standins(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules for everything that is not installed."""

    def __init__(self, recorder):
        self.recorder = recorder

    def find_spec(self, name, _path=None, _target=None):
        if name.split(".")[0] in ("torch", "numpy", "ml_dtypes") or name in sys.builtin_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        recorder = self.recorder

        class Module(types.ModuleType):
            def __getattr__(self, name):
                if name.startswith("__") and name.endswith("__"):
                    raise AttributeError(name)
                return Anything(name, recorder)

        return Module(spec.name)

    def exec_module(self, module):
        module.__path__ = []


def pytest_module(recorder):
    """As much of pytest as says with which arguments a test is called."""
    module = types.ModuleType("pytest")

    def parametrize(names, values, **_):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def mark(function):
            sets = []
            for value in values:
                value = getattr(value, "values", value) if type(value).__name__ == "Param" else value
                value = value if len(names) > 1 else (value,)
                sets.append(dict(zip(names, value)))
            function.ascend_sets = [*getattr(function, "ascend_sets", []), sets]
            return function

        return mark

    class Param:
        def __init__(self, *values, **_):
            self.values = values if len(values) > 1 else values[0]

    def skip(*_, **__):
        raise Skipped()

    def fixture(*arguments, **named):
        def mark(function):
            # A fixture with parameters gives them one by one.
            function.ascend_fixture = named.get("params") or [None]
            return function

        return mark(arguments[0]) if arguments and callable(arguments[0]) else mark

    class Mark:
        def __getattr__(self, name):
            if name == "parametrize":
                return parametrize
            return lambda *arguments, **_: arguments[0] if arguments and callable(arguments[0]) else (lambda one: one)

    module.mark, module.param, module.skip, module.fixture = Mark(), Param, skip, fixture
    module.importorskip = __import__
    module.__getattr__ = lambda name: Anything(name, recorder)
    return module


class Recorder:
    def __init__(self, request):
        self.names = set(request["names"])
        self.schemas = request["schemas"]
        self.calls = []
        self.place = ""

    def matches(self, name):
        return name in self.names

    def __call__(self, name, arguments, named):
        if not self.matches(name):
            return
        parameters = self.schemas.get(name, [])
        listed = [(parameters[index] if index < len(parameters) else f"argument{index}", value)
                  for index, value in enumerate(arguments)]
        listed += list(named.items())
        # In the order of the schema, so that what is known by place is found.
        order = {parameter: index for index, parameter in enumerate(parameters)}
        listed.sort(key=lambda pair: order.get(pair[0], len(order)))
        self.calls.append({"place": self.place, "arguments": [[key, describe(value)] for key, value in listed]})
        raise Recorded()


def describe(value):
    import torch

    if isinstance(value, torch.Tensor):
        value = value.detach()
        dtype = str(value.dtype).removeprefix("torch.")
        result = {"kind": "tensor", "dtype": dtype, "shape": list(value.shape)}
        if value.numel() and dtype not in ("complex64", "complex128"):
            wide = value.to(torch.float64) if value.is_floating_point() else value.to(torch.int64)
            low, high = float(wide.min()), float(wide.max())
            if low == low and abs(low) != float("inf") and abs(high) != float("inf"):
                result["range"] = [low, high]
            if not value.is_floating_point() and value.numel() <= MOST_VALUES:
                result["values"] = wide.flatten().tolist()
        return result
    if value is None:
        return {"kind": "nothing"}
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        value = value.item()
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, (int, float)):
        return {"kind": "number", "value": value}
    if isinstance(value, str):
        return {"kind": "text", "value": value}
    if isinstance(value, (list, tuple)):
        parts = [describe(one) for one in value]
        if parts and all(part["kind"] == "tensor" for part in parts):
            return {"kind": "tensors", "tensors": parts}
        if all(part["kind"] in ("number", "bool") for part in parts):
            return {"kind": "numbers", "values": [float(part["value"]) for part in parts]}
    return {"kind": "unknown"}


def without_device(recorder):
    """Makes torch keep everything in host memory and hand operators' calls to the recorder."""
    import torch
    from torch.overrides import TorchFunctionMode

    def is_device(value):
        return isinstance(value, str) and value.split(":")[0] in ("npu", "cuda", "privateuseone")

    class HostMemory(TorchFunctionMode):
        def __torch_function__(self, function, _types, arguments=(), named=None):
            named = {key: "cpu" if is_device(value) else value for key, value in (named or {}).items()}
            arguments = tuple("cpu" if is_device(value) else value for value in arguments)
            if getattr(function, "__name__", "") in ("randn", "rand") and size_of(arguments) > MANY_RANDOM:
                named.pop("generator", None)
                return torch.zeros(*arguments, **named)
            return function(*arguments, **named)

    def size_of(arguments):
        count = 1
        for size in itertools.chain.from_iterable(one if isinstance(one, (list, tuple)) else [one]
                                                  for one in arguments):
            count *= size if isinstance(size, int) else 1
        return count

    real = torch.ops

    class Namespace:
        def __init__(self, name):
            self.ascend_name = name

        def __getattr__(self, name):
            found = None
            try:
                found = getattr(getattr(real, self.ascend_name), name)
            except (AttributeError, RuntimeError):
                pass
            return found if found is not None and not recorder.matches(name) else Anything(name, recorder)

    class Operators:
        def __getattr__(self, name):
            return Namespace(name)

        def load_library(self, *_):
            return None

    torch.ops = Operators()
    torch.npu = Anything("npu", recorder)
    torch.Tensor.npu = lambda self, *_, **__: self
    torch.Tensor.cuda = lambda self, *_, **__: self
    kept = torch.device

    class Device:
        def __new__(cls, *arguments, **_):
            return kept("cpu") if arguments and is_device(arguments[0]) else kept(*arguments)

    torch.device = Device
    return HostMemory()


def argument_sets(function, module, recorder):
    """Every combination of its parameters, as far as they are known."""
    axes = list(getattr(function, "ascend_sets", []))
    known = {name for axis in axes for one in axis for name in one}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in known or name == "self" or parameter.default is not parameter.empty:
            continue
        fixture = getattr(module, name, None)
        values = getattr(fixture, "ascend_fixture", None)
        axes.append([{name: value} for value in values] if values else [{name: Anything(name, recorder)}])
    for combination in itertools.product(*axes):
        yield {name: value for one in combination for name, value in one.items()}


def tests_of(module):
    for name, value in list(vars(module).items()):
        if name.startswith("test") and inspect.isfunction(value):
            yield value, None
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            for inner, function in list(vars(value).items()):
                if inner.startswith("test") and inspect.isfunction(function):
                    yield function, value


def instance(kind, name):
    if issubclass(kind, unittest.TestCase):
        made = kind(name)
        made.setUp()
        return made
    return kind()


def run(module, file, recorder, until):
    import torch

    for function, kind in tests_of(module):
        before = len(recorder.calls)
        for arguments in itertools.islice(argument_sets(function, module, recorder), 64):
            if len(recorder.calls) - before >= PER_TEST or len(recorder.calls) >= MOST_CALLS or time.time() > until:
                break
            recorder.place = f"{file}:{inspect.unwrap(function).__code__.co_firstlineno}"
            torch.manual_seed(1)
            try:
                if kind is None:
                    function(**arguments)
                else:
                    function(instance(kind, function.__name__), **arguments)
            except Recorded:
                pass
            except Exception:  # pylint: disable=broad-except
                # What a test needs beyond its calls is not here.
                continue


def calls(request):
    import torch  # noqa: F401  without it there is nothing to run

    recorder = Recorder(request)
    sys.modules["pytest"] = pytest_module(recorder)
    sys.meta_path.append(Standins(recorder))
    until = time.time() + SECONDS
    with without_device(recorder):
        for index, file in enumerate(request["files"]):
            if time.time() > until:
                break
            # Not under its own name: its neighbours are packages of something that is not there.
            module = types.ModuleType(f"ascend_tests_{index}")
            sys.modules[module.__name__] = module
            module.__file__ = file
            try:
                with open(file, encoding="utf-8") as source:
                    exec(compile(source.read(), file, "exec"), module.__dict__)
            except Recorded:
                continue
            except Exception:  # pylint: disable=broad-except
                continue
            run(module, file, recorder, until)
    return recorder.calls


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        request = json.load(file)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")
    try:
        answer = {"calls": calls(request)}
    except ModuleNotFoundError as error:
        answer = {"missing": error.name}
    except BaseException as error:  # pylint: disable=broad-except
        answer = {"error": f"{type(error).__name__}: {error}"}
    with open("answer.json", "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
