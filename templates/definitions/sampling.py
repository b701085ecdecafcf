"""Images between their elements: what an element is weighted with at a place, and how the weight changes with the place."""

import numpy as np

from core import Mismatch
from images import LEAST_WEIGHT, PLACE_ROUNDING, cubic

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


class Taps:
    """Elements along one dimension that a place is made of, the first axis of each array.

    `slopes`: by how much weights grow with the place. `sizes`: weights in units of which they are precise to the relative tolerance.
    `hangs`: places where the element, and `turns` where the slope, hangs by a rounding.
    """

    def __init__(self, elements, inside, weights, slopes, sizes, hangs, turns):
        self.elements = elements
        self.inside = inside
        self.weights = np.where(inside, weights, 0.0)
        self.slopes = np.where(inside, slopes, 0.0)
        self.sizes = np.where(inside, sizes, 0.0)
        self.hangs = hangs
        self.turns = turns


def cubic_slope(distance):
    """By how much the weight of the cubic convolution grows with the distance."""
    a, size = -0.75, np.abs(distance)
    near = (3 * (a + 2) * size - 2 * (a + 3)) * size
    far = (3 * a * size - 10 * a) * size + 8 * a
    return np.sign(distance) * np.where(size <= 1, near, np.where(size < 2, far, 0.0))


def reflected(places, size, aligned):
    """Places mirrored at the ends, at their middles when aligned and else at their edges, and the sign of the slope."""
    low, span = (0.0, size - 1.0) if aligned else (-0.5, float(size))
    if span <= 0:
        return np.zeros_like(places), np.zeros_like(places)
    away = np.abs(places - low)
    turns = np.floor(away / span)
    rest = away - turns * span
    back = turns % 2 == 1
    sign = np.where(places < low, -1.0, 1.0) * np.where(back, -1.0, 1.0)
    return np.where(back, span - rest, rest) + low, sign


def padded_places(places, size, padding, aligned):
    """Places held inside by the mode of padding, and what their slopes are multiplied by."""
    slopes = np.ones_like(places)
    if padding == "reflection":
        places, slopes = reflected(places, size, aligned)
    if padding in ("border", "reflection"):
        outside = (places <= 0) | (places >= size - 1)
        slopes = np.where(outside, 0.0, slopes)
        places = np.clip(places, 0.0, size - 1.0)
    return places, slopes


def taps_at(places, size, mode, padding, aligned, relative):
    """Taps of places, counted in elements, along a dimension."""
    error = (np.abs(places) + size) * PLACE_ROUNDING
    slip = error / relative if relative > 0 else 0.0
    held, signs = padded_places(places, size, padding, aligned)
    if mode == "nearest":
        # Halves go to the even neighbour.
        elements = np.rint(held).astype(np.int64)[None]
        ones = np.ones(elements.shape)
        hangs = np.abs(np.abs(held - np.floor(held)) - 0.5) <= error
        return Taps(elements, (elements >= 0) & (elements < size), ones, 0.0 * ones, ones, hangs, np.zeros(held.shape, bool))
    none = np.zeros(places.shape, bool)
    if mode == "bicubic":
        near = np.floor(places).astype(np.int64) + np.arange(-1, 3).reshape((-1,) + (1,) * places.ndim)
        distances = places - near
        elements = np.rint(padded_places(near.astype(float), size, padding, aligned)[0]).astype(np.int64)
        weights = cubic(np.abs(distances))
        sizes = np.maximum(np.abs(weights), LEAST_WEIGHT) + 4 * slip
        return Taps(elements, (elements >= 0) & (elements < size), weights, cubic_slope(distances), sizes, none, none)
    low = np.floor(held)
    elements = np.stack([low, low + 1]).astype(np.int64)
    weights = np.stack([low + 1 - held, held - low])
    slopes = np.stack([-signs, signs])
    # The slope jumps where a place is that of an element; where it is held inside it is zero on both sides.
    free = reflected(places, size, aligned)[0] if padding == "reflection" else places
    turns = np.abs(free - np.rint(free)) <= error
    if padding != "zeros":
        turns &= (free >= -error) & (free <= size - 1 + error)
    sizes = np.maximum(weights, LEAST_WEIGHT) + slip
    return Taps(elements, (elements >= 0) & (elements < size), weights, slopes, sizes, none, turns)


def known_mode(mode, padding, count):
    if mode not in MODES or padding not in PADDINGS or count == 3 and mode == "bicubic":
        raise Mismatch(f"the mode {mode} with padding {padding} has no definition")


def combinations(taps, sizes, what="weights", along=None):
    """Flat element and product of the weights of every combination of taps; slopes take the place of weights `along` a dimension."""
    for step in np.ndindex(*(len(one.elements) for one in taps)):
        flat, weight = 0, 1.0
        for axis, (one, at, size) in enumerate(zip(taps, step, sizes)):
            flat = flat * size + np.clip(one.elements[at], 0, size - 1)
            weight = weight * getattr(one, "slopes" if axis == along else what)[at]
        yield flat, weight


def sampled(values, taps, sizes, what="weights", along=None):
    """Values (channels, elements) at places, in an array (channels, places)."""
    return sum(values[:, flat] * weight for flat, weight in combinations(taps, sizes, what, along))


def spread(grads, taps, sizes, what="weights"):
    """Gradients (channels, places) given back to the elements that their places are made of: (channels, elements)."""
    total = np.zeros((len(grads), int(np.prod(sizes))))
    for flat, weight in combinations(taps, sizes, what):
        shares = grads * weight
        for channel in range(len(grads)):
            np.add.at(total[channel], flat.reshape(-1), shares[channel].reshape(-1))
    return total
