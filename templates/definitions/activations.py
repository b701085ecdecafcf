"""Activations, their gated forms and gradients."""

import math

import numpy as np

from core import Mismatch, Value, define
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


@define("Swish", attributes={"scale": 1.0})
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


@define("GeluV2", attributes={"approximate": "none"})
def gelu_v2(x, approximate):
    """y = x * P(X <= x) of the normal distribution, or its approximation by tanh"""
    return Value(gelu_exact(x) if approximate == "none" else gelu_tanh(x), magnitude=np.abs(x), steps=2)


@define("GeluGrad", inputs="dy x y")
def gelu_gradient(dy, x, _):
    """z = dy * the slope of the approximation by tanh at x"""
    return Value(dy * gelu_tanh_slope(x), magnitude=np.abs(dy), steps=3)


@define("GeluGradV2", inputs="dy x", attributes={"approximate": "none"})
def gelu_gradient_v2(dy, x, approximate):
    """z = dy * the slope of gelu at x"""
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


@define("Relu", dtypes="number")
def relu(x):
    """y = max(x, 0)"""
    return Value(np.maximum(x, 0), exact=True, unspecified=either_nan(x))


@define("Relu6", dtypes="number")
def relu6(x):
    """y = min(max(x, 0), 6)"""
    return Value(np.minimum(np.maximum(x, 0), 6), exact=True, unspecified=either_nan(x))


@define("LeakyRelu", attributes={"negative_slope": 0.0})
def leaky_relu(x, negative_slope):
    """y = x above zero, negative_slope * x below"""
    return np.where(x > 0, x, negative_slope * x)


@define("LeakyReluGrad", inputs="gradients|dy features|x", attributes={"negative_slope": 0.0})
def leaky_relu_gradient(dy, x, negative_slope):
    """dx = dy where x is above zero, else negative_slope * dy"""
    return np.where(x > 0, dy, negative_slope * dy)


@define("ReluGrad", inputs="gradients|dy features|x")
def relu_gradient(dy, x):
    """dx = dy where x is above zero, else 0"""
    return Value(np.where(x > 0, dy, 0.0), exact=True)


@define("SquaredRelu")
def squared_relu(x):
    """y = max(x, 0)^2"""
    return Value(np.maximum(x, 0.0) ** 2, unspecified=np.isnan(x))


@define("Softplus")
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


@define("HardSwish")
def hard_swish(x):
    """y = x * min(max(x + 3, 0), 6) / 6"""
    return Value(x * np.minimum(np.maximum(x + 3.0, 0.0), 6.0) / 6.0, magnitude=np.abs(x), steps=2)


@define("HardSwishGradV2", inputs="gradOutput self")
def hard_swish_gradient(dy, x):
    """dx = 0 below -3, dy above 3, else dy * (x / 3 + 1 / 2)"""
    edge = np.abs(x) == 3.0
    return Value(np.where(x < -3, 0.0, np.where(x > 3, dy, dy * (x / 3.0 + 0.5))), magnitude=np.abs(dy), steps=2, unspecified=edge)


@define("Logit", attributes={"eps": -1.0})
def logit(x, eps):
    """y = log(x / (1 - x)), x between eps and 1 - eps"""
    x = x if eps < 0 else np.minimum(np.maximum(x, eps), 1.0 - eps)
    return Value(np.log(x / (1.0 - x)), magnitude=1.0 + 1.0 / np.abs(1.0 - x), steps=2)


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
