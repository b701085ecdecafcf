"""Calls of products, windows, convolutions, attention and sampled images for `make_known.py`, told element by element in fractions."""

import itertools
import math
from fractions import Fraction as F

import exact
from calls import call, numbers, tensor
from exact import D, dec

DTYPES = ("float16", "bfloat16", "float32")
# Thirds, roots and exponentials are no binary numbers: a result may fall on the other side of the middle between two of a dtype.
CLOSE = {"ulps": 1}


class Array:
    """Values with a shape, by index."""

    def __init__(self, values, shape):
        self.values, self.shape = list(values), list(shape)

    def place(self, index):
        flat = 0
        for at, size in zip(index, self.shape):
            flat = flat * size + at
        return flat

    def __getitem__(self, index):
        return self.values[self.place(index)]

    def add(self, index, value):
        self.values[self.place(index)] += value

    def indices(self):
        return itertools.product(*(range(size) for size in self.shape))

    def turned(self, order):
        shape = [self.shape[axis] for axis in order]
        result = zeros(shape)
        for index in self.indices():
            result.add([index[axis] for axis in order], self[index])
        return result

    def tensor(self, dtype, **more):
        return tensor(self.values, dtype, self.shape, **more)


def zeros(shape):
    return Array([F(0)] * math.prod(shape), shape)


def some(dtype, shape, low=-4, high=4):
    return Array(numbers(dtype, math.prod(shape), low, high), shape)


def of(function, shape):
    result = zeros(shape)
    result.values = [function(index) for index in result.indices()]
    return result


def rounded(value, dtype="float32"):
    """The number of a dtype next to a decimal, as attributes and data hold it."""
    return exact.value_of(exact.bits_of(F(value), dtype), dtype)


def times(a, b):
    return of(lambda i: sum(a[i[0], k] * b[k, i[1]] for k in range(a.shape[1])), [a.shape[0], b.shape[1]])


def gelu(x):
    x = dec(x)
    return F(x / 2 * (1 + exact.tanh((2 / exact.PI).sqrt() * (x + D("0.044715") * x**3))))


def products(dtype):
    # Not so large that gelu makes nearly nothing of what is below zero.
    a, b, c, bias = some(dtype, [2, 3], -1, 1), some(dtype, [3, 2], -1, 1), some(dtype, [2, 2]), some(dtype, [2], -1, 1)
    plain = times(a, b)
    if dtype == "float32":
        turned = a.turned([1, 0])
        call("MatmulFp32", {"x1": turned.tensor(dtype), "x2": b.tensor(dtype), "bias": bias.tensor(dtype)},
             {"y": of(lambda i: plain[i] + bias[i[1:]], [2, 2]).tensor(dtype)}, {"transpose_x1": True, "transpose_x2": False})
        call("MatmulFp32", {"x1": a.tensor(dtype), "x2": b.tensor(dtype)}, {"y": plain.tensor(dtype)},
             {"transpose_x1": False, "transpose_x2": False})
    else:
        call("FusedMatmulGelu", {"x": a.tensor(dtype), "weight": b.turned([1, 0]).tensor(dtype), "bias": bias.tensor(dtype)},
             {"y": of(lambda i: gelu(plain[i] + bias[i[1:]]), [2, 2]).tensor(dtype, **CLOSE)}, {"approximate": 1})
        call("FusedMatmulGelu", {"x": a.tensor(dtype), "weight": b.turned([1, 0]).tensor(dtype)},
             {"y": of(lambda i: gelu(plain[i]), [2, 2]).tensor(dtype, **CLOSE)}, {"approximate": 1})
    scaled = {"alpha": 0.5, "beta": -2.0, "transpose_a": False, "transpose_b": True, "enable_hf32": False}
    call("GemmV3", {"a": a.tensor(dtype), "b": b.turned([1, 0]).tensor(dtype), "c": c.tensor(dtype)},
         {"y": of(lambda i: plain[i] / 2 - 2 * c[i], [2, 2]).tensor("float32")}, scaled)
    call("GemmV3", {"a": a.tensor(dtype), "b": b.turned([1, 0]).tensor(dtype)}, {"y": of(lambda i: plain[i] / 2, [2, 2]).tensor(dtype)}, scaled)
    x1, x2 = some(dtype, [2, 3, 2]), some(dtype, [2, 2, 2])

    def right(m, batch, n):
        return sum(x1[batch, m, k] * x2[batch, k, n] for k in range(2))

    orders = {"perm_x1": [0, 1, 2], "perm_x2": [0, 1, 2], "perm_y": [1, 0, 2], "batch_split_factor": 1}
    y = of(lambda i: right(*i), [3, 2, 2]).tensor(dtype)
    call("TransposeBatchMatMul", {"x1": x1.tensor(dtype), "x2": x2.tensor(dtype)}, {"y": y}, orders)
    call("TransposeBatchMatMul", {"x1": x1.turned([1, 0, 2]).tensor(dtype), "x2": x2.tensor(dtype)}, {"y": y}, {**orders, "perm_x1": [1, 0, 2]})
    call("TransposeBatchMatMul", {"x1": x1.tensor(dtype), "x2": x2.tensor(dtype)},
         {"y": of(lambda i: right(i[1], i[0], i[2]), [2, 3, 2]).tensor(dtype)}, {**orders, "batch_split_factor": 2})
    call("AddMatMatElements", {"a": a.tensor(dtype), "b": a.tensor(dtype), "c": a.tensor(dtype)},
         {"c_out": of(lambda i: a[i] / 4 - a[i] ** 2 / 2, [2, 3]).tensor(dtype)}, {"alpha": -0.5, "beta": 0.25})
    # Layers of 3 to 2 and of 2 to 2, their matrices with the inputs in rows.
    second, biases = some(dtype, [2, 2], -1, 1), some("float32" if dtype == "bfloat16" else dtype, [4], -1, 1)
    hidden = of(lambda i: gelu(plain[i] + biases[i[1:]]), [2, 2])
    last = times(hidden, second)
    call("FusedPatchMlp", {"x": a.tensor(dtype), "weights": tensor(b.values + second.values, dtype),
                           "biases": biases.tensor("float32" if dtype == "bfloat16" else dtype)},
         {"y": of(lambda i: last[i] + biases[i[1] + 2,], [2, 2]).tensor(dtype, **CLOSE)}, {"num_layers": 2})
    row, factors = some(dtype, [3]), numbers(dtype, 2, -2, 2)
    call("AddMatMatElementsPlus", {"c": a.tensor(dtype), "a": row.tensor(dtype), "b": a.tensor(dtype), "beta": tensor(factors[:1], dtype),
                                   "alpha": tensor(factors[1:], dtype)},
         {"c": of(lambda i: factors[0] * a[i] + factors[1] * row[i[1:]] * a[i], [2, 3]).tensor(dtype)})


