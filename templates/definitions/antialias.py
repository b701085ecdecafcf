"""Images in another size without aliasing: the filter is stretched by as much as the image shrinks; and the gradients."""

import numpy as np

from core import REQUIRED, Mismatch, define
from images import LEAST_WEIGHT, PLACE_ROUNDING, ratio_of, resized, resized_gradient


def triangle(distance):
    return np.maximum(1.0 - distance, 0.0)


def convolution_of_keys(distance):
    """The cubic convolution with a = -1/2."""
    a = -0.5
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def stretched(kernel):
    """Weights (target, source) of a kernel around the middle of each element, and their sizes."""

    def weights_of(source, target, scale, align_corners, relative):
        if align_corners:
            raise Mismatch("aligned corners have no definition")
        ratio = ratio_of(source, target, scale, False)
        middles = (np.arange(target) + 0.5) * ratio - 0.5
        distances = np.abs(np.arange(source) - middles[:, None]) / max(ratio, 1.0)
        weights = kernel(distances)
        whole = weights.sum(axis=1, keepdims=True)
        slip = (np.abs(middles[:, None]) + 1.0) * PLACE_ROUNDING / relative if relative > 0 else 0.0
        sizes = np.where(distances < 3.0, np.maximum(np.abs(weights), LEAST_WEIGHT) + slip, 0.0)
        return weights / whole, sizes / whole

    return weights_of


TOLD = {"output_size": REQUIRED, "align_corners": False, "scales_h": 0.0, "scales_w": 0.0}
GIVEN = {"output_size": [], "input_size": REQUIRED, "align_corners": False, "scales_h": 0.0, "scales_w": 0.0}


@define("UpsampleBilinear2dAA", inputs="input|x", outputs="output|y", attributes=TOLD)
def bilinear_antialiased(x, output_size, align_corners, scales_h, scales_w, call):
    """y[i] = the mean of x with weights 1 - d, d = |j + 0.5 - (i + 0.5) * r| / max(r, 1), r = in / out, along both dimensions"""
    return resized(x, 2, stretched(triangle), output_size, [scales_h, scales_w], align_corners, call)


@define("UpsampleBicubic2dAA", inputs="x|input", outputs="y|output", attributes=TOLD)
def bicubic_antialiased(x, output_size, align_corners, scales_h, scales_w, call):
    """y[i] = the mean of x with weights of the cubic convolution (a = -0.5) at |j + 0.5 - (i + 0.5) * r| / max(r, 1), r = in / out"""
    return resized(x, 2, stretched(convolution_of_keys), output_size, [scales_h, scales_w], align_corners, call)


@define("UpsampleBilinear2dAABackward", inputs="grad_output", outputs="grad_input", attributes=GIVEN)
def bilinear_antialiased_gradient(dy, output_size, input_size, align_corners, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] times the weight that x[j] has in y[i] of the bilinear map without aliasing"""
    return resized_gradient(dy, 2, stretched(triangle), input_size, output_size, [scales_h, scales_w], align_corners, call)


@define("UpsampleBicubic2dAAGrad", inputs="grad_output", outputs="grad_input", attributes=GIVEN)
def bicubic_antialiased_gradient(dy, output_size, input_size, align_corners, scales_h, scales_w, call):
    """dx[j] = the sum of dy[i] times the weight that x[j] has in y[i] of the bicubic map without aliasing"""
    return resized_gradient(dy, 2, stretched(convolution_of_keys), input_size, output_size, [scales_h, scales_w], align_corners, call)
