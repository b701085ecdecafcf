"""Losses of single elements and of classes, and their gradients; more are beside the sums in `reductions.py`."""

import math

import numpy as np

from activations import sigmoid
from arithmetic import near
from core import REQUIRED, Mismatch, Value, define


def reduced(loss, size, reduction, steps=3):
    """A loss element by element, its sum, or its mean; sizes are those of the terms."""
    if reduction == "none":
        return Value(loss, magnitude=size, steps=steps)
    if reduction not in ("sum", "mean"):
        raise Mismatch(f"the reduction {reduction} has no definition")
    count = loss.size if reduction == "mean" else 1
    size = np.abs(loss) + np.broadcast_to(size, loss.shape)
    return Value(np.reshape(loss.sum() / count, (1,)), magnitude=np.reshape(size.sum() / count, (1,)), steps=steps)


def share_of(reduction, count):
    """What a gradient is multiplied by."""
    if reduction not in ("none", "sum", "mean"):
        raise Mismatch(f"the reduction {reduction} has no definition")
    return 1.0 / count if reduction == "mean" else 1.0


def must_be_alike(first, *others):
    if any(one is not None and one.shape != first.shape for one in others):
        raise Mismatch("tensors have different shapes")


def must_be_positive(value, name):
    if value <= 0:
        raise Mismatch(f"{name} must be positive")


MEAN = {"reduction": "mean"}


@define("SmoothL1LossV2", inputs="predict label", attributes={"sigma": 1.0, **MEAN})
def smooth_l1_loss_v2(x, y, sigma, reduction):
    """loss = d^2 / (2 sigma) below sigma, d - sigma / 2 above, d = |predict - label|, reduced"""
    must_be_positive(sigma, "sigma")
    must_be_alike(x, y)
    distance = np.abs(x - y)
    loss = np.where(distance < sigma, 0.5 * distance**2 / sigma, distance - 0.5 * sigma)
    return reduced(loss, np.minimum(distance / sigma, 1.0) * (np.abs(x) + np.abs(y)), reduction)


def smooth_l1_slope(x, y, dout, sigma):
    must_be_positive(sigma, "sigma")
    must_be_alike(x, y)
    size = np.where(np.abs(x - y) < sigma, (np.abs(x) + np.abs(y)) / sigma, 1.0)
    return np.clip((x - y) / sigma, -1.0, 1.0) * dout, size * np.abs(dout)


@define("SmoothL1LossGrad", inputs="predict label dout", attributes={"sigma": 1.0})
def smooth_l1_gradient(x, y, dout, sigma):
    """gradient = dout * min(max((predict - label) / sigma, -1), 1)"""
    slope, size = smooth_l1_slope(x, y, dout, sigma)
    return Value(slope, magnitude=size, steps=3)


@define("SmoothL1LossGradV2", inputs="predict label dout", attributes={"sigma": REQUIRED, "reduction": REQUIRED})
def smooth_l1_gradient_v2(x, y, dout, sigma, reduction):
    """gradient = dout * min(max((predict - label) / sigma, -1), 1), divided by the number of elements for the mean"""
    slope, size = smooth_l1_slope(x, y, dout, sigma)
    share = share_of(reduction, x.size)
    return Value(slope * share, magnitude=size * share, steps=4)


@define("L1LossGrad", inputs="grads predict label", attributes=MEAN)
def l1_gradient(dy, x, y, reduction):
    """y = grads * the sign of predict - label, divided by the number of elements for the mean"""
    must_be_alike(x, y)
    share = share_of(reduction, x.size)
    return Value(dy * np.sign(x - y) * share, exact=share == 1.0, steps=2, unspecified=np.isnan(x - y))


@define("L2Loss")
def l2_loss(x):
    """y = the sum of x^2 / 2"""
    return np.reshape((x * x).sum() / 2.0, (1,))


@define("LpLoss", inputs="predict label", attributes={"p": REQUIRED, **MEAN})
def lp_loss(x, y, p, reduction):
    """y = |predict - label|, reduced"""
    if p != 1:
        raise Mismatch(f"p = {p} has no definition")
    must_be_alike(x, y)
    return reduced(np.abs(x - y), np.abs(x) + np.abs(y), reduction)


@define("HuberLoss", inputs="predictions targets", attributes={"delta": 1.0})
def huber_loss(x, y, delta):
    """loss = d^2 / 2 up to delta, delta * (d - delta / 2) above, d = |predictions - targets|"""
    must_be_positive(delta, "delta")
    distance = np.abs(x - y)
    loss = np.where(distance <= delta, 0.5 * distance**2, delta * (distance - 0.5 * delta))
    return Value(loss, magnitude=np.minimum(distance, delta) * (np.abs(x) + np.abs(y)), steps=3)


