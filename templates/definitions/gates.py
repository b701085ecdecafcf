"""Gated activations, where halves of a tensor or two tensors are multiplied, and their gradients."""

import numpy as np

from activations import gelu_exact, gelu_tanh, gelu_tanh_slope, must_be_known, sigmoid
from arithmetic import on_the_edge
from core import Mismatch, Value, define


def halves(x, dim):
    """Both halves along a dimension."""
    if x.shape[dim] % 2 != 0:
        raise Mismatch("the split dimension is odd")
    return np.split(x, 2, axis=dim)


@define("SwiGlu", attributes={"dim": -1})
def swiglu(x, dim):
    """y = a * sigmoid(a) * b, x = [a, b] along dim"""
    gate, other = halves(x, dim)
    return Value(gate * sigmoid(gate) * other, steps=4)


@define("SwiGluGrad", inputs="y_grad|dy x", attributes={"dim": -1})
def swiglu_gradient(dy, x, dim):
    """dx = [dy * b * (s + a * s * (1 - s)), dy * a * s], x = [a, b] along dim, s = sigmoid(a)"""
    gate, other = halves(x, dim)
    soft = sigmoid(gate)
    left = dy * other * (soft + gate * soft * (1.0 - soft))
    size = np.abs(dy * other) * soft * (1.0 + np.abs(gate))
    right = dy * gate * soft
    return Value(np.concatenate([left, right], dim), magnitude=np.concatenate([size, np.abs(right)], dim), steps=4)


@define("GeGluV2", "GeGluV3", outputs="_ _", attributes={"dim": -1, "approximate": 1, "activate_left": False})
def geglu(x, dim, approximate, activate_left):
    """y = a * gelu(b), gelu = gelu(b); x = [a, b] along dim, or the other way round where activate_left"""
    if approximate not in (0, 1):
        raise Mismatch(f"the approximation {approximate} has no definition")
    other, gate = halves(x, dim)
    if activate_left:
        other, gate = gate, other
    value = gelu_tanh(gate) if approximate == 1 else gelu_exact(gate)
    return (Value(other * value, magnitude=np.abs(other * gate), steps=3), Value(value, magnitude=np.abs(gate), steps=2))


@define("GeGluGradV2", inputs="dy x gelu", attributes={"dim": -1, "approximate": 1, "activate_left": False})
def geglu_gradient(dy, x, saved, dim, approximate, activate_left):
    """dx = [dy * gelu, dy * a * the slope of gelu at b], x = [a, b] along dim"""
    if approximate != 1:
        raise Mismatch("only the approximation by tanh has a definition")
    other, gate = halves(x, dim)
    if activate_left:
        other, gate = gate, other
    parts = [dy * saved, dy * other * gelu_tanh_slope(gate)]
    sizes = [np.abs(parts[0]), np.abs(dy * other)]
    if activate_left:
        parts, sizes = parts[::-1], sizes[::-1]
    return Value(np.concatenate(parts, dim), magnitude=np.concatenate(sizes, dim), steps=4)


@define("FatreluMul", inputs="input threshold", outputs="output")
def fatrelu_multiply(x, threshold):
    """y = (a where a is above the threshold, else 0) * b, input = [a, b] along the last dimension"""
    gate, other = halves(x, -1)
    return np.where(gate > float(np.asarray(threshold).reshape(-1)[0]), gate, 0.0) * other


def joined(left, right, dim, swapped):
    """Gradients of both halves and their sizes as one result."""
    (first, first_size), (second, second_size) = (right, left) if swapped else (left, right)
    return Value(np.concatenate([first, second], dim), magnitude=np.concatenate([first_size, second_size], dim), steps=5)


@define("GLU", attributes={"dim": -1})
def glu(x, dim):
    """y = a * sigmoid(b), x = [a, b] along dim"""
    value, gate = halves(x, dim)
    return Value(value * sigmoid(gate), steps=3)


@define("GLUGrad", inputs="grad_out self", attributes={"dim": -1})
def glu_gradient(dy, x, dim):
    """dx = [dy * s, dy * a * s * (1 - s)], x = [a, b] along dim, s = sigmoid(b)"""
    value, gate = halves(x, dim)
    soft = sigmoid(gate)
    left, right = dy * soft, dy * value * soft * (1.0 - soft)
    return joined((left, np.abs(left)), (right, np.abs(dy * value) * soft), dim, False)


@define("SiluMul", inputs="x y")
def silu_multiply(x, y):
    """z = x / (1 + exp(-x)) * y"""
    return Value(x * sigmoid(x) * y, steps=4)


@define("GeluMul", attributes={"approximate": "none"})
def gelu_multiply(x, approximate):
    """output = gelu(a) * b, input = [a, b] along the last dimension"""
    must_be_known(approximate)
    gate, other = halves(x, -1)
    value = gelu_exact(gate) if approximate == "none" else gelu_tanh(gate)
    return Value(value * other, magnitude=np.abs(gate * other), steps=3)


@define("SwigluClamp", attributes={"limit": 7.0})
def swiglu_clamp(x, limit):
    """y = min(a * sigmoid(a), limit) * min(max(b, -limit), limit), x = [a, b] along the last dimension"""
    if limit <= 0:
        raise Mismatch("the limit must be positive")
    gate, other = halves(x, -1)
    return clamped_product(gate * sigmoid(gate), other, limit)


def clamped_product(value, other, limit):
    unspecified = np.isnan(value) | np.isnan(other)
    return Value(np.minimum(value, limit) * np.clip(other, -limit, limit), steps=4, unspecified=unspecified)


