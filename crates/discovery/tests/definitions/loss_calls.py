"""Calls of losses and their gradients for `make_known.py`."""

from fractions import Fraction as F

import exact
from calls import call, mean, numbers, tensor
from exact import D, dec
from scalar_calls import CLOSE, held, slope, softplus

COUNT = 6


def reduced(values, reduction):
    return {"none": values, "sum": [sum(values)], "mean": [mean(values)]}[reduction]


def losses(dtype):
    x, y, dy = (numbers(dtype, COUNT, -3, 3) for _ in range(3))
    signs = [F(1 if at % 2 else -1) for at in range(COUNT)]
    two = F(2)

    def of(values, shape=None, other=dtype, **more):
        return tensor(values, other, shape, **more)

    pair = {"predict": of(x), "label": of(y)}

    def smooth(distance):
        return distance**2 / 4 if abs(distance) < 2 else abs(distance) - 1

    def soft_margin(a, t):
        return softplus(-t * a)

    for reduction in ("none", "sum", "mean"):
        share = F(1, COUNT) if reduction == "mean" else 1
        allowed = CLOSE if reduction == "mean" else {}

        def total(operator, inputs, function, attributes=None, reduction=reduction, lists=(x, y), allowed=allowed):
            values = [F(function(*one)) for one in zip(*lists)]
            call(operator, inputs, {"loss": of(reduced(values, reduction), **allowed)}, {**(attributes or {}), "reduction": reduction})

        def gradient(operator, inputs, values, attributes=None, reduction=reduction, share=share, allowed=allowed):
            call(operator, inputs, {"gradient": of([F(one) * share for one in values], **allowed)}, {**(attributes or {}), "reduction": reduction})

        total("SmoothL1LossV2", pair, lambda a, b: smooth(a - b), {"sigma": 2.0})
        gradient("SmoothL1LossGradV2", {**pair, "dout": of(dy)}, [g * min(max((a - b) / 2, F(-1)), F(1)) for a, b, g in zip(x, y, dy)],
                 {"sigma": 2.0})
        total("LpLoss", pair, lambda a, b: abs(a - b), {"p": 1})
        gradient("L1LossGrad", {"grads": of(dy), **pair}, [g * (1 if a > b else -1) for a, b, g in zip(x, y, dy)])
        total("HingeEmbeddingLoss", {"input": of(x), "target": of(signs)}, lambda a, t: a if t == 1 else max(two - a, F(0)), {"margin": 2.0},
              lists=(x, signs))
        number = {"none": 0, "mean": 1, "sum": 2}[reduction]
        values = [F(soft_margin(a, t)) for a, t in zip(x, y)]
        for name in (reduction, number):
            call("SoftMarginLoss", {"self": of(x), "target": of(y)}, {"output": of(reduced(values, reduction))}, {"reduction": name})
        gradient("SoftMarginLossGrad", {"x": of(x), "y": of(y), "grad_out": of(dy)},
                 [g * slope(lambda one, t=t: soft_margin(one, t), a) for a, t, g in zip(x, y, dy)])
        chances = [abs(t) for t in y]
        for logarithms in (False, True):
            weights = [F(exact.exp(t)) if logarithms else t for t in chances]
            gradient("KlDivLossGrad", {"grad": of(dy), "input": of(x), "target": of(chances)}, [-w * g for w, g in zip(weights, dy)],
                     {"log_target": logarithms})
        gaussian(dtype, reduction)
        cross_entropies(dtype, reduction, x, chances, dy, share)
        likelihoods(dtype, reduction, x, dy)
    call("KlDivLossGrad", {"grad": of(dy, [2, 3]), "input": of(x, [2, 3]), "target": of(chances, [2, 3])},
         {"y": of([-t * g / 2 for t, g in zip(chances, dy)], [2, 3])}, {"reduction": "batchmean", "log_target": False})
    call("SmoothL1LossGrad", {**pair, "dout": of(dy)},
         {"gradient": of([g * min(max((a - b) / 2, F(-1)), F(1)) for a, b, g in zip(x, y, dy)])}, {"sigma": 2.0})
    call("L2Loss", {"x": of(x)}, {"y": of([sum(a * a for a in x) / 2])})
    huber = {"predictions": of(x), "targets": of(y)}
    distances = [a - b for a, b in zip(x, y)]
    call("HuberLoss", huber, {"loss": of([d * d / 2 if abs(d) <= 2 else 2 * (abs(d) - 1) for d in distances])}, {"delta": 2.0})
    call("HuberLossGrad", huber, {"grad_output": of([min(max(d, -two), two) for d in distances])}, {"delta": 2.0})
    hinge = {"predict": of(x), "target": of(y)}
    call("HingeLoss", hinge, {"loss": of([max(1 - a * t, F(0)) for a, t in zip(x, y)])})
    call("HingeLossGrad", {**hinge, "grad_output": of(dy)}, {"grad_input": of([-t * g if a * t < 1 else 0 for a, t, g in zip(x, y, dy)])})