@define("HuberLossGrad", inputs="predictions targets", attributes={"delta": 1.0})
def huber_gradient(x, y, delta):
    """grad_output = min(max(predictions - targets, -delta), delta)"""
    must_be_positive(delta, "delta")
    size = np.where(np.abs(x - y) < delta, np.abs(x) + np.abs(y), 0.0)
    return Value(np.clip(x - y, -delta, delta), magnitude=size, unspecified=np.isnan(x - y))


@define("HingeLoss", inputs="predict target")
def hinge_loss(x, y):
    """loss = max(1 - target * predict, 0)"""
    return Value(np.maximum(1.0 - x * y, 0.0), magnitude=1.0 + np.abs(x * y), steps=2, unspecified=np.isnan(x * y))


@define("HingeLossGrad", inputs="predict target grad_output")
def hinge_gradient(x, y, dy):
    """grad_input = -target * grad_output where target * predict is below 1, else 0"""
    # A product that is nearly 1 may be that once it is rounded.
    edge = near(x * y, 1.0) & (x * y != 1.0)
    return Value(np.where(x * y < 1.0, -y * dy, 0.0), unspecified=edge | np.isnan(x * y))


@define("HingeEmbeddingLoss", inputs="input target", attributes={"margin": 1.0, **MEAN})
def hinge_embedding_loss(x, target, margin, reduction):
    """loss = input where target is 1, max(margin - input, 0) where it is -1, reduced"""
    if np.any(np.abs(target) != 1.0) or np.any(np.isnan(x)):
        raise Mismatch("a target is neither 1 nor -1, or an input no number")
    must_be_alike(x, target)
    loss = np.where(target > 0, x, np.maximum(margin - x, 0.0))
    return reduced(loss, np.where(target > 0, 0.0, np.abs(x) + abs(margin)), reduction, 2)


@define("SoftMarginLoss", inputs="self target", attributes={"reduction": REQUIRED})
def soft_margin_loss(x, target, reduction):
    """loss = log(1 + exp(-target * self)), reduced"""
    must_be_alike(x, target)
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)
    return reduced(np.logaddexp(0.0, -target * x), 1.0 + np.abs(target * x), reduction)


@define("SoftMarginLossGrad", inputs="x|predict y|label grad_out|dout", attributes=MEAN)
def soft_margin_gradient(x, target, dy, reduction):
    """gradient = -target / (1 + exp(target * predict)) * dout, divided by the number of elements for the mean"""
    slope = -target * sigmoid(-target * x) * dy
    share = share_of(reduction, slope.size)
    # A rounded exponent moves its exponential in proportion to its own size.
    return Value(slope * share, magnitude=np.abs(slope * share) * (1.0 + np.minimum(np.abs(target * x), 100.0)), steps=4)


@define("KlDivLossGrad", inputs="grad input target", attributes={**MEAN, "log_target": False})
def kl_divergence_gradient(dy, x, target, reduction, log_target):
    """y = -target * grad, -exp(target) * grad for logarithms, divided by the number of elements, or that of rows, for the mean"""
    count = {"none": 1, "sum": 1, "mean": x.size, "batchmean": x.shape[0] if x.ndim else 1}.get(reduction)
    if count is None:
        raise Mismatch(f"the reduction {reduction} has no definition")
    weight = np.exp(target) if log_target else target
    slope = np.broadcast_to(-weight * dy / count, x.shape)
    return Value(slope, steps=3, unspecified=None if log_target else np.broadcast_to(target, x.shape) < 0)


def variance_of(var, x):
    """Variances with a shape that fits: of all elements, of each, or of rows."""
    if var.size == 1:
        return var.reshape((1,) * x.ndim)
    if var.shape in (x.shape, x.shape[:-1] + (1,)):
        return var
    if var.shape == x.shape[:-1]:
        return var[..., None]
    raise Mismatch(f"variances of the shape {list(var.shape)} for {list(x.shape)}")


def gaussian_parts(x, target, var, eps):
    must_be_positive(eps, "eps")
    if target.ndim != x.ndim or any(one not in (1, size) for one, size in zip(target.shape, x.shape)):
        raise Mismatch("targets have another shape than the input")
    fitted = variance_of(var, x)
    if not np.all(fitted >= 0):
        raise Mismatch("a variance is negative")
    return x - target, np.abs(x) + np.abs(target), np.maximum(fitted, eps)


GAUSSIAN = {"full": False, "eps": 1e-6, **MEAN}