def taken_apart(x, dim, interleaved):
    """Both parts along a dimension: every other element, or halves."""
    if not -x.ndim <= dim < x.ndim:
        raise Mismatch(f"dimension {dim} of {x.ndim}")
    if not interleaved:
        return halves(x, dim)
    if dim % x.ndim != x.ndim - 1 or x.shape[-1] % 2 != 0:
        raise Mismatch("every other element of what is not the last dimension, or of an odd one")
    return x[..., 0::2], x[..., 1::2]


def beyond_groups(parts, dim, group_index):
    """Rows after those that the groups count, with a shape that fits the parts."""
    place = dim % parts.ndim
    rows = int(np.prod(parts.shape[:place]))
    counted = rows if group_index is None else int(group_index.sum())
    if counted < 0 or (group_index is not None and group_index.min(initial=0) < 0):
        raise Mismatch("a group has fewer than no rows")
    return (np.arange(rows) >= counted).reshape(parts.shape[:place] + (1,) * (parts.ndim - place))


@define("ClippedSwiglu", inputs="x group_index:int64?",
        attributes={"dim": -1, "alpha": 1.702, "limit": 7.0, "bias": 1.0, "interleaved": True, "clamp_mode": 0})
def clipped_swiglu(x, group_index, dim, alpha, limit, bias, interleaved, clamp_mode):
    """y = a * sigmoid(alpha * a) * (b + bias) with a at most limit and b within it; with clamp_mode 1 min(a * sigmoid(a), limit) * b"""
    if limit <= 0 or clamp_mode not in (0, 1):
        raise Mismatch("the limit must be positive, and clamp_mode 0 or 1")
    gate, other = taken_apart(x, dim, interleaved)
    beyond = beyond_groups(gate, dim, group_index)
    if clamp_mode == 1:
        result = clamped_product(gate * sigmoid(gate), other, limit)
        result.unspecified = result.unspecified | beyond
        return result
    unspecified = np.isnan(gate) | np.isnan(other) | beyond
    gate, other = np.minimum(gate, limit), np.clip(other, -limit, limit)
    value = gate * sigmoid(alpha * gate)
    return Value(value * (other + bias), magnitude=np.abs(value) * (np.abs(other) + abs(bias)), steps=5, unspecified=unspecified)


@define("ClippedSwigluGrad", inputs="grad_y x group_index:int64?",
        attributes={"dim": -1, "alpha": 1.702, "limit": 7.0, "bias": 1.0, "interleaved": True})
def clipped_swiglu_gradient(dy, x, group_index, dim, alpha, limit, bias, interleaved, call):
    """dx = dy times the slopes of a * sigmoid(alpha * a) * (b + bias), 0 where a or b is beyond the limit, and in rows after the groups"""
    if limit <= 0:
        raise Mismatch("the limit must be positive")
    gate, other = taken_apart(x, dim, interleaved)
    inside = ~beyond_groups(gate, dim, group_index)
    edge_of = [on_the_edge(x, one, call) for one in (limit, -limit)]
    top, bottom = np.minimum(gate, limit), np.clip(other, -limit, limit)
    soft = sigmoid(alpha * top)
    left, right = dy * (bottom + bias) * soft, dy * top * soft
    left_size = np.abs(dy) * (np.abs(bottom) + abs(bias)) * soft * (1.0 + np.abs(alpha * top))
    left = np.where(inside & (gate <= limit), left * (1.0 + alpha * top * (1.0 - soft)), 0.0)
    right = np.where(inside & (np.abs(other) <= limit), right, 0.0)
    result = joined((left, left_size), (right, np.abs(right)), dim, False)
    if interleaved:
        for array in (result.array, result.magnitude):
            array[...] = np.stack(np.split(array, 2, axis=-1), axis=-1).reshape(array.shape)
    result.unspecified = edge_of[0] | edge_of[1] | np.isnan(x)
    return result


SITU = {"attributes": {"dim": -1, "beta": 1.0, "linear_beta": 0.0, "activate_left": True}}


def situ_parts(x, dim, beta, linear_beta, activate_left):
    """Gate and what it lets through, with the slopes of both."""
    if beta <= 0:
        raise Mismatch("beta must be positive")
    gate, other = halves(x, dim)
    if not activate_left:
        gate, other = other, gate
    bent, soft = np.tanh(gate / beta), sigmoid(gate)
    slope = soft * ((1.0 - bent * bent) + beta * bent * (1.0 - soft))
    through, through_slope = other, np.ones_like(other)
    if linear_beta > 0:
        through = linear_beta * np.tanh(other / linear_beta)
        through_slope = 1.0 - np.tanh(other / linear_beta) ** 2
    return beta * bent * soft, soft * (1.0 + beta * np.abs(bent)), slope, through, through_slope


@define("SituGlu", **SITU)
def situ_glu(x, dim, beta, linear_beta, activate_left):
    """y = beta * tanh(a / beta) * sigmoid(a) * b, x = [a, b] along dim; with linear_beta above zero linear_beta * tanh(b / linear_beta)"""
    value, _, _, through, _ = situ_parts(x, dim, beta, linear_beta, activate_left)
    return Value(value * through, steps=5)


@define("SituGluGrad", inputs="grad_y x", **SITU)
def situ_glu_gradient(dy, x, dim, beta, linear_beta, activate_left):
    """dx = dy times the slopes of beta * tanh(a / beta) * sigmoid(a) * b, x = [a, b] along dim"""
    value, size, slope, through, through_slope = situ_parts(x, dim, beta, linear_beta, activate_left)
    left, right = dy * through, dy * value
    return joined((left * slope, np.abs(left) * size), (right * through_slope, np.abs(right)), dim, not activate_left)
