"""Calls of steps of optimisers, rotary embeddings and sorting for `make_known.py`."""

from fractions import Fraction as F

from calls import call, numbers, tensor
from exact import dec

DTYPES = ("float16", "bfloat16", "float32")
COUNT = 7


def root(value):
    return F(dec(value).sqrt())


def optimisers(dtype):
    var, m, grad, s = (numbers(dtype, COUNT, -2, 2) for _ in range(4))
    v, u = numbers(dtype, COUNT, 0.1, 3), numbers(dtype, COUNT, 0.1, 3)
    # All of these any dtype can hold.
    lr, beta1, beta2, epsilon, power1, power2, decay, momentum = (F(*one) for one in (
        (1, 16), (3, 4), (7, 8), (1, 64), (1, 2), (5, 8), (1, 32), (3, 8)))

    def of(values):
        return tensor(values, dtype, [1, COUNT])

    def number(value, other=dtype):
        return tensor([value], other)

    def step(operator, inputs, outputs, one, lists, attributes=None):
        """`one` gives the outputs of one element."""
        rows = list(zip(*(one(*values) for values in zip(*lists))))
        call(operator, inputs, {name: of(row) for name, row in zip(outputs, rows)}, attributes)

    def moments(m, v, grad):
        return beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * grad * grad

    powers = {"beta1_power": number(power1), "beta2_power": number(power2), "lr": number(lr)}
    betas = {"beta1": number(beta1), "beta2": number(beta2), "epsilon": number(epsilon), "grad": of(grad)}
    kept = {"var": of(var), "m": of(m), "v": of(v)}
    for nesterov in (False, True):
        def adam(var, m, v, grad, nesterov=nesterov):
            m, v = moments(m, v, grad)
            upper = beta1 * m + (1 - beta1) * grad if nesterov else m
            return var - lr * root(1 - power2) / (1 - power1) * upper / (root(v) + epsilon), m, v

        attributes = {"use_locking": False, "use_nesterov": nesterov}
        step("ApplyAdam", {**kept, **powers, **betas}, ["var"], adam, (var, m, v, grad), attributes)
        step("ApplyAdamD", {**kept, **powers, **betas}, ["var", "m", "v"], adam, (var, m, v, grad), attributes)
    for maximize in (False, True):
        def decoupled(of_first, of_second, maximize=maximize):
            def one(var, m, v, grad):
                m, v = moments(m, v, -grad if maximize else grad)
                return var - lr * (m / (1 - of_first) / (root(v / (1 - of_second)) + epsilon) + decay * var), m, v

            return one

        names, lists = ["var", "m", "v"], (var, m, v, grad)
        step("ApplyAdamW", {**kept, **powers, "weight_decay": number(decay), **betas}, names, decoupled(power1 * beta1, power2 * beta2),
             lists, {"amsgrad": False, "maximize": maximize})
        attributes = {"lr": float(lr), "beta1": float(beta1), "beta2": float(beta2), "weight_decay": float(decay), "eps": float(epsilon),
                      "amsgrad": False, "maximize": maximize}
        for count in (tensor([3], "int64"), tensor([3], "float32")):
            step("ApplyAdamWV2", {**kept, "grad": of(grad), "step": count}, names, decoupled(beta1**3, beta2**3), lists, attributes)
    keep = F(15, 16)
    for mode, corrected in ((0, True), (1, True), (1, False)):
        def averaged(grad, var, m, v, s, mode=mode, corrected=corrected):
            m, v = moments(m, v, grad + decay * var if mode == 0 else grad)
            first, second = (1 - beta1**2, 1 - beta2**2) if corrected else (1, 1)
            update = m / first / (root(v / second) + epsilon) + (decay * var if mode == 1 else 0)
            var = var - lr * update
            return var, m, v, keep * s + (1 - keep) * var

        step("ApplyFusedEmaAdam", {"grad": of(grad), **kept, "s": of(s), "step": tensor([2], "int64")}, ["var", "m", "v", "s"], averaged,
             (grad, var, m, v, s), {"lr": float(lr), "ema_decay": float(keep), "beta1": float(beta1), "beta2": float(beta2),
                                    "eps": float(epsilon), "mode": mode, "bias_correction": corrected, "weight_decay": float(decay)})
    inputs = {"var": of(var), "accum": of(m), "lr": number(lr), "grad": of(grad), "momentum": number(momentum)}
    keras = {**inputs, "lr": number(lr, "float32"), "momentum": number(momentum, "float32")}
    for nesterov in (False, True):
        def heavy(var, accum, grad, nesterov=nesterov):
            accum = accum * momentum + grad
            return var - lr * (grad + momentum * accum if nesterov else accum), accum

        def heavy_by_keras(var, accum, grad, nesterov=nesterov):
            accum = accum * momentum - lr * grad
            return var + (momentum * accum - lr * grad if nesterov else accum), accum

        attributes = {"use_nesterov": nesterov}
        for prefix, outputs in (("", ["var"]), ("Inplace", ["var", "accum"])):
            step(f"{prefix}ApplyMomentum", inputs, outputs, heavy, (var, m, grad), attributes)
            step(f"{prefix}ApplyKerasMomentum", keras, outputs, heavy_by_keras, (var, m, grad), attributes)
        first = [F(at % 2) for at in range(COUNT)]
        damping = F(1, 4)

        def descent(var, grad, accum, first, nesterov=nesterov):
            grad = grad + decay * var
            accum = momentum * accum + grad - damping * (1 - first) * grad
            return (var - lr * (grad + momentum * accum if nesterov else accum),)

        step("SGD", {"parameters": of(var), "gradient": of(grad), "learning_rate": number(lr), "accum": of(m), "momentum": number(momentum),
                     "stat": of(first)}, ["parameters"], descent, (var, grad, m, first),
             {"dampening": float(damping), "weight_decay": float(decay), "nesterov": nesterov})
    limit, ridge = F(3, 4), F(1, 8)
    small = [value / 16 for value in var]

    def follow(var, accum, linear, grad):
        total = accum + grad * grad
        linear = linear + grad - (root(total) - root(accum)) / lr * var
        quadratic = root(total) / lr + 2 * ridge
        if abs(linear) <= limit:
            return (F(0),)
        return (((limit if linear > 0 else -limit) - linear) / quadratic,)

    step("ApplyFtrl", {"var": of(small), "accum": of(v), "linear": of(m), "grad": of(grad), "lr": number(lr), "l1": number(limit),
                       "l2": number(ridge), "lr_power": number(F(-1, 2))}, ["var"], follow, (small, v, m, grad))

    def most(var, m, v, grad):
        m, v = beta1 * m + (1 - beta1) * grad, max(beta2 * v, abs(grad))
        return var - lr / (1 - power1) * m / (v + epsilon), m, v

    step("ApplyAdaMax", {**kept, "beta1_power": number(power1), "lr": number(lr), **betas}, ["var"], most, (var, m, v, grad),
         {"use_locking": False})
    step("ApplyAdamax", {**kept, "grad": of(grad)}, ["varOut", "mOut", "vOut"], most, (var, m, v, grad),
         {"beta1Power": float(power1), "lr": float(lr), "beta1": float(beta1), "beta2": float(beta2), "epsilon": float(epsilon)})
    step("ApplyGradientDescent", {"var": of(var), "alpha": number(lr), "delta": of(grad)}, ["var"], lambda w, g: (w - lr * g,), (var, grad))
    for slots in (True, False):
        def scaled(var, accum, grad, slots=slots):
            accum = accum + grad * grad if slots else accum
            return var - lr * grad / root(accum), accum

        inputs = {"var": of(var), "accum": of(v), "lr": number(lr), "grad": of(grad)}
        step("ApplyAdagrad", inputs, ["var"], scaled, (var, v, grad), {"update_slots": slots})
        step("ApplyAdagradD", inputs, ["var", "accum"], scaled, (var, v, grad), {"update_slots": slots})

    def by_root(var, square, moment, grad):
        square = beta2 * square + (1 - beta2) * grad * grad
        moment = momentum * moment + lr * grad / root(square + epsilon)
        return var - moment, square, moment

    inputs = {"var": of(var), "ms": of(v), "mom": of(m)}
    step("ApplyRMSProp", {**inputs, "lr": number(lr), "rho": number(beta2), "momentum": number(momentum), "epsilon": number(epsilon),
                          "grad": of(grad)}, ["var"], by_root, (var, v, m, grad))
    step("ApplyRmsProp", {**inputs, "grad": of(grad)}, ["var_out", "ms_out", "mom_out"], by_root, (var, v, m, grad),
         {"lr": float(lr), "rho": float(beta2), "momentum": float(momentum), "epsilon": float(epsilon)})

    def by_both(var, square, updates, grad):
        square = beta2 * square + (1 - beta2) * grad * grad
        update = grad * root(updates + epsilon) / root(square + epsilon)
        return var - lr * update, square, beta2 * updates + (1 - beta2) * update * update

    lists = (var, v, u, grad)
    step("ApplyAdadelta", {"var": of(var), "accum": of(v), "accum_update": of(u), "lr": number(lr), "rho": number(beta2),
                           "epsilon": number(epsilon), "grad": of(grad)}, ["var"], by_both, lists, {"use_locking": False})
    step("ApplyAdadelta", {"var": of(var), "accum": of(v), "accumUpdate": of(u), "grad": of(grad)},
         ["varOut", "accumOut", "accumUpdateOut"], by_both, lists, {"lr": float(lr), "rho": float(beta2), "epsilon": float(epsilon)})
    factors = [beta1, 1 - beta1, beta2, 1 - beta2]
    single = {"input0": of(grad), "input1": of(v), "input2": of(m), "input3": of(var), "input4": number(lr),
              **{f"mul{at}_x": number(factor) for at, factor in enumerate(factors)}}
    for suffix, share in (("", F(0)), ("WithDecay", decay)):
        def once(grad, v, m, var, share=share):
            m, v = moments(m, v, grad)
            return v, m, var - lr * (m / (root(v) + epsilon) + share * var)

        inputs = {**single, **({"mul4_x": number(share)} if share else {}), "add2_y": number(epsilon)}
        step(f"AdamApplyOne{suffix}", inputs, ["output0", "output1", "output2"], once, (grad, v, m, var))
        step(f"AdamApplyOne{suffix}Assign", inputs, ["input1", "input2", "input3"], once, (grad, v, m, var))


