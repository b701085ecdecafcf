"""Gradients of activations that are made of pieces, and of what saves their results."""

import numpy as np

from activations import SELU_ALPHA, SELU_SCALE, must_not_be_negative, sigmoid
from arithmetic import near, on_the_edge
from core import REQUIRED, Mismatch, Value, define
from elementwise import either_nan, is_float


def passed(dy, taken, x, edge=False):
    """Gradients that are passed on as they are, or not at all."""
    return Value(np.where(taken, dy, np.zeros_like(dy)), exact=True, unspecified=either_nan(x) | edge)


@define("ReluGradV3", inputs="x y", dtypes="number")
def relu_gradient_of_input(x, dy):
    """z = y where x is above zero, else 0"""
    return passed(dy, x > 0, x)


@define("ReluGradV4", inputs="gradients features:uint8", dtypes="number")
def relu_gradient_of_mask(dy, mask):
    """backprops = gradients where features is not zero, else 0"""
    return passed(dy, mask != 0, mask)


@define("Relu6Grad", inputs="gradients features")
def relu6_gradient(dy, x):
    """backprops = gradients where features is above 0 and below 6, else 0"""
    return passed(dy, (x > 0) & (x < 6), x)


@define("ThresholdGradV2D", inputs="input_gradient|gradOutput input_feature|self", dtypes="float int8 uint8 int32",
        attributes={"threshold": REQUIRED})
def threshold_gradient(dy, x, threshold, call):
    """dx = dy where x is above the threshold, else 0"""
    if not is_float(x) and threshold != np.trunc(threshold):
        raise Mismatch("integers with a threshold that is none")
    return passed(dy, x > threshold, x, on_the_edge(x, threshold, call))


@define("HardtanhGrad", inputs="result grad", attributes={"min_val": REQUIRED, "max_val": REQUIRED})
def hard_tanh_gradient(x, dy, min_val, max_val, call):
    """y = grad where result is above min_val and below max_val, else 0"""
    # Those who describe it do not agree on the limits themselves.
    edge = on_the_edge(x, min_val, call) | on_the_edge(x, max_val, call) | (x == min_val) | (x == max_val)
    return passed(dy, (x > min_val) & (x < max_val), x, edge)


@define("HardShrinkGrad", inputs="grad_output|gradients self|features", attributes={"lambd": 0.5})
def hard_shrink_gradient(dy, x, lambd, call):
    """dx = dy where |x| is above lambd, else 0"""
    must_not_be_negative(lambd)
    return passed(dy, np.abs(x) > lambd, x, on_the_edge(np.abs(x), lambd, call))


@define("SoftshrinkGrad", "SoftShrinkGrad", inputs="input_grad input_x", attributes={"lambd": 0.5})
def soft_shrink_gradient(dy, x, lambd, call):
    """dx = dy where |x| is above lambd, else 0"""
    return hard_shrink_gradient(dy, x, lambd, call)


@define("HardSigmoidGradV2", "HardSigmoidGradV3", inputs="grad_output self")
def hard_sigmoid_gradient(dy, x):
    """dx = dy / 6 where x is above -3 and below 3, else 0"""
    return Value(np.where(np.abs(x) < 3, dy / 6.0, 0.0), unspecified=np.isnan(x))


@define("EluGrad", inputs="grads activations")
def elu_gradient(dy, y):
    """y = grads * (min(activations, 0) + 1)"""
    return Value(dy * (np.minimum(y, 0.0) + 1.0), magnitude=np.abs(dy), steps=2, unspecified=np.isnan(y))


@define("EluGradV2", inputs="grads|dy activations|x",
        attributes={"alpha": 1.0, "scale": 1.0, "input_scale": 1.0, "is_result": False})
def elu_gradient_v2(dy, x, alpha, scale, input_scale, is_result):
    """dx = dy * scale above zero; below dy * input_scale times scale * alpha * exp(input_scale * x), or x + scale * alpha of the result"""
    if is_result and (alpha < 0 or scale < 0):
        raise Mismatch("a result does not tell its sign")
    slope = x + alpha * scale if is_result else alpha * scale * np.exp(input_scale * np.where(x > 0, 0.0, x))
    size = np.where(x > 0, 0.0, np.abs(dy * input_scale) * (np.abs(alpha * scale) if is_result else np.abs(slope)))
    return Value(np.where(x > 0, dy * scale, dy * input_scale * slope), magnitude=size, steps=3, unspecified=np.isnan(x))


