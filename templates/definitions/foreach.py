"""List forms: the same for every tensor of a list, with one scalar, a list of scalars, or a second list."""

import numpy as np

from core import Mismatch, Value, define, wide
from elementwise import UNARY, added, conditioned, is_float, largest_of, least_of, multiplied, power_of, subtracted


def registered(name, formula, function, **how):
    how.setdefault("outputs", "_*")
    define(name, formula=formula, **how)(function)


def number(scalar):
    """The one number of a scalar tensor."""
    scalar = np.asarray(scalar).reshape(-1)
    if scalar.size != 1:
        raise Mismatch(f"the scalar has {scalar.size} elements")
    return scalar[0]


def fitted(scalar, tensor):
    """A scalar as it meets a tensor: whole for integers."""
    if is_float(tensor):
        return float(scalar)
    if scalar != int(scalar):
        raise Mismatch("an integer and a fraction meet as the interface does not say")
    return np.asarray(int(scalar), dtype=object)


def scalars_of(scalars, tensors):
    scalars = np.asarray(scalars).reshape(-1)
    if scalars.size != len(tensors):
        raise Mismatch(f"{scalars.size} scalars for {len(tensors)} tensors")
    return scalars


def divided(x, y):
    if not is_float(x):
        raise Mismatch("integers are divided as the interface does not say")
    return x / y


def register_unary(name):
    def unary(tensors):
        return [conditioned(name, x, UNARY[name](x)) for x in tensors]

    registered("Foreach" + name, f"y[i] = {name.lower()}(x[i])", unary, inputs="_*")


for each in UNARY:
    register_unary(each)


def absolute(tensors):
    return [Value(np.abs(x) if is_float(x) else np.abs(wide(x)), exact=True) for x in tensors]


def negated(tensors):
    return [Value(-x if is_float(x) else -wide(x), exact=True) for x in tensors]


def signs(tensors):
    return [Value(np.sign(x), exact=True, unspecified=np.isnan(x) if is_float(x) else None) for x in tensors]


def copied(tensors):
    return [Value(x, exact=True) for x in tensors]


def zeroed(tensors):
    return [Value(np.zeros_like(x), exact=True) for x in tensors]


registered("ForeachAbs", "y[i] = |x[i]|", absolute, inputs="_*", dtypes="float signed")
registered("ForeachNeg", "y[i] = -x[i]", negated, inputs="_*", dtypes="float signed")
registered("ForeachSign", "y[i] = -1, 0 or 1", signs, inputs="_*", dtypes="float signed")
registered("ForeachCopy", "y[i] = x[i]", copied, inputs="_*", dtypes="any")
registered("ForeachZeroInplace", "x[i] = 0", zeroed, inputs="_*", dtypes="any")


def maximum_with(x, y):
    return largest_of(x, y)


def minimum_with(x, y):
    return least_of(x, y)


# Operations of two operands: words, function.
BINARY = {
    "Add": ("+", added),
    "Sub": ("-", subtracted),
    "Mul": ("*", multiplied),
    "Div": ("/", divided),
    "Maximum": ("max", maximum_with),
    "Minimum": ("min", minimum_with),
    "Pow": ("to the power of", power_of),
}


def register_binary(name, word, operation):
    def with_scalar(tensors, scalar):
        scalar = number(scalar)
        return [met(x, fitted(scalar, x)) for x in tensors]

    def with_scalars(tensors, scalars):
        return [met(x, fitted(scalar, x)) for x, scalar in zip(tensors, scalars_of(scalars, tensors))]

    def with_list(left, right):
        if len(left) != len(right):
            raise Mismatch(f"lists of {len(left)} and {len(right)} tensors")
        return [operation(x, y) for x, y in zip(left, right)]

    def met(x, scalar):
        result = operation(x, scalar)
        if name in ("Add", "Sub") and is_float(x):
            # The scalar is rounded to the dtype of the tensor by some, and not by others.
            return Value(result, magnitude=np.full(np.shape(x), abs(float(scalar))))
        return result

    dtypes = "float" if name in ("Div", "Pow") else "float int32 int64"
    registered(f"Foreach{name}Scalar", f"y[i] = x[i] {word} scalar", with_scalar, inputs="x*|x1* scalar|scalars~:number",
               dtypes=dtypes)
    registered(f"Foreach{name}ScalarList", f"y[i] = x[i] {word} scalars[i]", with_scalars,
               inputs="x*|x1* scalars|scalar~:number", dtypes=dtypes)
    if name not in ("Add", "Sub"):
        registered(f"Foreach{name}List", f"y[i] = x1[i] {word} x2[i]", with_list, inputs="x1*|x* x2*|y*", dtypes=dtypes)


