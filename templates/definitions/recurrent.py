"""Cells and layers of recurrent networks, and their gradients.

How far a state may be off grows from step to step: what one step rounds goes into the sums of the next one.
"""

import numpy as np

from core import REQUIRED, Mismatch, Value, define

# Bounds stay numbers that single precision holds. States are kept from running away by what follows them, whatever their weights.
MOST, MOST_OF_STATES = 1e30, 8.0


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def doubtful(value, doubt):
    return Value(value, magnitude=doubt, steps=2)


class Doubt:
    """A value with the sum of what its roundings were in proportion to."""

    def __init__(self, value, size):
        self.value = value
        self.size = np.minimum(size, MOST)

    def __add__(self, other):
        return Doubt(self.value + other.value, self.size + other.size)

    def __mul__(self, other):
        value = self.value * other.value
        return Doubt(value, self.size * np.abs(other.value) + np.abs(self.value) * other.size + np.abs(value))

    def times(self, matrix):
        return Doubt(self.value @ matrix, (self.size + np.abs(self.value)) @ np.abs(matrix))

    def gate(self):
        value = sigmoid(self.value)
        return Doubt(value, 0.25 * self.size + value)

    def tanh(self):
        value = np.tanh(self.value)
        return Doubt(value, self.size * (1.0 - value * value) + np.abs(value))

    def state(self):
        """What goes on to the next step."""
        return Doubt(self.value, np.minimum(self.size, MOST_OF_STATES * (1.0 + np.abs(self.value))))

    def rest(self):
        """One less this."""
        return Doubt(1.0 - self.value, self.size + 1.0)

    def tanh_slope(self):
        """Of the tanh that has this value."""
        return (self * self).rest()

    def result(self):
        return doubtful(self.value, self.size)


def given(array):
    return Doubt(array, np.zeros(array.shape))


def term(array):
    """A term of a sum, which the sum's roundings are in proportion to."""
    return Doubt(array, np.abs(array))


def biased(total, bias):
    return total if bias is None else total + term(bias.reshape(1, -1))


def cell(gates, before):
    """One step of an LSTM: gates i, j, f and o before their activations, the cell's state; what comes of them by name."""
    i, j, f, o = gates[0].gate(), gates[1].tanh(), gates[2].gate(), gates[3].gate()
    c = (f * before + i * j).state()
    tanhc = c.tanh()
    return {"i": i, "j": j, "f": f, "o": o, "c": c, "tanhc": tanhc, "h": (o * tanhc).state()}


@define("ThnnFusedLstmCell", inputs="inputGates hiddenGates cx inputBias? hiddenBias?", outputs="hy cy storage")
def lstm_cell(input_gates, hidden_gates, cx, input_bias, hidden_bias):
    """cy = f * cx + i * g, hy = o * tanh(cy), storage = [i, f, g, o] = activations of inputGates + hiddenGates + biases"""
    if input_gates.ndim != 2 or input_gates.shape != hidden_gates.shape or input_gates.shape[1] != 4 * cx.shape[-1]:
        raise Mismatch(f"gates of {list(input_gates.shape)} for cells of {list(cx.shape)}")
    i, f, g, o = parts(biased(biased(term(input_gates) + term(hidden_gates), input_bias), hidden_bias), 4)
    step = cell((i, g, f, o), given(cx))
    storage = joined([step["i"], step["f"], step["j"], step["o"]])
    return step["h"].result(), step["c"].result(), storage.result()


def parts(doubt, count):
    if doubt.value.shape[-1] % count != 0:
        raise Mismatch(f"{count} parts of {doubt.value.shape[-1]}")
    return [Doubt(*pair) for pair in zip(np.split(doubt.value, count, axis=-1), np.split(doubt.size, count, axis=-1))]


def joined(doubts, axis=-1):
    return Doubt(np.concatenate([one.value for one in doubts], axis), np.concatenate([one.size for one in doubts], axis))


def stacked(doubts):
    return Doubt(np.stack([one.value for one in doubts]), np.stack([one.size for one in doubts]))


