"""Rotary embeddings of positions, and their gradients."""

import numpy as np

from core import Mismatch, Value, define

MODES = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}


def pairing(size, mode):
    """Which element of x each of y takes the cosine of, which it takes the sine of, and with which sign.

    Halves or quarters are turned against each other, or neighbours; interleave-half first puts even places before odd ones.
    """
    if size % (4 if mode == 2 else 2) != 0:
        raise Mismatch(f"{size} elements cannot be turned in pairs")
    places = np.arange(size)
    if mode == 1:
        return places, places ^ 1, np.where(places % 2 == 0, -1.0, 1.0)
    part = size // 4 if mode == 2 else size // 2
    first = places // part % 2 == 0
    other, sign = np.where(first, places + part, places - part), np.where(first, -1.0, 1.0)
    if mode == 3:
        order = np.concatenate([places[::2], places[1::2]])
        return order, order[other], sign
    return places, other, sign


def must_broadcast(x, *angles):
    for angle in angles:
        outer = all(size in (1, whole) for size, whole in zip(angle.shape[:-1], x.shape))
        if angle.ndim != x.ndim or not outer or angle.shape[-1] != x.shape[-1]:
            raise Mismatch(f"angles of {list(angle.shape)} for {list(x.shape)}")
    if any(angle.shape != angles[0].shape for angle in angles):
        raise Mismatch("cosines and sines of different shapes")


def rotated(x, cos, sin, mode):
    must_broadcast(x, cos, sin)
    straight, other, sign = pairing(x.shape[-1], mode)
    left, right = x[..., straight] * cos, x[..., other] * sign * sin
    return Value(left + right, magnitude=np.abs(left) + np.abs(right))


@define("RotaryPositionEmbedding", inputs="x cos sin", outputs="y", attributes={"mode": 0})
def rotary_position_embedding(x, cos, sin, mode):
    """y = x * cos + r * sin, r = x turned by a right angle in pairs: by halves, neighbours, quarters or neighbours put in halves"""
    if mode not in MODES.values():
        raise Mismatch(f"the mode {mode} has no definition")
    return rotated(x, cos, sin, mode)


@define("RotaryMul", inputs="x r1 r2", outputs="y", attributes={"rotary_mode": "half"})
def rotary_product(x, r1, r2, rotary_mode):
    """y = x * r1 + r * r2, r = x turned by a right angle in pairs, by halves or neighbours"""
    if rotary_mode not in ("half", "interleave"):
        raise Mismatch(f"the mode {rotary_mode} has no definition")
    return rotated(x, r1, r2, MODES[rotary_mode])


@define("InterleaveRope", inputs="x cos sin", outputs="y")
def interleave_rope(x, cos, sin):
    """y = p * cos + r * sin, p = x with even places before odd ones, r = p turned by a right angle by halves"""
    return rotated(x, cos, sin, MODES["interleave-half"])


@define("ApplyRotaryPosEmb", inputs="query key cos sin", outputs="query key", attributes={"layout": 1, "rotary_mode": "half"})
def apply_rotary_position_embedding(query, key, cos, sin, layout, rotary_mode):
    """query, key = x * cos + r * sin, r = x turned by a right angle in pairs: by halves, neighbours or quarters"""
    if layout not in (1, 2, 3, 4) or rotary_mode not in ("half", "interleave", "quarter"):
        raise Mismatch(f"the layout {layout} with the mode {rotary_mode} has no definition")
    # Where heads are is told by the shapes: angles have one there.
    return tuple(rotated(x, cos, sin, MODES[rotary_mode]) for x in (query, key))


@define("RotaryPositionEmbeddingGrad", inputs="dy cos sin x?", outputs="dx dcos dsin", attributes={"mode": 0})
def rotary_position_embedding_gradient(dy, cos, sin, x, mode):
    """dx = the transpose of the rotation of dy; dcos, dsin = sums of dy times what cos and sin were multiplied by"""
    if mode not in MODES.values():
        raise Mismatch(f"the mode {mode} has no definition")
    must_broadcast(dy, cos, sin)
    straight, other, sign = pairing(dy.shape[-1], mode)
    dx, size = np.zeros(dy.shape), np.zeros(dy.shape)
    for places, terms in ((straight, dy * cos), (other, dy * sin * sign)):
        # Every place occurs once.
        dx[..., places] += terms
        size[..., places] += np.abs(terms)
    if x is None:
        return Value(dx, magnitude=size), None, None
    if x.shape != dy.shape:
        raise Mismatch(f"gradients of {list(dy.shape)} for {list(x.shape)}")
    axes = tuple(axis for axis, (angle, whole) in enumerate(zip(cos.shape, dy.shape)) if angle == 1 and whole != 1)
    sums = [dy * x[..., straight], dy * x[..., other] * sign]
    results = [Value(terms.sum(axis=axes, keepdims=True), magnitude=np.abs(terms).sum(axis=axes, keepdims=True)) for terms in sums]
    return Value(dx, magnitude=size), *results
