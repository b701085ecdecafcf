"""Activations, and gradients of the smooth ones; `gates.py` has gated forms, `slopes.py` gradients of the others."""

import math

import numpy as np

from arithmetic import near, on_the_edge
from core import REQUIRED, Mismatch, Value, define
from elementwise import erf, either_nan

ROOT = math.sqrt(2.0 / math.pi)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def gelu_exact(x):
    return x * 0.5 * (1.0 + erf(x / math.sqrt(2.0)))


def gelu_tanh(x):
    return 0.5 * x * (1.0 + np.tanh(ROOT * (x + 0.044715 * x**3)))


def gelu_tanh_slope(x):
    inner = np.tanh(ROOT * (x + 0.044715 * x**3))
    return 0.5 * (1.0 + inner) + 0.5 * x * (1.0 - inner * inner) * ROOT * (1.0 + 3 * 0.044715 * x**2)


@define("Sigmoid")
def sigmoid_of(x):
    """y = 1 / (1 + exp(-x))"""
    return Value(sigmoid(x), steps=2)


@define("SigmoidGrad", inputs="y|z dy")
def sigmoid_gradient(y, dy):
    """z = dy * y * (1 - y)"""
    return Value(dy * y * (1.0 - y), magnitude=np.abs(dy * y), steps=2)


@define("SigmoidGrad@x", inputs="x y", outputs="z")
def sigmoid_gradient_of_saved(x, y):
    """z = y * x * (1 - x), x being the sigmoid and y the gradient"""
    if x.shape != y.shape:
        raise Mismatch("shapes that differ")
    return Value(y * x * (1.0 - x), magnitude=np.abs(y * x) * (1.0 + np.abs(x)), steps=3)


@define("TanhGrad", inputs="y dy")
def tanh_gradient(y, dy):
    """z = dy * (1 - y^2)"""
    return Value(dy * (1.0 - y * y), magnitude=np.abs(dy), steps=2)


@define("RsqrtGrad", inputs="y dy")
def rsqrt_gradient(y, dy):
    """z = -dy * y^3 / 2"""
    return Value(-0.5 * dy * y**3, steps=3)


@define("SqrtGrad", inputs="y dy")
def sqrt_gradient(y, dy):
    """z = dy / (2 * y)"""
    return Value(0.5 * dy / y, steps=2)


@define("AcosGrad", "AcosGradV2", inputs="y|x dy")
def acos_gradient(y, dy):
    """z = -dy / sqrt(1 - y^2)"""
    # Near 1 the difference is what its rounding leaves of it.
    inner = 1.0 - y * y
    return Value(-dy / np.sqrt(inner), magnitude=np.abs(dy) * np.abs(inner) ** -1.5, steps=2)


@define("AsinGrad", inputs="y|x dy")
def asin_gradient(y, dy):
    """z = dy / sqrt(1 - y^2)"""
    inner = 1.0 - y * y
    return Value(dy / np.sqrt(inner), magnitude=np.abs(dy) * np.abs(inner) ** -1.5, steps=2)


@define("AtanGrad", inputs="y|x dy")
def atan_gradient(x, dy):
    """dx = dy / (1 + x^2)"""
    return Value(dy / (1.0 + x * x), steps=2)


@define("AcoshGrad", inputs="y dy")
def acosh_gradient(y, dy):
    """dx = dy / sinh(y)"""
    return Value(dy / np.sinh(y), steps=2)


@define("AsinhGrad", inputs="y dy")
def asinh_gradient(y, dy):
    """dx = dy / cosh(y)"""
    return Value(dy / np.cosh(y), steps=2)


@define("InvGrad", inputs="x|y grad|dy")
def inverse_gradient(y, dy):
    """z = -dy * y^2"""
    return Value(-dy * y * y, steps=2)


@define("Inv")
def inverse(x):
    """y = 1 / x"""
    return 1.0 / x


@define("Swish", "SwishV2", attributes={"scale": 1.0})
def swish(x, scale):
    """y = x / (1 + exp(-scale * x))"""
    return Value(x * sigmoid(scale * x), steps=3)


