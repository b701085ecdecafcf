"""Special functions: inverse error function, Dawson's integral, dilogarithm, Bessel functions."""

import math

import numpy as np

from core import Value, define
from elementwise import erf, erfc


def inverse_erf(x):
    """By Halley's method, from an elementary approximation."""
    size = np.abs(x)
    inside = np.where(size < 1.0, size, 0.0)
    log = np.log1p(-inside * inside)
    part = 2.0 / (math.pi * 0.147) + log / 2.0
    result = np.sqrt(np.sqrt(part * part - log / 0.147) - part)
    for _ in range(4):
        # Far out the complement is what still tells arguments apart.
        off = np.where(inside < 0.5, erf(result) - inside, (1.0 - inside) - erfc(result))
        step = off * math.sqrt(math.pi) / 2.0 * np.exp(result * result)
        result = result - step / (1.0 + result * step)
    result = np.where(size == 1.0, np.inf, np.where(size < 1.0, result, np.nan))
    return np.copysign(result, x)


@define("ErfInv", "Erfinv")
def error_function_inverse(x):
    """y = the number whose error function is x"""
    result = inverse_erf(x)
    # The last arguments below 1 have a logarithm of 1 - x^2 that is what the rounding of its argument leaves of it.
    size = np.minimum(1e-3 / np.maximum(1.0 - x * x, 1e-300), np.abs(result))
    return Value(result, magnitude=size, steps=4)


@define("Dawsn")
def dawson(x):
    """y = exp(-x^2) * the integral of exp(t^2) from 0 to x"""
    square = x * x
    # exp(-x^2) times a series whose terms are all positive; far out a series in 1 / x^2.
    near, far = np.where(np.abs(x) < 7.0, x, 0.0), np.where(np.abs(x) < 7.0, 7.0, x)
    total, term = np.zeros_like(near), near.copy()
    for place in range(220):
        total = total + term / (2 * place + 1)
        term = term * near * near / (place + 1)
    tail, term = np.zeros_like(far), 0.5 / far
    for place in range(25):
        tail = tail + term
        term = term * (2 * place + 1) / (2.0 * far * far)
    result = np.where(np.abs(x) < 7.0, np.exp(-near * near) * total, tail)
    return Value(np.where(np.isnan(square), np.nan, result), steps=3)


def dilogarithm_near_one(x):
    """Of 1 - x with x between 1/2 and 3/2."""
    away = 1.0 - x
    total, power = np.zeros_like(x), away.copy()
    for place in range(1, 60):
        total = total + power / place**2
        power = power * away
    return total


@define("Spence")
def spence(x):
    """y = the integral of log(t) / (1 - t) from 1 to x, the dilogarithm of 1 - x"""
    inverted = np.where(x > 1.5, 1.0 / x, x)
    reflected = np.where(inverted < 0.5, 1.0 - inverted, inverted)
    result = dilogarithm_near_one(np.where((reflected >= 0.5) & (reflected <= 1.5), reflected, 1.0))
    log = np.where(inverted > 0, np.log(inverted), 0.0) * np.log1p(-np.where(inverted < 0.5, inverted, 0.0))
    result = np.where(inverted < 0.5, math.pi**2 / 6.0 - log - result, result)
    square = np.log(np.where(x > 1.5, x, 1.0)) ** 2 / 2.0
    result = np.where(x > 1.5, -square - result, result)
    # Near 1 it is made of 1 - x, which is exact; elsewhere of logarithms.
    size = np.where(np.abs(x - 1.0) <= 0.5, np.abs(1.0 - x), 2.0 + square)
    return Value(np.where((x < 0) | np.isnan(x), np.nan, result), magnitude=size, steps=2, unspecified=np.isinf(x))


def scaled_bessel(x, order):
    """exp(-|x|) times the modified Bessel function of the first kind."""
    size = np.abs(x)
    near, far = np.minimum(size, 30.0), np.where(np.isfinite(size), np.maximum(size, 30.0), 30.0)
    total, term = np.zeros_like(near), (near / 2.0) ** order
    for place in range(120):
        total = total + term
        term = term * (near / 2.0) ** 2 / ((place + 1) * (place + 1 + order))
    tail, term = np.zeros_like(far), np.ones_like(far)
    for place in range(20):
        tail = tail + term
        term = term * -(4.0 * order * order - (2 * place + 1) ** 2) / ((place + 1) * 8.0 * far)
    result = np.where(size <= 30.0, np.exp(-near) * total, tail / np.sqrt(2.0 * math.pi * far))
    return np.where(np.isnan(x), np.nan, np.where(np.isinf(x), 0.0, result))


@define("BesselI0e")
def bessel_zero(x):
    """y = exp(-|x|) * the modified Bessel function of order 0"""
    return Value(scaled_bessel(x, 0), steps=2)


@define("BesselI1e")
def bessel_one(x):
    """y = exp(-|x|) * the modified Bessel function of order 1"""
    return Value(np.copysign(1.0, x) * scaled_bessel(x, 1), steps=2)
