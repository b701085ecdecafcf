"""Fourier transforms of rows."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from spatial import must_be_finite


@define("Rfft1D", inputs="x", outputs="y", dtypes="float32", attributes={"n": REQUIRED, "norm": REQUIRED})
def real_transform(x, n, norm):
    """y[k] = real and imaginary part of the sum of x[j] * exp(-2 pi i j k / n), k to n / 2; divided by n or its root with norm 2 or 3"""
    # Factors that are given as a matrix count themselves: with them there is no definition.
    must_be_finite(x)
    if x.shape[-1] != n or norm not in (1, 2, 3):
        raise Mismatch(f"rows of {x.shape[-1]} for {n} with the norm {norm}")
    divisor = {1: 1.0, 2: float(n), 3: np.sqrt(n)}[norm]
    whole = np.fft.rfft(x, axis=-1) / divisor
    size = np.broadcast_to(np.abs(x).sum(axis=-1)[..., None, None] / divisor, whole.shape + (2,))
    return Value(np.stack([whole.real, whole.imag], axis=-1), magnitude=size, steps=2)