def gaussian(dtype, reduction):
    x, target, dy = (numbers(dtype, 6, -3, 3) for _ in range(3))
    shapes = (([2, 3], 6), ([2, 1], 2), ([2], 2), ([1], 1)) if reduction == "none" else (([2, 1], 2),)
    for shape, count in shapes:
        var = numbers(dtype, count, 0.2, 3)
        var[-1] = min(var[-1], F(1, 8))

        def of_element(at, var=var, count=count):
            return max(var[at * count // 6], F(1, 4))

        for full in (False, True):
            loss = []
            for at, (a, t) in enumerate(zip(x, target)):
                v = of_element(at)
                loss.append(F(dec(v).ln()) / 2 + (a - t) ** 2 / v / 2 + (F((2 * exact.PI).ln()) / 2 if full else 0))
            inputs = {"input": tensor(x, dtype, [2, 3]), "target": tensor(target, dtype, [2, 3]), "var": tensor(var, dtype, shape)}
            attributes = {"full": full, "eps": 0.25, "reduction": reduction}
            right = reduced(loss, reduction)
            call("GaussianNllLoss", inputs, {"loss": tensor(right, dtype, [2, 3] if reduction == "none" else [1], **CLOSE)}, attributes)
        given = dy if reduction == "none" else dy[:1]
        share = F(1, 6) if reduction == "mean" else 1
        by_input, by_var = [], [F(0)] * count
        for at, (a, t) in enumerate(zip(x, target)):
            g, v = given[at % len(given)] * share, of_element(at)
            by_input.append(g * (a - t) / v)
            by_var[at * count // 6] += g * (1 / v - (a - t) ** 2 / v**2) / 2
        call("GaussianNllLossGrad", {"gradOutput": tensor(given, dtype, [2, 3] if reduction == "none" else [1]), **inputs},
             {"gradInput": tensor(by_input, dtype, [2, 3], **CLOSE), "gradVar": tensor(by_var, dtype, shape, ulps=2)}, attributes)


def cross_entropies(dtype, reduction, x, target, dy, share):
    """Of sigmoids, with and without weights."""
    weight, positive = numbers(dtype, len(x), 0.2, 3), numbers(dtype, len(x), 0.2, 3)
    target = [t / 4 for t in target]
    pair = {"predict": tensor(x, dtype), "target": tensor(target, dtype)}
    grads = tensor(dy, dtype)

    def loss(a, t, p):
        return (1 - t) * a + (1 + (p - 1) * t) * F(softplus(-a))

    for weighted in (False, True):
        ws, ps = (weight, positive) if weighted else ([F(1)] * len(x), [F(1)] * len(x))
        more = {"weight": tensor(weight, dtype), "pos_weight": tensor(positive, dtype)} if weighted else {}
        values = [w * loss(a, t, p) for a, t, w, p in zip(x, target, ws, ps)]
        call("SigmoidCrossEntropyWithLogitsV2", {**pair, **more}, {"loss": tensor(reduced(values, reduction), dtype, **CLOSE)},
             {"reduction": reduction})
        slopes_of = [g * w * slope(lambda one, t=t, p=p: loss(one, t, p), a) * share for a, t, g, w, p in zip(x, target, dy, ws, ps)]
        call("SigmoidCrossEntropyWithLogitsGradV2", {**pair, "dout": grads, **more}, {"gradient": tensor(slopes_of, dtype, **CLOSE)},
             {"reduction": reduction})
        if reduction == "none":
            call("SigmoidCrossEntropyWithLogitsV2", {**pair, **more}, {"loss": tensor(values, "float32")})
        if reduction == "none" and not weighted:
            call("SigmoidCrossEntropyWithLogits", pair, {"loss": tensor(values, dtype)})
            call("SigmoidCrossEntropyWithLogitsGrad", {**pair, "dout": grads}, {"gradient": tensor(slopes_of, dtype)})


def likelihoods(dtype, reduction, x, dy):
    """Of three rows of two classes, the second of which does not count."""
    x, targets, weight = x[:6], [1, -100, 0], numbers(dtype, 2, 0.2, 3)
    for weighted in (True, False):
        weights = [weight[t] if weighted else F(1) for t in (1, 0)]
        terms = [-weights[0] * x[1], F(0), -weights[1] * x[4]]
        total = sum(weights)
        right = {"none": terms, "sum": [sum(terms)], "mean": [sum(terms) / total]}[reduction]
        more = {"weight": tensor(weight, dtype)} if weighted else {}
        call("NllLoss", {"x": tensor(x, dtype, [3, 2]), "target": tensor(targets, "int32"), **more},
             {"y": tensor(right, dtype, **CLOSE), "total_weight": tensor([total], dtype, silent=reduction == "none")},
             {"reduction": reduction, "ignore_index": -100})
    given = dy[:3] if reduction == "none" else dy[:1] * 3
    held_total = held([sum(weight)], dtype)[0]
    share = 1 / held_total if reduction == "mean" else 1
    right = [0, -given[0] * weight[1] * share, 0, 0, -given[2] * weight[0] * share, 0]
    shown = given if reduction == "none" else given[:1]
    call("NllLossGrad", {"x": tensor(x, dtype, [3, 2]), "y_grad": tensor(shown, dtype), "target": tensor(targets, "int64"),
                         "weight": tensor(weight, dtype), "total_weight": tensor([held_total], dtype)},
         {"x_grad": tensor(right, dtype, [3, 2], **CLOSE)}, {"reduction": reduction, "ignore_index": -100})
    logs = held([F(-1), F(-1, 2), F(-3), F(-1, 16), F(-3, 4), F(-5, 8)], dtype)
    single = numbers("float32", 2, 0.2, 3)
    soft = [F(exact.exp(one)) for one in logs]
    for weighted in (True, False):
        weights = [single[1], F(0), single[0]] if weighted else [F(1), F(0), F(1)]
        factors = [g * w / (sum(weights) if reduction == "mean" else 1) for g, w in zip(given, weights)]
        right = [factors[at // 2] * (p - (at in (1, 4))) for at, p in enumerate(soft)]
        call("CrossEntropyLossGrad", {"grad_loss": tensor(shown, dtype), "log_prob": tensor(logs, dtype, [3, 2]),
                                      "target": tensor(targets, "int64"), **({"weight": tensor(single, "float32")} if weighted else {})},
             {"x_grad": tensor(right, dtype, [3, 2], **CLOSE)},
             {"reduction": reduction, "ignore_index": -100, "label_smoothing": 0.0, "lse_square_scale_for_zloss": 0.0})
    powers = [exact.exp(one) for one in x]
    sums = [sum(powers[at:at + 3]) for at in (0, 3)]
    if reduction == "none":
        call("CrossEntropyGrad", {"logits": tensor(x, dtype, [2, 3]), "target": tensor([2, 0], "int32")},
             {"grad_input": tensor([F(p / sums[at // 3]) - (at in (2, 3)) for at, p in enumerate(powers)], dtype, [2, 3])})


def all_of():
    losses("float32")
    # A weight of single precision beside tensors that are not.
    for reduction in ("none", "mean"):
        likelihoods("float16", reduction, numbers("float16", COUNT, -3, 3), numbers("float16", COUNT, -3, 3))