@define("GaussianNllLoss", inputs="input target var", attributes=GAUSSIAN)
def gaussian_likelihood_loss(x, target, var, full, eps, reduction):
    """loss = (log(v) + (input - target)^2 / v) / 2 with v = max(var, eps), with full plus log(2 pi) / 2, reduced"""
    distance, size, variance = gaussian_parts(x, target, var, eps)
    rest = 0.5 * math.log(2.0 * math.pi) if full else 0.0
    log = np.log(variance)
    loss = 0.5 * (log + distance**2 / variance) + rest
    return reduced(loss, 0.5 * (np.abs(log) + 1.0) + np.abs(distance) * size / variance + rest, reduction)


@define("GaussianNllLossGrad", inputs="gradOutput input target var", outputs="gradInput gradVar", attributes=GAUSSIAN)
def gaussian_likelihood_gradient(dy, x, target, var, full, eps, reduction):
    """gradInput = gradOutput * (input - target) / v, gradVar = gradOutput * (1 / v - (input - target)^2 / v^2) / 2, v = max(var, eps)"""
    distance, size, variance = gaussian_parts(x, target, var, eps)
    if reduction == "none":
        must_be_alike(x, dy)
    elif dy.size != 1:
        raise Mismatch("the gradient of one number has more elements")
    else:
        dy = dy.reshape(())
    dy = dy * share_of(reduction, x.size)
    slope = 0.5 * dy * (1.0 / variance - distance**2 / variance**2) + np.zeros_like(x)
    slope_size = np.abs(dy) * (0.5 / variance + np.abs(distance) * size / variance**2) + np.zeros_like(x)
    if var.size != x.size:
        axes = tuple(range(x.ndim)) if var.size == 1 else (x.ndim - 1,)
        slope, slope_size = slope.sum(axis=axes), slope_size.sum(axis=axes)
    slopes = Value(slope.reshape(var.shape), magnitude=slope_size.reshape(var.shape), steps=4)
    return Value(dy * distance / variance, magnitude=np.abs(dy) * size / variance, steps=4), slopes


@define("SigmoidCrossEntropyWithLogitsV2@reduced", inputs="predict target weight? pos_weight?", outputs="_:float",
        attributes={"reduction": REQUIRED})
@define("SigmoidCrossEntropyWithLogitsV2", inputs="predict target weight? pos_weight?", outputs="_:float")
def sigmoid_cross_entropy(x, target, weight, pos_weight, reduction="none"):
    """loss = weight * ((1 - target) * x + (1 + (pos_weight - 1) * target) * log(1 + exp(-x))), x = predict, reduced"""
    must_be_alike(x, target)
    log, share = np.logaddexp(0.0, -x), 1.0 if pos_weight is None else 1.0 + (pos_weight - 1.0) * target
    loss = (1.0 - target) * x + share * log
    size = np.abs((1.0 - target) * x) + np.abs(share) * (np.abs(x) + 1.0)
    if weight is not None:
        loss, size = weight * loss, np.abs(weight) * size
    return reduced(loss, size, reduction, 4)


@define("SigmoidCrossEntropyWithLogits", inputs="predict target")
def plain_sigmoid_cross_entropy(x, target):
    """loss = (1 - target) * predict + log(1 + exp(-predict))"""
    return sigmoid_cross_entropy(x, target, None, None)


@define("SigmoidCrossEntropyWithLogitsGradV2", inputs="predict target dout weight? pos_weight?", attributes=MEAN)
def sigmoid_cross_entropy_gradient(x, target, dout, weight, pos_weight, reduction):
    """gradient = weight * dout * ((p * target + 1 - target) * sigmoid(predict) - p * target), p = pos_weight or 1; a share for the mean"""
    must_be_alike(x, target)
    scaled = target if pos_weight is None else pos_weight * target
    total = scaled + 1.0 - target
    factor = dout * share_of(reduction, x.size) * (1.0 if weight is None else weight)
    size = (np.abs(scaled) + np.abs(1.0 - target) + np.abs(target)) * sigmoid(x) + np.abs(scaled)
    return Value((total * sigmoid(x) - scaled) * factor, magnitude=size * np.abs(factor), steps=4)


@define("SigmoidCrossEntropyWithLogitsGrad", inputs="predict target dout")
def plain_sigmoid_cross_entropy_gradient(x, target, dout):
    """gradient = dout * (sigmoid(predict) - target)"""
    return sigmoid_cross_entropy_gradient(x, target, dout, None, None, "none")


# Of classes.


def classes_of(target, count, ignore_index=None):
    """Whether each target counts, and which class it is."""
    kept = np.ones(target.shape, bool) if ignore_index is None else target != ignore_index
    if np.any(kept & ((target < 0) | (target >= count))):
        raise Mismatch("a target is no class")
    return kept, np.where(kept, target, 0)


def one_hot(classes, count):
    return (classes[..., None] == np.arange(count)).astype(np.float64)