def turned(row, mode):
    """What a row's elements are multiplied by cosines as, and by sines."""
    size = len(row)
    if mode == 3:
        return row[::2] + row[1::2], [-one for one in row[1::2]] + row[::2]
    if mode == 1:
        return row, [part for at in range(0, size, 2) for part in (-row[at + 1], row[at])]
    if mode == 2:
        half = size // 2
        return row, turned(row[:half], 0)[1] + turned(row[half:], 0)[1]
    return row, [-one for one in row[size // 2:]] + row[:size // 2]


def rotations(dtype):
    heads, length = 3, 8
    rows = [numbers(dtype, length, -3, 3) for _ in range(2 * heads)]
    keys = [numbers(dtype, length, -3, 3) for _ in range(2)]
    cosines, sines = ([numbers(dtype, length, -1, 1) for _ in range(2)] for _ in range(2))
    shape, angles = [1, 2, heads, length], [1, 2, 1, length]

    def of(lists, sizes):
        return tensor([one for row in lists for one in row], dtype, sizes)

    def result(lists, count, mode):
        right = []
        for index, row in enumerate(lists):
            straight, across = turned(row, mode)
            at = index // count
            right.append([a * c + b * s for a, b, c, s in zip(straight, across, cosines[at], sines[at])])
        return right

    waves = {"cos": of(cosines, angles), "sin": of(sines, angles)}
    for mode in range(4):
        y = {"y": of(result(rows, heads, mode), shape)}
        call("RotaryPositionEmbedding", {"x": of(rows, shape), **waves}, y, {"mode": mode})
        # Each element's gradient: what it adds to each output where it alone is one.
        grads = rows[::-1]
        slopes, by_cosine, by_sine = [], [[F(0)] * length for _ in range(2)], [[F(0)] * length for _ in range(2)]
        for index, row in enumerate(rows):
            at = index // heads
            straight, across = turned(row, mode)
            for place, grad in enumerate(grads[index]):
                by_cosine[at][place] += grad * straight[place]
                by_sine[at][place] += grad * across[place]
            units = [turned([F(int(place == one)) for place in range(length)], mode) for one in range(length)]
            lists = (grads[index], cosines[at], sines[at])
            slopes.append([sum(grad * (a * c + b * s) for grad, c, s, a, b in zip(*lists, *unit)) for unit in units])
        call("RotaryPositionEmbeddingGrad", {"dy": of(grads, shape), **waves, "x": of(rows, shape)},
             {"dx": of(slopes, shape), "dcos": of(by_cosine, angles), "dsin": of(by_sine, angles)}, {"mode": mode})
    for mode, name in enumerate(("half", "interleave", "quarter")):
        call("ApplyRotaryPosEmb", {"query": of(rows, shape), "key": of(keys, [1, 2, 1, length]), **waves},
             {"query": of(result(rows, heads, mode), shape), "key": of(result(keys, 1, mode), [1, 2, 1, length])},
             {"layout": 1, "rotary_mode": name})
    call("RotaryMul", {"x": of(rows, shape), "r1": waves["cos"], "r2": waves["sin"]}, {"y": of(result(rows, heads, 0), shape)})
    call("InterleaveRope", {"x": of(rows, shape), **waves}, {"y": of(result(rows, heads, 3), shape)})


def orders(dtype):
    flat = numbers(dtype, 15, -9, 9)
    rows = [flat[:5], flat[5:10], flat[10:]]
    x = tensor(flat, dtype, [3, 5])
    for descending in (False, True):
        columns = [sorted(range(3), key=lambda at, column=column: rows[at][column], reverse=descending) for column in range(5)]
        call("Sort", {"x": x}, {"y1": tensor([rows[columns[column][at]][column] for at in range(3) for column in range(5)], dtype, [3, 5]),
                                "y2": tensor([columns[column][at] for at in range(3) for column in range(5)], "int32", [3, 5])},
             {"axis": 0, "descending": descending, "stable": False})
        found = [sorted(range(5), key=lambda at, row=row: row[at], reverse=descending)[:3] for row in rows]
        call("TopKV3", {"x": x, "k": tensor([3], "int32")},
             {"values": tensor([row[at] for row, order in zip(rows, found) for at in order], dtype, [3, 3]),
              "indices": tensor([at for order in found for at in order], "int32", [3, 3])},
             {"sorted": True, "dim": -1, "largest": descending})


def equals():
    """Equal elements keep their order where that is asked for."""
    call("Sort", {"x": tensor([3, 1, 3, 2, 1], "int32")}, {"y1": tensor([3, 3, 2, 1, 1], "int32"), "y2": tensor([0, 2, 3, 1, 4], "int32")},
         {"axis": -1, "descending": True, "stable": True})
    call("Sort", {"x": tensor([200, 7, 200, 0, 7], "uint8")},
         {"y1": tensor([0, 7, 7, 200, 200], "uint8"), "y2": tensor([3, 1, 4, 0, 2], "int64")},
         {"axis": 0, "descending": False, "stable": True})


def all_of():
    for dtype in DTYPES:
        optimisers(dtype)
        rotations(dtype)
        orders(dtype)
    equals()