@define("ThnnFusedLstmCellGrad", inputs="dhy dc cx cy storage", outputs="dgates dc_prev db", attributes={"has_bias": False})
def lstm_cell_gradient(dhy, dc, cx, cy, storage, has_bias):
    """dc_prev = f * (dc + dhy * o * (1 - tanh(cy)^2)); dgates = gradients of i, f, g and o before their activations; db = their sums"""
    i, f, g, o = parts(given(storage), 4)
    tanhc = given(cy).tanh()
    total = given(dhy) * o * tanhc.tanh_slope() + term(dc)
    gates = joined([total * g * i * i.rest(), total * given(cx) * f * f.rest(), total * i * g.tanh_slope(),
                    given(dhy) * tanhc * o * o.rest()])
    sums = Doubt(gates.value.sum(axis=0), (gates.size + np.abs(gates.value)).sum(axis=0))
    return gates.result(), (total * f).result(), sums.result() if has_bias else None


# LSTM layers.

ORDERS = {"ijfo": (0, 1, 2, 3), "ifjo": (0, 2, 1, 3)}
LAYER = {"cell_type": "LSTM", "direction": "UNIDIRECTIONAL", "cell_depth": 1, "use_peephole": False, "keep_prob": 1.0, "cell_clip": -1.0,
         "num_proj": 0, "time_major": True, "activation": "tanh", "forget_bias": 0.0, "is_training": True}
STATES = "y output_h output_c i j f o tanhc"


def must_be_plain(attributes, defaults, free=()):
    """Only what the defaults say has a definition."""
    for name, value in defaults.items():
        if name not in free and attributes.get(name, value) != value:
            raise Mismatch(f"{name} {attributes[name]} has no definition")


def initial(state, batch, hidden):
    if state is None:
        return given(np.zeros((batch, hidden)))
    if state.size != batch * hidden:
        raise Mismatch(f"an initial state of {list(state.shape)}")
    return given(state.reshape(batch, hidden))


def lstm_layer(x, weight_input, weight_hidden, bias, init_h, init_c, gate_order, is_training):
    """All states of a layer, step by step."""
    hidden = weight_hidden.shape[0]
    if gate_order not in ORDERS or x.ndim != 3 or weight_input.shape != (x.shape[2], 4 * hidden) or weight_hidden.shape[1] != 4 * hidden:
        raise Mismatch(f"weights of {list(weight_input.shape)} and {list(weight_hidden.shape)} for {list(x.shape)}")
    h, c = initial(init_h, x.shape[1], hidden), initial(init_c, x.shape[1], hidden)
    steps = []
    for at in range(x.shape[0]):
        total = given(x[at]).times(weight_input) + h.times(weight_hidden)
        gates = parts(biased(total, bias), 4)
        steps.append(cell([gates[place] for place in ORDERS[gate_order]], c))
        h, c = steps[-1]["h"], steps[-1]["c"]
    found = {name: stacked([step[name] for step in steps]).result() for name in steps[0]}
    same = Value(found["h"].array, magnitude=found["h"].magnitude, steps=2)
    # What the gates were is kept for training only.
    kept = [found[name] if is_training else None for name in ("i", "j", "f", "o", "tanhc")]
    return (found["h"], same, found["c"], *kept)


@define("DynamicRNN", inputs="x w b init_h? init_c?", outputs=STATES, dtypes="float16 float32",
        attributes={**LAYER, "gate_order": REQUIRED})
def lstm(x, w, b, init_h, init_c, gate_order, **attributes):
    """c = f * c + i * j, h = o * tanh(c) for each step; i, f, o = sigmoids, j = tanh of parts of [x, h] * w + b in gate_order"""
    must_be_plain(attributes, LAYER, ("is_training",))
    inputs = x.shape[-1]
    if w.ndim != 2 or w.shape[0] <= inputs:
        raise Mismatch(f"weights of {list(w.shape)} for {list(x.shape)}")
    return lstm_layer(x, w[:inputs], w[inputs:], b, init_h, init_c, gate_order, attributes["is_training"])


SECOND = {"recurrent_activation": "sigmoid", "stateful": False, "merge_mode": "concat"}


@define("DynamicRNNV2", inputs="x weight_input weight_hidden b? init_h? init_c?", outputs=STATES, dtypes="float16 float32",
        attributes={**LAYER, **SECOND, "gate_order": REQUIRED})