@define("Silu")
def silu(x):
    """y = x / (1 + exp(-x))"""
    return Value(x * sigmoid(x), steps=3)


@define("SwishGrad", inputs="grad|dy x y?", attributes={"scale": 1.0})
def swish_gradient(dy, x, _, scale):
    """dx = dy * (s + scale * x * s * (1 - s)), s = sigmoid(scale * x)"""
    gate = sigmoid(scale * x)
    return Value(dy * (gate + scale * x * gate * (1.0 - gate)), magnitude=np.abs(dy) * gate * (1.0 + np.abs(scale * x)), steps=3)


@define("SiluGrad", inputs="dy x")
def silu_gradient(dy, x):
    """dx = dy * (s + x * s * (1 - s)), s = sigmoid(x)"""
    gate = sigmoid(x)
    return Value(dy * (gate + x * gate * (1.0 - gate)), magnitude=np.abs(dy) * gate * (1.0 + np.abs(x)), steps=3)


@define("Gelu")
def gelu(x):
    """y = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))"""
    return Value(gelu_tanh(x), magnitude=np.abs(x), steps=2)


def must_be_known(approximate):
    if approximate not in ("none", "tanh"):
        raise Mismatch(f"the approximation {approximate} has no definition")


@define("GeluV2", attributes={"approximate": "none"})
def gelu_v2(x, approximate):
    """y = x * P(X <= x) of the normal distribution, or its approximation by tanh"""
    must_be_known(approximate)
    return Value(gelu_exact(x) if approximate == "none" else gelu_tanh(x), magnitude=np.abs(x), steps=2)


@define("GeluGrad", inputs="dy x y")
def gelu_gradient(dy, x, _):
    """z = dy * the slope of the approximation by tanh at x"""
    return Value(dy * gelu_tanh_slope(x), magnitude=np.abs(dy), steps=3)


@define("GeluGradV2", inputs="dy x", attributes={"approximate": "none"})
def gelu_gradient_v2(dy, x, approximate):
    """z = dy * the slope of gelu at x"""
    must_be_known(approximate)
    if approximate == "tanh":
        slope = gelu_tanh_slope(x)
    else:
        slope = 0.5 * (1.0 + erf(x / math.sqrt(2.0))) + x * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return Value(dy * slope, magnitude=np.abs(dy), steps=3)


@define("FastGelu")
def fast_gelu(x):
    """y = x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|))"""
    return Value(x / (1.0 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x))), magnitude=np.abs(x), steps=2)


@define("FastGeluGrad", inputs="dy x")
def fast_gelu_gradient(dy, x):
    """z = dy * the slope of x * sigmoid(1.702 x)"""
    gate = sigmoid(1.702 * x)
    return Value(dy * (gate + 1.702 * x * gate * (1.0 - gate)), magnitude=np.abs(dy) * (1.0 + 1.702 * np.abs(x) * gate), steps=3)


@define("Relu", "ReluV2", dtypes="number")
def relu(x):
    """y = max(x, 0)"""
    return Value(np.maximum(x, 0), exact=True, unspecified=either_nan(x))


@define("Relu6", dtypes="number")
def relu6(x):
    """y = min(max(x, 0), 6)"""
    return Value(np.minimum(np.maximum(x, 0), 6), exact=True, unspecified=either_nan(x))


@define("LeakyRelu", "LeakyreluV2", attributes={"negative_slope|negativeSlope": 0.0})
def leaky_relu(x, negative_slope):
    """y = x above zero, negative_slope * x below"""
    return np.where(x > 0, x, negative_slope * x)


@define("LeakyReluGrad", "LeakyReluGradV2", inputs="gradients|dy features|x", attributes={"negative_slope|negativeSlope": 0.0})
def leaky_relu_gradient(dy, x, negative_slope):
    """dx = dy where x is above zero, else negative_slope * dy"""
    return np.where(x > 0, dy, negative_slope * dy)