@define("CrossEntropyGrad", inputs="logits target:int32")
def cross_entropy_gradient(x, target):
    """grad_input = softmax(logits) - 1 at the target, along the last dimension"""
    if x.ndim == 0 or target.size * x.shape[-1] != x.size:
        raise Mismatch("there must be a target for every row")
    _, classes = classes_of(target.reshape(x.shape[:-1]), x.shape[-1])
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    chosen = one_hot(classes, x.shape[-1])
    return Value(powers / powers.sum(axis=-1, keepdims=True) - chosen, magnitude=chosen, steps=3)


@define("CrossEntropyLossGrad", inputs="grad_loss log_prob target:index weight:float32?",
        attributes={**MEAN, "ignore_index": -100, "label_smoothing": 0.0, "lse_square_scale_for_zloss": 0.0})
def cross_entropy_loss_gradient(dy, log_prob, target, weight, reduction, ignore_index, label_smoothing, lse_square_scale_for_zloss):
    """x_grad = grad_loss * weight[t] * (exp(log_prob) - 1 at the target t), divided by the sum of weights for the mean"""
    if label_smoothing or lse_square_scale_for_zloss:
        raise Mismatch("label smoothing and zloss have no definition")
    if log_prob.ndim != 2 or target.shape != log_prob.shape[:1] or dy.size != (target.size if reduction == "none" else 1):
        raise Mismatch("log_prob must have two dimensions, target its first, and the gradient the shape of the loss")
    share_of(reduction, 1)
    kept, classes = classes_of(target, log_prob.shape[1], ignore_index)
    weights = np.where(kept, 1.0 if weight is None else weight[classes], 0.0)
    factor = (dy.reshape(-1) * weights / (weights.sum() if reduction == "mean" else 1.0))[:, None]
    chosen = one_hot(classes, log_prob.shape[1])
    soft = np.exp(log_prob)
    # A rounded logarithm moves its exponential in proportion to its own size.
    size = np.abs(factor) * (soft + chosen)
    return Value(factor * (soft - chosen), magnitude=size, steps=4, unspecified=np.broadcast_to(~np.isfinite(factor), soft.shape))


def rows_of_classes(x, target, weight):
    """Rows of scores, with a target for each."""
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    if rows.ndim != 2 or target.size != len(rows) or (weight is not None and weight.shape != rows.shape[1:]):
        raise Mismatch("there must be one or two dimensions, a target for every row and a weight for every class")
    return rows, target.reshape(-1)


@define("NllLoss", "NLLLoss", inputs="x target:index weight?", outputs="y total_weight", attributes={**MEAN, "ignore_index": -100})
def likelihood_loss(x, target, weight, reduction, ignore_index):
    """y = -weight[t] * x[t], reduced, the mean by the sum of weights; total_weight = that sum"""
    rows, target = rows_of_classes(x, target, weight)
    kept, classes = classes_of(target, rows.shape[1], ignore_index)
    weights = np.where(kept, 1.0 if weight is None else weight[classes], 0.0)
    terms = np.where(kept, -weights * rows[np.arange(len(rows)), classes], 0.0)
    if reduction == "none":
        # The sum belongs to losses that are made one.
        return Value(terms.reshape(x.shape[:-1]), steps=2), None
    if reduction not in ("sum", "mean"):
        raise Mismatch(f"the reduction {reduction} has no definition")
    total = weights.sum()
    divisor = total if reduction == "mean" else 1.0
    loss = np.reshape(terms.sum() / divisor, (1,))
    size = np.reshape(np.abs(terms).sum() / np.abs(divisor), (1,))
    total = Value(np.reshape(total, (1,)), magnitude=np.reshape(np.abs(weights).sum(), (1,)))
    return Value(loss, magnitude=size, steps=3), total


@define("NllLossGrad", "NLLLossGrad", inputs="x y_grad target:index weight total_weight", attributes={**MEAN, "ignore_index": -100})
def likelihood_gradient(x, dy, target, weight, total_weight, reduction, ignore_index):
    """x_grad = -y_grad * weight[t] at the target t, else 0, divided by total_weight for the mean"""
    rows, target = rows_of_classes(x, target, weight)
    if dy.size != (len(rows) if reduction == "none" else 1) or total_weight.size != 1:
        raise Mismatch("the gradient must have the shape of the loss, and total_weight be a number")
    share_of(reduction, 1)
    kept, classes = classes_of(target, rows.shape[1], ignore_index)
    total = float(total_weight.reshape(-1)[0]) if reduction == "mean" else 1.0
    if total == 0:
        raise Mismatch("the weights add up to nothing")
    slopes = np.where(kept, -dy.reshape(-1) * weight[classes] / total, 0.0)
    chosen = one_hot(classes, rows.shape[1]) != 0
    return Value(np.where(chosen, slopes[:, None], 0.0).reshape(x.shape), steps=3)