@define("SeluGrad", inputs="gradients outputs")
def selu_gradient(dy, y):
    """y = gradients * 1.0507 where outputs is not below zero, else gradients * (outputs + 1.0507 * 1.6733)"""
    below = SELU_SCALE * SELU_ALPHA
    result = np.where(y < 0, dy * (y + below), dy * SELU_SCALE)
    return Value(result, magnitude=np.where(y < 0, np.abs(dy) * below, 0.0), steps=2, unspecified=np.isnan(y))


@define("SoftplusGrad", inputs="gradients features")
def softplus_gradient(dy, x):
    """backprops = gradients / (1 + exp(-features))"""
    return Value(dy * sigmoid(x), steps=3)


@define("SoftplusV2Grad", inputs="gradOutput|input_gradients self|input_features", attributes={"beta": 1.0, "threshold": 20.0})
def softplus_gradient_v2(dy, x, beta, threshold):
    """dx = dy / (1 + exp(-beta * x)), dy where beta * x is above the threshold"""
    straight = beta * x > threshold
    edge = near(beta * x, threshold) & (threshold < 10)
    return Value(np.where(straight, dy, dy * sigmoid(beta * x)), steps=3, unspecified=edge | np.isnan(x))


@define("SoftsignGrad", inputs="gradients features")
def softsign_gradient(dy, x):
    """output = gradients / (1 + |features|)^2"""
    return Value(dy / (1.0 + np.abs(x)) ** 2, steps=3)


@define("LogSigmoidGrad", inputs="grads features")
def log_sigmoid_gradient(dy, x):
    """backprops = grads / (1 + exp(features))"""
    return Value(dy * sigmoid(-x), steps=3)


@define("MishGrad", "MishGradV2", inputs="grad x tanhx?")
def mish_gradient(dy, x, tanhx):
    """x_grad = grad * (t + x * (1 - t^2) * sigmoid(x)), t = tanh(log(1 + exp(x))), or tanhx where that was saved"""
    if tanhx is not None and tanhx.shape != x.shape:
        raise Mismatch(f"tanhx of {list(tanhx.shape)} for {list(x.shape)}")
    bent = np.tanh(np.logaddexp(0.0, x)) if tanhx is None else tanhx
    curve = x * (1.0 - bent * bent) * sigmoid(x)
    size = np.abs(curve) if tanhx is None else np.abs(x) * (1.0 + bent * bent) * sigmoid(x) + np.abs(bent)
    return Value(dy * (bent + curve), magnitude=np.abs(dy) * (1.0 + size), steps=3)


@define("LogitGrad", inputs="x dy", attributes={"eps": -1.0})
def logit_gradient(x, dy, eps, call):
    """dx = dy / (x * (1 - x)) between eps and 1 - eps, else 0; with eps below zero NaN outside of 0 and 1"""
    low, high = (0.0, 1.0) if eps < 0 else (eps, 1.0 - eps)
    outside = (x < low) | (x > high)
    result = np.where(outside, np.nan if eps < 0 else 0.0, dy / (x * (1.0 - x)))
    # Where 1 - eps is rounded, elements just there are on either side.
    edge = on_the_edge(x, low, call) | on_the_edge(x, high, call) | (near(1.0 - x, eps) & (eps > 0)) | (x == 0) | (x == 1)
    size = np.where(outside, 0.0, np.abs(result) / np.abs(1.0 - x))
    return Value(result, magnitude=size, steps=3, unspecified=edge | ~np.isfinite(x))


@define("AbsGrad", inputs="y dy")
def absolute_gradient(y, dy):
    """z = dy * the sign of y"""
    return Value(dy * np.sign(y), exact=True, unspecified=np.isnan(y))


@define("LogSoftmaxGrad", inputs="grad|input_dy x|input_x", attributes={"axis": [-1]})
def log_softmax_gradient(dy, x, axis):
    """y = grad - exp(x) * the sum of grad along axis, x what log_softmax gave"""
    axis = tuple(axis) if isinstance(axis, list) else axis
    total, size = np.sum(dy, axis=axis, keepdims=True), np.sum(np.abs(dy), axis=axis, keepdims=True)
    # A rounded logarithm moves its exponential in proportion to its own size.
    soft = np.exp(x)
    return Value(dy - soft * total, magnitude=np.abs(dy) + soft * size, steps=2)
