"""Calls of recurrent cells and layers for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, numbers, tensor
from exact import dec
from norm_calls import by_quotients

# Two steps, one batch of two inputs and two states.
INPUTS, HIDDEN = 2, 2


def sigmoid(value):
    return F(exact.sigmoid(dec(value)))


def tanh(value):
    return F(exact.tanh(dec(value)))


def times(row, matrix):
    """A row times a matrix of rows."""
    return [sum(a * line[at] for a, line in zip(row, matrix)) for at in range(len(matrix[0]))]


def plus(*rows):
    return [sum(values) for values in zip(*rows)]


def lines(values, width):
    return [values[start:start + width] for start in range(0, len(values), width)]


def turned(values, width):
    return [values[at] for start in range(width) for at in range(start, len(values), width)]


def lstm(x, weights, bias, h, c, order):
    """All states by name, the weights being lines of [x, h] times four parts."""
    found = {name: [] for name in ("h", "c", "i", "j", "f", "o", "tanhc")}
    for row in lines(x, INPUTS):
        total = plus(times(row + h, weights), bias)
        gates = {name: total[place * HIDDEN:(place + 1) * HIDDEN] for place, name in enumerate(order)}
        gates = {name: [(tanh if name == "j" else sigmoid)(v) for v in part] for name, part in gates.items()}
        c = [f * old + i * j for f, old, i, j in zip(gates["f"], c, gates["i"], gates["j"])]
        h = [o * tanh(v) for o, v in zip(gates["o"], c)]
        for name, part in {**gates, "c": c, "h": h, "tanhc": [tanh(v) for v in c]}.items():
            found[name] += part
    return found


def cells(dtype):
    """Two cells of one batch."""
    gates, hidden, cx = numbers(dtype, 8, -2, 2), numbers(dtype, 8, -2, 2), numbers(dtype, 2, -2, 2)
    biases = [numbers(dtype, 8, -1, 1) for _ in range(2)]
    total = plus(gates, hidden, *biases)
    i, f, g, o = ([(tanh if place == 2 else sigmoid)(v) for v in total[place * 2:place * 2 + 2]] for place in range(4))
    cy = [a * b + c * d for a, b, c, d in zip(f, cx, i, g)]

    def of(values, shape):
        return tensor(values, dtype, shape)

    call("ThnnFusedLstmCell", {"inputGates": of(gates, [1, 8]), "hiddenGates": of(hidden, [1, 8]), "cx": of(cx, [1, 2]),
                               "inputBias": of(biases[0], [8]), "hiddenBias": of(biases[1], [8])},
         {"hy": of([a * tanh(v) for a, v in zip(o, cy)], [1, 2]), "cy": of(cy, [1, 2]), "storage": of(i + f + g + o, [1, 8])})


def layers(dtype):
    x, weights = numbers(dtype, 4, -2, 2), numbers(dtype, 32, -1, 1)
    bias, h, c = numbers(dtype, 8, -1, 1), numbers(dtype, 2, -1, 1), numbers(dtype, 2, -1, 1)

    def of(values, shape, **more):
        return tensor(values, dtype, shape, **more)

    common = {"cell_type": "LSTM", "direction": "UNIDIRECTIONAL", "cell_depth": 1, "use_peephole": False, "keep_prob": 1.0, "cell_clip": -1.0,
              "num_proj": 0, "time_major": True, "activation": "tanh", "forget_bias": 0.0}
    states = [2, 1, HIDDEN]
    names = {"y": "h", "output_h": "h", "output_c": "c", "i": "i", "j": "j", "f": "f", "o": "o", "tanhc": "tanhc"}
    right = lstm(x, lines(weights, 8), bias, h, c, "ifjo")
    call("DynamicRNN", {"x": of(x, [2, 1, INPUTS]), "w": of(weights, [4, 8]), "b": of(bias, [8]), "init_h": of(h, [1, 1, 2]), "init_c": of(c, [1, 1, 2])},
         {name: of(right[key], states) for name, key in names.items()}, {**common, "gate_order": "ifjo", "is_training": True})
    right = lstm(x, lines(weights, 8), [0] * 8, [0, 0], [0, 0], "ijfo")
    call("DynamicRNNV2", {"x": of(x, [2, 1, INPUTS]), "weight_input": of(weights[:16], [2, 8]), "weight_hidden": of(weights[16:], [2, 8])},
         {name: of(right[key], states, silent=place > 2) for place, (name, key) in enumerate(names.items())},
         {**common, "recurrent_activation": "sigmoid", "stateful": False, "merge_mode": "concat", "gate_order": "ijfo", "is_training": False})


def gru_states(x, wi, wh, bi, bh, h):
    """All states by name."""
    found = {name: [] for name in ("h", "r", "z", "n", "n_h")}
    for row in lines(x, INPUTS):
        outer, inner = plus(times(row, wi), bi), plus(times(h, wh), bh)
        r, z = ([sigmoid(v) for v in plus(outer, inner)[place:place + HIDDEN]] for place in (0, HIDDEN))
        n_h = inner[2 * HIDDEN:]
        n = [tanh(a + b * c) for a, b, c in zip(outer[2 * HIDDEN:], r, n_h)]
        h = [(1 - a) * b + a * c for a, b, c in zip(z, n, h)]
        for name, part in (("h", h), ("r", r), ("z", z), ("n", n), ("n_h", n_h)):
            found[name] += part
    return found


def gru(dtype):
    x, wi, wh = numbers(dtype, 4, -2, 2), numbers(dtype, 12, -1, 1), numbers(dtype, 12, -1, 1)
    bi, bh, h = numbers(dtype, 6, -1, 1), numbers(dtype, 6, -1, 1), numbers(dtype, 2, -1, 1)

    def of(values, shape, **more):
        return tensor(values, dtype, shape, **more)

    states, attributes = [2, 1, HIDDEN], {"direction": "UNIDIRECTIONAL", "is_training": True}
    right = gru_states(x, lines(wi, 6), lines(wh, 6), bi, bh, h)
    gates = {name: of(right[name], states) for name in ("r", "z", "n", "n_h")}
    inputs = {"x": of(x, [2, 1, INPUTS]), "bi": of(bi, [6]), "bh": of(bh, [6]), "init_h": of(h, [1, 1, 2])}
    call("Gru", {**inputs, "wi": of(wi, [2, 6]), "wh": of(wh, [2, 6])},
         {"y": of(right["h"], states), "output_h": of(right["h"][2:], [1, 1, 2]), **gates}, attributes)
    call("Gru", {**inputs, "wi": of(turned(wi, 6), [6, 2]), "wh": of(turned(wh, 6), [6, 2])},
         {"y": of(right["h"], states), "output_h": of(right["h"], states), **{name: {**one, "silent": True} for name, one in gates.items()}},
         {**attributes, "is_training": False})


def gradients():
    """By difference quotients of what is made of the results; what was saved is rounded once."""
    dtype, near = "float32", 1024

    def of(values, shape, **more):
        return tensor(values, dtype, shape, **more)

    def slope(function, values, shape, places=None):
        found = by_quotients(function, values)
        return of(found if places is None else [found[at] for at in places], shape, ulps=near)

    gates, hidden, cx = numbers(dtype, 8, -2, 2), [F(0)] * 8, numbers(dtype, 2, -2, 2)
    dhy, dc = numbers(dtype, 2, -2, 2), numbers(dtype, 2, -2, 2)

    def step(total, before):
        i, f, g, o = ([(tanh if place == 2 else sigmoid)(v) for v in total[place * 2:place * 2 + 2]] for place in range(4))
        cy = [a * b + c * d for a, b, c, d in zip(f, before, i, g)]
        return i + f + g + o, cy, [a * tanh(v) for a, v in zip(o, cy)]

    def after(total, before):
        _, cy, hy = step(total, before)
        return sum(a * b for a, b in zip(dhy + dc, hy + cy))

    storage, cy, _ = step(plus(gates, hidden), cx)
    cell = {"dhy": of(dhy, [1, 2]), "dc": of(dc, [1, 2]), "cx": of(cx, [1, 2]), "cy": of(cy, [1, 2]), "storage": of(storage, [1, 8])}
    of_gates = slope(lambda v: after(v, cx), gates, [1, 8])
    call("ThnnFusedLstmCellGrad", cell, {"dgates": of_gates, "dc_prev": slope(lambda v: after(gates, v), cx, [1, 2]),
                                         "db": {**of_gates, "shape": [8]}}, {"has_bias": True})
    x, weights, bias = numbers(dtype, 4, -2, 2), numbers(dtype, 32, -1, 1), numbers(dtype, 8, -1, 1)
    h, c = numbers(dtype, 2, -1, 1), numbers(dtype, 2, -1, 1)
    dy, dh, dc = numbers(dtype, 4, -1, 1), numbers(dtype, 2, -1, 1), numbers(dtype, 2, -1, 1)
    states = [2, 1, HIDDEN]
    for order in ("ijfo", "ifjo"):
        def layer(x, weights, bias, h, c, order=order):
            right = lstm(x, lines(weights, 8), bias, h, c, order)
            return sum(a * b for a, b in zip(dy + dh + dc, right["h"] + right["h"][2:] + right["c"][2:]))

        right = lstm(x, lines(weights, 8), bias, h, c, order)
        saved = {name: of(right[key], states) for name, key in (("h", "h"), ("c", "c"))}
        gates = {name: of(right[key], states) for name, key in (("i", "i"), ("j", "j"), ("f", "f"), ("o", "o"), ("tanhct", "tanhc"))}
        rows = [at for start in range(8) for at in range(start, 32, 8)]
        call("SingleLayerLstmGrad",
             {"x": of(x, [2, 1, INPUTS]), "w": of(turned(weights, 8), [8, 4]), "b": of(bias, [8]), "init_h": of(h, [1, 1, 2]),
              "init_c": of(c, [1, 1, 2]), **saved, "dy": of(dy, states), "dh": of(dh, [1, 1, 2]), "dc": of(dc, [1, 1, 2]), **gates},
             {"dw": slope(lambda v: layer(x, v, bias, h, c), weights, [8, 4], rows),
              "db": slope(lambda v: layer(x, weights, v, h, c), bias, [8]), "dx": slope(lambda v: layer(v, weights, bias, h, c), x, [2, 1, 2]),
              "dh_prev": slope(lambda v: layer(x, weights, bias, v, c), h, [1, 1, 2]),
              "dc_prev": slope(lambda v: layer(x, weights, bias, h, v), c, [1, 1, 2])}, {"direction": "UNIDIRECTIONAL", "gate_order": order})
    wi, wh = weights[:12], weights[12:24]
    bi, bh = bias[:6], numbers(dtype, 6, -1, 1)

    def whole(x=x, wi=wi, wh=wh, bi=bi, bh=bh, h=h):
        right = gru_states(x, lines(wi, 6), lines(wh, 6), bi, bh, h)["h"]
        return sum(a * b for a, b in zip(dy + dh, right + right[2:]))

    right = gru_states(x, lines(wi, 6), lines(wh, 6), bi, bh, h)
    inputs = {"init_h": of(h, [1, 1, 2]), "output_h": of(right["h"], states), **{name: of(right[name], states) for name in ("r", "z", "n", "n_h")},
              "dy": of(dy, states), "dh": of(dh, [1, 1, 2])}
    result = {"dx": slope(lambda v: whole(x=v), x, [2, 1, 2]), "dh_prev": slope(lambda v: whole(h=v), h, [1, 1, 2])}
    biases = {"dbi": slope(lambda v: whole(bi=v), bi, [6]), "dbh": slope(lambda v: whole(bh=v), bh, [6])}
    attributes = {"direction": "UNIDIRECTIONAL", "has_bias": True, "batch_first": False}
    call("GruGrad", {"x": of(x, [2, 1, INPUTS]), "wi": of(wi, [2, 6]), "wh": of(wh, [2, 6]), **inputs},
         {**result, "dwi": slope(lambda v: whole(wi=v), wi, [2, 6]), "dwh": slope(lambda v: whole(wh=v), wh, [2, 6]), **biases}, attributes)
    rows = [at for start in range(6) for at in range(start, 12, 6)]
    call("GruGrad", {"x": of(x, [2, 1, INPUTS]), "wi": of(turned(wi, 6), [6, 2]), "wh": of(turned(wh, 6), [6, 2]), **inputs},
         {**result, "dwi": slope(lambda v: whole(wi=v), wi, [6, 2], rows), "dwh": slope(lambda v: whole(wh=v), wh, [6, 2], rows),
          **{name: {**one, "silent": True} for name, one in biases.items()}}, {**attributes, "has_bias": False})


def all_of():
    cells("float16")
    cells("float32")
    layers("float16")
    layers("float32")
    gru("float16")
    gru("float32")
    gradients()