for each, (words, function) in BINARY.items():
    register_binary(each, words, function)


def register_alpha(name, turn, word):
    def with_alpha(left, right, alpha):
        if len(left) != len(right):
            raise Mismatch(f"lists of {len(left)} and {len(right)} tensors")
        alpha = 1 if alpha is None else number(alpha)
        results = []
        for x, y in zip(left, right):
            term = multiplied(y, fitted(alpha, x)) if is_float(x) else wide(y) * fitted(alpha, x)
            results.append(Value(added(x, turn * term), magnitude=np.abs(term) if is_float(x) else None))
        return results

    registered(f"Foreach{name}List", f"y[i] = x1[i] {word} alpha * x2[i]", with_alpha, inputs="x1*|x* x2* alpha~?:number",
               dtypes="float int32 int64")


register_alpha("Add", 1, "+")
register_alpha("Sub", -1, "-")


def scalar_to_power(scalar, tensors):
    scalar = float(number(scalar))
    return [power_of(np.full_like(x, scalar), x) for x in tensors]


registered("ForeachPowScalarAndTensor", "y[i] = scalar to the power of x[i]", scalar_to_power, inputs="scalar~:number x*")


def register_pointwise(name, operation, word):
    def one(x, y, z, scalar):
        term = operation(y, z) * scalar
        return Value(x + term, magnitude=np.abs(term), steps=2) if is_float(x) else wide(x) + wide(y) * wide(z) * scalar

    def all_of(first, second, third, scalars):
        if not len(first) == len(second) == len(third):
            raise Mismatch("lists of different lengths")
        return [one(x, y, z, fitted(scalar, x)) for x, y, z, scalar in zip(first, second, third, scalars)]

    def with_scalar(first, second, third, scalar):
        return all_of(first, second, third, [number(scalar)] * len(first))

    def with_scalars(first, second, third, scalars):
        return all_of(first, second, third, scalars_of(scalars, first))

    dtypes = "float int32" if name == "Addcmul" else "float"
    registered(f"Foreach{name}Scalar", f"y[i] = x1[i] + scalar * x2[i] {word} x3[i]", with_scalar,
               inputs="x1* x2* x3* scalar~:number", dtypes=dtypes)
    for form in ("List", "ScalarList"):
        registered(f"Foreach{name}{form}", f"y[i] = x1[i] + scalars[i] * x2[i] {word} x3[i]", with_scalars,
                   inputs="x1* x2* x3* scalars~:number", dtypes=dtypes)


register_pointwise("Addcmul", multiplied, "*")
register_pointwise("Addcdiv", divided, "/")


def interpolated(x, y, weight):
    size = np.abs(weight) * (np.abs(x) + np.abs(y)) + np.abs(x)
    return Value(x + weight * (y - x), magnitude=size, steps=2)


def lerp_scalar(left, right, weight):
    weight = float(number(weight))
    return [interpolated(x, y, weight) for x, y in zip(left, right)]


def lerp_list(left, right, weights):
    return [interpolated(x, y, weight) for x, y, weight in zip(left, right, weights)]


registered("ForeachLerpScalar", "y[i] = x1[i] + weight * (x2[i] - x1[i])", lerp_scalar, inputs="x1* x2* weight~:number")
registered("ForeachLerpList", "y[i] = x1[i] + weight[i] * (x2[i] - x1[i])", lerp_list, inputs="x1* x2* weight*|weights*|x3*")


def rounded(tensors, mode):
    """What the interface calls round modes: ties to even, towards minus infinity, plus infinity, zero, ties away from zero."""
    mode = int(number(mode))
    away = lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)  # noqa: E731
    modes = {1: np.rint, 2: np.floor, 3: np.ceil, 4: away, 5: np.trunc}
    if mode not in modes:
        raise Mismatch(f"the interface does not say what round mode {mode} is")
    return [Value(modes[mode](x), exact=True) for x in tensors]


registered("ForeachRoundOffNumber", "y[i] = x[i] rounded to a whole number as roundMode says", rounded,
           inputs="x* roundMode|round_mode~:number")


def norms(tensors, order):
    order = float(number(order))
    results = []
    for x in tensors:
        flat = np.abs(x).reshape(-1)
        if order == 1.0:
            value = flat.sum()
        elif order == 2.0:
            value = np.sqrt((flat**2).sum())
        elif np.isposinf(order):
            value = flat.max(initial=0.0)
        else:
            raise Mismatch(f"norms of order {order} have no definition")
        results.append(Value(np.asarray(value).reshape(1), steps=2))
    return results


registered("ForeachNorm", "y[i] = the norm of x[i] of the order that scalar says", norms, inputs="x* scalar~:number")