def lstm_v2(x, weight_input, weight_hidden, b, init_h, init_c, gate_order, **attributes):
    """c = f * c + i * j, h = o * tanh(c) for each step; i, j, f, o of x * weight_input + h * weight_hidden + b in gate_order"""
    must_be_plain(attributes, {**LAYER, **SECOND}, ("is_training",))
    return lstm_layer(x, weight_input, weight_hidden, b, init_h, init_c, gate_order, attributes["is_training"])


@define("SingleLayerLstmGrad",
        inputs="x w b? y? init_h init_c h c dy dh dc i j f o tanhct", outputs="dw db dx dh_prev dc_prev", dtypes="float16 float32",
        attributes={"direction": "UNIDIRECTIONAL", "gate_order": "ijfo"})
def lstm_gradient(x, w, b, y, init_h, init_c, h, c, dy, dh, dc, i, j, f, o, tanhc, direction, gate_order):
    """gradients of an LSTM layer: of its weights [4H, I + H], biases, inputs and initial states, from the last step to the first"""
    steps, batch, hidden = h.shape if h.ndim == 3 else (0, 0, 0)
    if direction != "UNIDIRECTIONAL" or gate_order not in ORDERS or x.ndim != 3 or w.shape != (4 * hidden, x.shape[2] + hidden):
        raise Mismatch(f"weights of {list(w.shape)} for {list(x.shape)} in the direction {direction}")
    grad_h, grad_c = (initial(one, batch, hidden) for one in (dh, dc))
    slopes, inputs = [None] * steps, [None] * steps
    for at in reversed(range(steps)):
        before_h, before_c = (h[at - 1], c[at - 1]) if at else (one.reshape(batch, hidden) for one in (init_h, init_c))
        gates = [given(one[at]) for one in (i, j, f, o, tanhc)]
        grad_h = grad_h + term(dy[at])
        slope, grad_c = cell_slopes(grad_h, grad_c, gates, given(before_c))
        slopes[at] = joined([slope[place] for place in ORDERS[gate_order]])
        inputs[at] = np.concatenate([x[at], before_h], axis=-1)
        grad_h = parts_of(slopes[at].times(w), x.shape[2])[1]
    whole, columns = joined(slopes, 0), np.concatenate(inputs, 0)
    dw = Doubt(whole.value.T @ columns, (whole.size + np.abs(whole.value)).T @ np.abs(columns))
    db = Doubt(whole.value.sum(axis=0), (whole.size + np.abs(whole.value)).sum(axis=0))
    dx = parts_of(stacked(slopes).times(w), x.shape[2])[0]
    shape = (1, batch, hidden)
    last = (Doubt(one.value.reshape(shape), one.size.reshape(shape)).result() for one in (grad_h, grad_c))
    return dw.result(), db.result(), dx.result(), *last


def cell_slopes(grad_h, grad_c, gates, before):
    """Gradients of the gates i, j, f and o before their activations, and of the state before."""
    i, j, f, o, tanhc = gates
    grad_c = grad_h * o * tanhc.tanh_slope() + grad_c
    slopes = (grad_c * j * i * i.rest(), grad_c * i * j.tanh_slope(), grad_c * before * f * f.rest(), grad_h * tanhc * o * o.rest())
    return slopes, grad_c * f


def parts_of(doubt, first):
    """The first elements of rows, and the others."""
    return Doubt(doubt.value[..., :first], doubt.size[..., :first]), Doubt(doubt.value[..., first:], doubt.size[..., first:])


# GRU layers.


def by_columns(weight, hidden):
    """Weights of [inputs, 3H], whichever way they are given."""
    if weight.ndim != 2 or (weight.shape[0] == 3 * hidden) == (weight.shape[1] == 3 * hidden):
        raise Mismatch(f"weights of {list(weight.shape)} for {hidden} states")
    return weight if weight.shape[1] == 3 * hidden else weight.T


def states_of(weight_hidden):
    """How many states a layer has, by its weights of [H, 3H] or [3H, H]."""
    small, large = sorted(weight_hidden.shape)
    if weight_hidden.ndim != 2 or large != 3 * small:
        raise Mismatch(f"weights of {list(weight_hidden.shape)}")
    return small


@define("Gru", inputs="x wi wh bi? bh? init_h?", outputs="y output_h r z n n_h", dtypes="float16 float32",
        attributes={"direction": "UNIDIRECTIONAL", "is_training": True})