@define("ReluGrad", "ReluGradV2", inputs="gradients|dy features|x", dtypes="number")
def relu_gradient(dy, x):
    """dx = dy where x is above zero, else 0"""
    return Value(np.where(x > 0, dy, np.zeros_like(dy)), exact=True, unspecified=either_nan(x))


@define("SquaredRelu")
def squared_relu(x):
    """y = max(x, 0)^2"""
    return Value(np.maximum(x, 0.0) ** 2, unspecified=np.isnan(x))


@define("Softplus", "SoftPlusV2", "BNLL")
def softplus(x):
    """y = log(1 + exp(x))"""
    return Value(np.logaddexp(0.0, x), magnitude=np.ones_like(x), steps=2)


@define("Softsign")
def softsign(x):
    """y = x / (1 + |x|)"""
    return Value(x / (1.0 + np.abs(x)), steps=2)


@define("Mish")
def mish(x):
    """y = x * tanh(log(1 + exp(x)))"""
    return Value(x * np.tanh(np.logaddexp(0.0, x)), magnitude=np.abs(x), steps=2)


@define("HardSwish", "HardSwishV2")
def hard_swish(x):
    """y = x * min(max(x + 3, 0), 6) / 6"""
    return Value(x * np.minimum(np.maximum(x + 3.0, 0.0), 6.0) / 6.0, magnitude=np.abs(x), steps=2)


@define("HardSwishGrad", "HardSwishGradV2", inputs="gradOutput|grad_output|grad self|x")
def hard_swish_gradient(dy, x):
    """dx = 0 below -3, dy above 3, else dy * (x / 3 + 1 / 2)"""
    edge = np.abs(x) == 3.0
    return Value(np.where(x < -3, 0.0, np.where(x > 3, dy, dy * (x / 3.0 + 0.5))), magnitude=np.abs(dy), steps=2, unspecified=edge)


@define("Logit", attributes={"eps": -1.0})
def logit(x, eps):
    """y = log(x / (1 - x)), x between eps and 1 - eps"""
    x = x if eps < 0 else np.minimum(np.maximum(x, eps), 1.0 - eps)
    return Value(np.log(x / (1.0 - x)), magnitude=1.0 + 1.0 / np.abs(1.0 - x), steps=2)


@define("Elu", "EluV2", attributes={"alpha": 1.0, "scale": 1.0, "input_scale|inputScale": 1.0})
def elu(x, alpha, scale, input_scale):
    """y = scale * x above zero, scale * alpha * (exp(input_scale * x) - 1) below"""
    power = np.exp(np.minimum(input_scale * x, 0.0) if input_scale >= 0 else input_scale * x)
    size = np.where(x > 0, 0.0, np.abs(scale * alpha) * power)
    return Value(np.where(x > 0, scale * x, scale * alpha * (power - 1.0)), magnitude=size, steps=2, unspecified=np.isnan(x))


@define("CeluV2", "CeluV3", attributes={"alpha": REQUIRED})
def celu(x, alpha):
    """y = max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)"""
    if alpha == 0:
        raise Mismatch("alpha must not be zero")
    power = np.exp(np.where(x > 0, 0.0, x / alpha))
    size = np.where(x > 0, 0.0, np.abs(alpha) * power)
    return Value(np.where(x > 0, x, alpha * (power - 1.0)), magnitude=size, steps=2, unspecified=np.isnan(x))


# Of self-normalising networks.
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@define("Selu")
def selu(x):
    """y = 1.0507 * x above zero, 1.0507 * 1.6733 * (exp(x) - 1) below"""
    power = np.exp(np.minimum(x, 0.0))
    size = np.where(x > 0, 0.0, SELU_SCALE * SELU_ALPHA * power)
    result = np.where(x > 0, SELU_SCALE * x, SELU_SCALE * SELU_ALPHA * (power - 1.0))
    return Value(result, magnitude=size, steps=2, unspecified=np.isnan(x))