def complex_products():
    parts = [some("float32", [2, 2, 2]) for _ in range(3)]

    def pairs(array):
        return tensor([(array[i, j, 0], array[i, j, 1]) for i in range(2) for j in range(2)], "complex64", [2, 2])

    def product(x, y):
        return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]

    def at(array, i, j):
        return array[i, j, 0], array[i, j, 1]

    x, y, bias = parts
    places = list(itertools.product(range(2), range(2)))
    call("ComplexMatDot", {"matx": pairs(x), "maty": pairs(y)},
         {"result": tensor([product(at(x, *one), at(y, *one)) for one in places], "complex64", [2, 2])}, {"m": 2, "n": 2})
    sums = [[sum(product(at(x, i, k), at(y, k, j))[part] for k in range(2)) for part in range(2)] for i, j in places]
    call("ComplexMatMul", {"x": pairs(x), "y": pairs(y)}, {"z": tensor(sums, "complex64", [2, 2])})
    added = [(one[0] + bias[i, j, 0], one[1] + bias[i, j, 1]) for one, (i, j) in zip(sums, places)]
    call("ComplexMatMul", {"x": pairs(x), "y": pairs(y), "bias": pairs(bias)}, {"z": tensor(added, "complex64", [2, 2])})


def matrices():
    lower = Array([F(2), F(0), F(0), F(-1), F(3, 2), F(0), F(1, 4), F(3), F(1, 2)], [3, 3])
    upper = lower.turned([1, 0])
    x = times(lower, upper)
    for is_upper, factor in ((False, lower), (True, upper)):
        call("Cholesky", {"self": x.tensor("float32")}, {"out": factor.tensor("float32")}, {"upper": is_upper})
    # Determinants 6, -5 and none.
    x = tensor([F(4), F(1), F(2), F(2), F(1), F(3), F(2), F(1), F(0), F(3), F(0), F(5)], "float32", [3, 2, 2])
    logarithms = [F(dec(6).ln()), F(dec(5).ln()), "-inf"]
    call("Slogdet", {"self": x}, {"signOut": tensor([1, -1, 0], "float32"), "logOut": tensor(logarithms, "float32", **CLOSE)})
    call("Logdet", {"self": x}, {"out": tensor([logarithms[0], "nan", "-inf"], "float32", **CLOSE)})
    row = numbers("float32", 5, -3, 3)
    for n in (4, 5):
        for norm, divisor in ((1, D(1)), (2, D(n)), (3, D(n).sqrt())):
            angles = [[2 * exact.PI * j * k / n for j in range(n)] for k in range(n // 2 + 1)]
            y = [sum(dec(v) * f(a) for v, a in zip(row, one)) / divisor
                 for one in angles for f in (lambda a: exact.cos(F(a)), lambda a: -exact.sin(F(a)))]
            y = [F(0) if abs(one) < D(10) ** -60 else F(one) for one in y]
            if n == 4 or norm == 3:
                # The imaginary parts of the ends are zero of either sign.
                call("Rfft1D", {"x": tensor(row[:n], "float32")}, {"y": tensor(y, "float32", [n // 2 + 1, 2], **CLOSE)}, {"n": n, "norm": norm})


def windows_of(size, kernel, stride, before, after, up, apart=1):
    """Elements of each window along a dimension, and how many it counts up to the end of the padding."""
    found = []
    start = -before
    while True:
        whole = start + (kernel - 1) * apart
        # Without rounding up a window must end in the padding; with it, begin before the padding after.
        if whole >= size + after and not (up and start < size and found and found[-1][2] < size + after - 1):
            break
        inside = [start + step * apart for step in range(kernel) if 0 <= start + step * apart < size]
        found.append((inside, min(whole + 1, size + after) - start, whole))
        start += stride
    return found


def pools(dtype):
    x = some(dtype, [1, 2, 4, 3])

    def maxima(image, rows):
        places = [list(itertools.product(*(one[0] for one in chosen))) for chosen in itertools.product(*rows)]
        shape = [1, 2] + [len(one) for one in rows]
        found = [max(inside, key=lambda at: image[(0, channel) + at]) for channel in range(2) for inside in places]
        size = len(places)
        return Array([image[(0, index // size) + at] for index, at in enumerate(found)], shape), found

    for up, pads in ((False, [1, 0, 0, 1]), (True, [0, 0, 1, 0])):
        rows = [windows_of(4, 3, 2, pads[0], pads[1], up), windows_of(3, 2, 2, pads[2], pads[3], up)]
        call("MaxPoolV3", {"x": x.tensor(dtype)}, {"y": maxima(x, rows)[0].tensor(dtype)},
             {"ksize": [1, 1, 3, 2], "strides": [1, 1, 2, 2], "pads": pads, "ceil_mode": up})
        dy = some(dtype, [1, 2] + [len(one) for one in rows])
        for padded, override in ((True, 0), (False, 0), (True, 5)):
            dx = zeros(x.shape)
            for channel, (at, row), (to, column) in itertools.product(range(2), enumerate(rows[0]), enumerate(rows[1])):
                divisor = override or (row[1] * column[1] if padded else len(row[0]) * len(column[0]))
                for i, j in itertools.product(row[0], column[0]):
                    dx.add((0, channel, i, j), dy[0, channel, at, to] / divisor)
            call("AveragePoolingGrad", {"orig_input_shape": tensor(x.shape, "int64"), "grad_output": dy.tensor(dtype)},
                 {"grad_input": dx.tensor(dtype, **CLOSE)},
                 {"kernel_h": 3, "kernel_w": 2, "stride_h": 2, "stride_w": 2, "pad_top": pads[0], "pad_bottom": pads[1], "pad_left": pads[2],
                  "pad_right": pads[3], "ceil_mode": up, "count_include_pad": padded, "divisor_override": override})
    rows = [windows_of(4, 2, 1, 1, 1, False, 2), windows_of(3, 2, 2, 0, 0, True)]
    y, found = maxima(x, rows)
    call("MaxPoolWithArgmaxV3", {"x": x.tensor(dtype)}, {"y": y.tensor(dtype), "argmax": tensor([3 * i + j for i, j in found], "int64", y.shape)},
         {"kernel_size": [2, 2], "strides": [1, 2], "pads": [1, 0], "dilations": [2, 1], "ceil_mode": True})
    x = some(dtype, [1, 2, 3, 2, 2])
    told = {"ksize": [2, 2, 1], "strides": [2, 1, 1], "dilation": [1, 1, 1]}
    # SAME makes ceil(3 / 2) and ceil(2 / 1) windows, with one of padding after; VALID makes one of each.
    for mode, pads, up, last in (("SAME", [0] * 6, 0, True), ("VALID", [0] * 6, 1, False), ("CALCULATED", [1, 0, 0, 1, 0, 0], 1, True)):
        both = [(0, 1), (0, 1)] if mode == "SAME" else [(0, 0), (0, 0)] if mode == "VALID" else [(1, 0), (0, 1)]
        up_here = mode == "CALCULATED"
        rows = [windows_of(3, 2, 2, *both[0], up_here), windows_of(2, 2, 1, *both[1], up_here), windows_of(2, 1, 1, 0, 0, False)]
        y = maxima(x, rows)[0]
        order = [0, 2, 3, 4, 1]
        five = {"ksize": [1, 2, 2, 1, 1], "strides": [1, 2, 1, 1, 1], "dilation": [1] * 5} if last else told
        call("MaxPool3D", {"x": (x.turned(order) if last else x).tensor(dtype)}, {"y": (y.turned(order) if last else y).tensor(dtype)},
             {**five, "padding": mode, "pads": pads, "ceil_mode": up, "data_format": "NDHWC" if last else "NCDHW"})
    values, grads = numbers(dtype, 4, -3, 3), numbers(dtype, 4, -3, 3)
    largest = [max(values[:2])] * 2 + [max(values[2:])] * 2
    call("MaxPoolingGrad", {"dy": tensor(grads, dtype), "x": tensor(values, dtype), "y": tensor(largest, dtype)},
         {"dx": tensor([dy if one == top else 0 for dy, one, top in zip(grads, values, largest)], dtype)})


def met(sizes, kernels, ends, strides, pads, apart):
    """Every place of the output, of the filter, and of the input that they meet at."""
    for to in itertools.product(*(range(end) for end in ends)):
        for at in itertools.product(*(range(kernel) for kernel in kernels)):
            place = tuple(t * s - p + k * d for t, s, p, k, d in zip(to, strides, pads, at, apart))
            if all(0 <= one < size for one, size in zip(place, sizes)):
                yield to, at, place


def convolutions(dtype):
    for count, groups, last in ((2, 2, False), (2, 1, False), (3, 2, False), (2, 1, True), (3, 1, True)):
        strides, before, after, apart = [2, 1, 1][:count], [1, 0, 0][:count], [0, 1, 0][:count], [1, 2, 1][:count]
        sizes, kernels = [3, 3, 1][:count], [2, 2, 1][:count]
        ends = [(size + b + a - d * (k - 1) - 1) // s + 1 for size, k, s, b, a, d in zip(sizes, kernels, strides, before, after, apart)]
        x, dy = some(dtype, [1, 2] + sizes), some(dtype, [1, 2] + ends)
        weights, bias = some(dtype, [2, 2 // groups] + kernels), some("float32", [2])
        y, dx, dw = zeros(dy.shape), zeros(x.shape), zeros(weights.shape)
        y.values = [bias[index[1:2]] for index in y.indices()]
        for to, at, place in met(sizes, kernels, ends, strides, before, apart):
            for output, channel in itertools.product(range(2), range(2 // groups)):
                source = channel + (output * (2 // groups) if groups == 2 else 0)
                y.add((0, output) + to, weights[(output, channel) + at] * x[(0, source) + place])
                dx.add((0, source) + place, weights[(output, channel) + at] * dy[(0, output) + to])
                dw.add((output, channel) + at, x[(0, source) + place] * dy[(0, output) + to])
        order = [0] + list(range(2, count + 2)) + [1]

        def told(array, last=last, order=order):
            return array.turned(order) if last else array

        def listed(values, last=last):
            return [1] + values + [1] if last else [1, 1] + values

        name = ("NHWC" if last else "NCHW") if count == 2 else "NDHWC" if last else "NCDHW"
        flat = [side for pair in zip(before, after) for side in pair]
        attributes = {"strides": listed(strides), "pads": flat, "dilations": listed(apart), "groups": groups, "data_format": name}
        first = {"format": "NCHW" if count == 2 else "NCDHW"}
        filters = weights.tensor(dtype, **first)
        call(f"Conv{count}DV2", {"x": told(x).tensor(dtype), "filter": filters, "bias": bias.tensor("float32")}, {"y": told(y).tensor(dtype)},
             attributes)
        call(f"Conv{count}DBackpropInputV2",
             {"input_size": tensor(told(x).shape, "int32"), "filter": filters, "out_backprop": told(dy).tensor(dtype)},
             {"y": told(dx).tensor(dtype)}, attributes)
        call(f"Conv{count}DTransposeV2", {"input_size": tensor(told(x).shape, "int64"), "x": told(dy).tensor(dtype), "filter": filters},
             {"y": told(dx).tensor(dtype)}, {**attributes, "output_padding": [0] * (count + 2), "offset_x": 0})
        if not last:
            call(f"Conv{count}DBackpropFilterV2",
                 {"x": x.tensor(dtype), "filter_size": tensor(weights.shape, "int32"), "out_backprop": dy.tensor(dtype)},
                 {"y": dw.tensor("float32")}, attributes)


def all_of():
    for dtype in DTYPES:
        products(dtype)
        pools(dtype)
        convolutions(dtype)
    complex_products()
    matrices()