def gru(x, wi, wh, bi, bh, init_h, direction, is_training, call):
    """h = (1 - z) * n + z * h for each step, r, z = sigmoids of x * wi + bi + h * wh + bh, n = tanh(x * wi + bi + r * (h * wh + bh))"""
    hidden = states_of(wh)
    wi, wh = by_columns(wi, hidden), by_columns(wh, hidden)
    if direction != "UNIDIRECTIONAL" or x.ndim != 3 or wi.shape[0] != x.shape[2]:
        raise Mismatch(f"weights of {list(wi.shape)} for {list(x.shape)} in the direction {direction}")
    h, steps = initial(init_h, x.shape[1], hidden), []
    for at in range(x.shape[0]):
        (ri, zi, ni), (rh, zh, n_h) = parts(biased(given(x[at]).times(wi), bi), 3), parts(biased(h.times(wh), bh), 3)
        r, z = (ri + rh).gate(), (zi + zh).gate()
        n = (ni + r * n_h).tanh()
        h = (z.rest() * n + z * h).state()
        steps.append((h, r, z, n, n_h))
    found = [stacked(list(one)).result() for one in zip(*steps)]
    last = Value(h.value[None], magnitude=h.size[None], steps=2)
    # The states of all steps where there is room for them, else the last one.
    shape = call["outputs"][1]["shape"]
    if shape is not None and np.prod(shape) == found[0].array.size:
        last = Value(found[0].array, magnitude=found[0].magnitude, steps=2)
    return (found[0], None if shape is None else last, *(one if is_training else None for one in found[1:]))


@define("GruGrad",
        inputs="x wi|w_input wh|w_hidden init_h output_h r|reset_gate z|update_gate n|new_gate n_h|h_n dy dh",
        outputs="dx dh_prev dwi|dw_input dwh|dw_hidden dbi|db_input dbh|db_hidden", dtypes="float16 float32",
        attributes={"direction": "UNIDIRECTIONAL", "has_bias": True, "batch_first": False}, ignored="is_training")
def gru_gradient(x, wi, wh, init_h, output_h, r, z, n, n_h, dy, dh, direction, has_bias, batch_first):
    """gradients of a GRU layer: of its inputs, initial state, weights and biases, from the last step to the first"""
    hidden = states_of(wh)
    turned = [one.shape[1] != 3 * hidden for one in (wi, wh)]
    wi, wh = by_columns(wi, hidden), by_columns(wh, hidden)
    if direction != "UNIDIRECTIONAL" or batch_first or x.ndim != 3 or output_h.shape != (*x.shape[:2], hidden):
        raise Mismatch(f"states of {list(output_h.shape)} for {list(x.shape)} in the direction {direction}")
    steps, batch = x.shape[:2]
    grad, outer, inner = initial(dh, batch, hidden), [None] * steps, [None] * steps
    before = np.concatenate([init_h.reshape(1, batch, hidden), output_h[:-1]])
    for at in reversed(range(steps)):
        reset, update, new, new_h = (given(one[at]) for one in (r, z, n, n_h))
        grad = grad + term(dy[at])
        drop = grad * update.rest() * new.tanh_slope()
        shared = [drop * new_h * reset * reset.rest(), grad * difference(before[at], n[at]) * update * update.rest()]
        outer[at], inner[at] = joined([*shared, drop]), joined([*shared, drop * reset])
        grad = grad * update + inner[at].times(wh.T)
    results = [stacked(outer).times(wi.T), Doubt(grad.value[None], grad.size[None])]
    for gates, rows, is_turned in ((outer, x, turned[0]), (inner, before, turned[1])):
        whole = joined(gates, 0)
        columns = rows.reshape(-1, rows.shape[-1])
        weight = Doubt(columns.T @ whole.value, np.abs(columns).T @ (whole.size + np.abs(whole.value)))
        results.append(Doubt(weight.value.T, weight.size.T) if is_turned else weight)
    biases = [Doubt(one.value.sum(axis=0), (one.size + np.abs(one.value)).sum(axis=0)) for one in (joined(outer, 0), joined(inner, 0))]
    return tuple(one.result() for one in results) + tuple(one.result() if has_bias else None for one in biases)


def difference(left, right):
    return Doubt(left - right, np.abs(left) + np.abs(right))