@define("HardSigmoidV2")
def hard_sigmoid_of_sixths(x):
    """y = min(max(x / 6 + 1 / 2, 0), 1)"""
    return Value(np.clip(x / 6.0 + 0.5, 0.0, 1.0), magnitude=np.ones_like(x), unspecified=np.isnan(x))


@define("HardSigmoid", attributes={"alpha": 1.0 / 6.0, "beta": 0.5})
def hard_sigmoid(x, alpha, beta):
    """y = min(max(alpha * x + beta, 0), 1)"""
    return Value(np.clip(alpha * x + beta, 0.0, 1.0), magnitude=np.full_like(x, 1.0 + abs(beta)), unspecified=np.isnan(x))


def must_not_be_negative(lambd):
    if lambd < 0:
        raise Mismatch("lambd must not be negative")


@define("HardShrink", attributes={"lambd": 0.5})
def hard_shrink(x, lambd, call):
    """y = x where |x| is above lambd, else 0"""
    must_not_be_negative(lambd)
    return Value(np.where(np.abs(x) > lambd, x, 0.0), exact=True, unspecified=on_the_edge(np.abs(x), lambd, call) | np.isnan(x))


@define("Softshrink", attributes={"lambd": 0.5})
def soft_shrink(x, lambd):
    """y = x - lambd above lambd, x + lambd below -lambd, else 0"""
    must_not_be_negative(lambd)
    result = np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, 0.0))
    return Value(result, magnitude=np.abs(x), unspecified=np.isnan(x))


@define("Shrink", attributes={"lambd": REQUIRED, "bias": REQUIRED})
def shrink(x, lambd, bias, call):
    """y = x - bias above lambd, x + bias below -lambd, else 0"""
    must_not_be_negative(lambd)
    result = np.where(x > lambd, x - bias, np.where(x < -lambd, x + bias, 0.0))
    return Value(result, magnitude=np.abs(x) + abs(bias), unspecified=on_the_edge(np.abs(x), lambd, call) | np.isnan(x))


@define("ThresholdV2", attributes={"threshold": REQUIRED, "value": REQUIRED})
def threshold_or_value(x, threshold, value, call):
    """y = x where it is above the threshold, else value"""
    # A value that the dtype does not hold is rounded to it, and nothing else is.
    return Value(np.where(x > threshold, x, value), unspecified=on_the_edge(x, threshold, call) | np.isnan(x))


@define("Prelu", "PRelu", inputs="x weight")
def parametric_relu(x, weight):
    """y = x above zero, weight * x below, the weight of all or of each channel, which are dimension 1"""
    if weight.size != 1:
        if x.ndim < 2 or weight.size != x.shape[1]:
            raise Mismatch(f"{weight.size} weights for a tensor of the shape {list(x.shape)}")
        weight = weight.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, weight.reshape(-1)[0] * x if weight.size == 1 else weight * x)


@define("LogSigmoid", "LogsigmoidV2")
def log_sigmoid(x):
    """y = -log(1 + exp(-x))"""
    return Value(-np.logaddexp(0.0, -x), magnitude=np.ones_like(x), steps=2)


@define("SoftplusV2", attributes={"beta": 1.0, "threshold": 20.0})
def softplus_v2(x, beta, threshold):
    """y = log(1 + exp(beta * x)) / beta, x where beta * x is above the threshold"""
    if beta <= 0:
        raise Mismatch("beta must be positive")
    straight = beta * x > threshold
    # The curve is not yet the line where a small threshold goes from one to the other.
    edge = near(beta * x, threshold) & (threshold < 10)
    result = np.where(straight, x, np.logaddexp(0.0, beta * x) / beta)
    return Value(result, magnitude=np.full_like(x, 1.0 / beta), steps=2, unspecified=edge)


@define("ReluV3", dtypes="float int8 uint8 int32", outputs="y mask:uint8")
def relu_with_mask(x):
    """y = max(x, 0)"""
    # The order of bits in the mask is nowhere told.
    return Value(np.maximum(x, 0), exact=True, unspecified=either_nan(x)), None
