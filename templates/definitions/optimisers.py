"""Steps of optimisers: what they make of weights and of the averages that they keep. Averages come out where the operator gives them."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define

# Roundings of a step: averages, root, quotient, difference.
STEPS = 3


def scalar(array):
    """The one element of an input that is a number."""
    array = np.asarray(array)
    if array.size != 1:
        raise Mismatch(f"a number of {array.size} elements")
    return float(array.reshape(-1)[0])


def must_be_alike(first, *others):
    if any(one is not None and one.shape != first.shape for one in others):
        raise Mismatch("weights, gradients and averages have different shapes")


def averaged(old, new, decay):
    """decay * old + (1 - decay) * new"""
    return Value(decay * old + (1 - decay) * new, magnitude=np.abs(decay * old) + np.abs((1 - decay) * new), steps=2)


def lessened(var, step, size):
    """var - step, where the step is as precise as its size."""
    return Value(var - step, magnitude=np.abs(var) + np.abs(size), steps=STEPS)


def adam(var, m, v, grad, rate, beta1, beta2, epsilon, nesterov):
    """A step of Adam with a rate that is corrected already, and both moments."""
    must_be_alike(var, m, v, grad)
    moment, square = averaged(m, grad, beta1), averaged(v, grad * grad, beta2)
    upper, size = moment.array, moment.magnitude
    if nesterov:
        upper, size = beta1 * upper + (1 - beta1) * grad, np.abs(beta1) * size + np.abs((1 - beta1) * grad)
    factor = rate / (np.sqrt(square.array) + epsilon)
    return lessened(var, factor * upper, factor * size), moment, square


def adam_by_powers(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, nesterov):
    numbers = [scalar(one) for one in (beta1_power, beta2_power, lr, beta1, beta2, epsilon)]
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = numbers
    rate = np.divide(lr * np.sqrt(1 - beta2_power), 1 - beta1_power)
    return adam(var, m, v, grad, rate, beta1, beta2, epsilon, nesterov)


ADAM = "var m v beta1_power~:float beta2_power~:float lr~:float beta1~:float beta2~:float epsilon~:float grad"


@define("ApplyAdam", inputs=ADAM, outputs="var", attributes={"use_nesterov": False}, ignored="use_locking")
def apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    """var = var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon), m and v the averages of grad and grad^2"""
    return adam_by_powers(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov)[0]


@define("ApplyAdam@all", "ApplyAdamD", inputs=ADAM, outputs="var m v", attributes={"use_nesterov": False}, ignored="use_locking")
def apply_adam_with_moments(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    """var = var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon), m and v the averages of grad and grad^2"""
    return adam_by_powers(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov)


def decoupled(var, m, v, grad, lr, beta1, beta2, weight_decay, epsilon, powers):
    """A step of Adam with decoupled decay, where powers are those of this step."""
    must_be_alike(var, m, v, grad)
    moment, square = averaged(m, grad, beta1), averaged(v, grad * grad, beta2)
    root = np.sqrt(np.divide(square.array, 1 - powers[1])) + epsilon
    factor = lr / (1 - np.float64(powers[0])) / root
    decay = lr * weight_decay * var
    return lessened(var, factor * moment.array + decay, np.abs(factor) * moment.magnitude + np.abs(decay)), moment, square


@define("ApplyAdamW", outputs="var m v", attributes={"amsgrad": False, "maximize": False},
        inputs="var m v beta1_power~:float beta2_power~:float lr~:float weight_decay~:float beta1~:float beta2~:float epsilon~:float grad "
               "max_grad_norm?")
def apply_adam_w(var, m, v, beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon, grad, _, amsgrad, maximize):
    """var = var * (1 - lr * weight_decay) - lr * m' / (sqrt(v') + epsilon), m' = m / (1 - beta1_power * beta1), v' likewise"""
    if amsgrad:
        raise Mismatch("amsgrad has no definition")
    numbers = [scalar(one) for one in (beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon)]
    beta1_power, beta2_power, lr, weight_decay, beta1, beta2, epsilon = numbers
    powers = (beta1_power * beta1, beta2_power * beta2)
    return decoupled(var, m, v, -grad if maximize else grad, lr, beta1, beta2, weight_decay, epsilon, powers)


@define("ApplyAdamWV2", inputs="var m v grad~:float step~ max_grad_norm~?:float", outputs="var m v",
        attributes={"lr": REQUIRED, "beta1": REQUIRED, "beta2": REQUIRED, "weight_decay": REQUIRED, "eps": REQUIRED,
                    "amsgrad": False, "maximize": False})
def apply_adam_w_of_step(var, m, v, grad, step, _, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize):
    """var = var * (1 - lr * weight_decay) - lr * m' / (sqrt(v') + eps), m' = m / (1 - beta1^step), v' = v / (1 - beta2^step)"""
    if amsgrad:
        raise Mismatch("amsgrad has no definition")
    step = scalar(step)
    powers = (np.float64(beta1) ** step, np.float64(beta2) ** step)
    return decoupled(var, m, v, -grad if maximize else grad, lr, beta1, beta2, weight_decay, eps, powers)


@define("ApplyFusedEmaAdam", inputs="grad var m v s step:index", outputs="var m v s",
        attributes={"lr": 1e-3, "ema_decay": 0.9999, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "mode": 1, "bias_correction": True,
                    "weight_decay": 0.0})
def apply_fused_ema_adam(grad, var, m, v, s, step, lr, ema_decay, beta1, beta2, eps, mode, bias_correction, weight_decay):
    """var = a step of Adam with weight decay, in grad with mode 0, decoupled with mode 1; s = ema_decay * s + (1 - ema_decay) * var"""
    must_be_alike(var, grad, m, v, s)
    if mode not in (0, 1):
        raise Mismatch(f"the mode {mode} has no definition")
    step = scalar(step)
    decay = weight_decay * var
    grad_size = np.abs(grad)
    if mode == 0:
        grad, grad_size = grad + decay, grad_size + np.abs(decay)
    moment, square = averaged(m, grad, beta1), averaged(v, grad * grad, beta2)
    moment.magnitude = np.abs(beta1 * m) + np.abs(1 - beta1) * grad_size
    square.magnitude = np.abs(beta2 * v) + np.abs(1 - beta2) * grad_size**2
    corrections = [1 - np.float64(beta) ** step if bias_correction else np.float64(1.0) for beta in (beta1, beta2)]
    root = np.sqrt(square.array / corrections[1]) + eps
    update, size = moment.array / corrections[0] / root, moment.magnitude / np.abs(corrections[0]) / np.abs(root)
    if mode == 1:
        update, size = update + decay, size + np.abs(decay)
    new = lessened(var, lr * update, np.abs(lr) * size)
    kept = averaged(s, new.array, ema_decay)
    kept.magnitude = np.abs(ema_decay * s) + np.abs(1 - ema_decay) * new.magnitude
    return new, moment, square, kept


def momentum_step(var, accum, lr, grad, momentum, nesterov):
    must_be_alike(var, accum, grad)
    lr, momentum = scalar(lr), scalar(momentum)
    total = Value(accum * momentum + grad, magnitude=np.abs(accum * momentum) + np.abs(grad))
    if nesterov:
        size = np.abs(lr) * (np.abs(grad) + np.abs(momentum) * total.magnitude)
        return lessened(var, lr * (grad + momentum * total.array), size), total
    return lessened(var, lr * total.array, lr * total.magnitude), total


MOMENTUM = "var accum lr~:float grad momentum~:float"


@define("ApplyMomentum", inputs=MOMENTUM, outputs="var", attributes={"use_nesterov": False}, ignored="use_locking")
def apply_momentum(var, accum, lr, grad, momentum, use_nesterov):
    """var = var - lr * a, a = momentum * accum + grad; with use_nesterov var - lr * (grad + momentum * a)"""
    return momentum_step(var, accum, lr, grad, momentum, use_nesterov)[0]


@define("InplaceApplyMomentum", "ApplyMomentumD", inputs=MOMENTUM, outputs="var accum", attributes={"use_nesterov": False},
        ignored="use_locking")
def apply_momentum_with_sum(var, accum, lr, grad, momentum, use_nesterov):
    """accum = momentum * accum + grad; var = var - lr * accum; with use_nesterov var - lr * (grad + momentum * accum)"""
    return momentum_step(var, accum, lr, grad, momentum, use_nesterov)


def keras_momentum_step(var, accum, lr, grad, momentum, nesterov):
    must_be_alike(var, accum, grad)
    lr, momentum = scalar(lr), scalar(momentum)
    total = Value(accum * momentum - lr * grad, magnitude=np.abs(accum * momentum) + np.abs(lr * grad))
    if nesterov:
        size = np.abs(momentum) * total.magnitude + np.abs(lr * grad)
        return lessened(var, lr * grad - momentum * total.array, size), total
    return lessened(var, -total.array, total.magnitude), total


@define("ApplyKerasMomentum", inputs=MOMENTUM, outputs="var", attributes={"use_nesterov": False}, ignored="use_locking")
def apply_keras_momentum(var, accum, lr, grad, momentum, use_nesterov):
    """var = var + a, a = momentum * accum - lr * grad; with use_nesterov var + momentum * a - lr * grad"""
    return keras_momentum_step(var, accum, lr, grad, momentum, use_nesterov)[0]


@define("InplaceApplyKerasMomentum", "ApplyKerasMomentumD", inputs=MOMENTUM, outputs="var accum", attributes={"use_nesterov": False},
        ignored="use_locking")
def apply_keras_momentum_with_sum(var, accum, lr, grad, momentum, use_nesterov):
    """accum = momentum * accum - lr * grad; var = var + accum; with use_nesterov var + momentum * accum - lr * grad"""
    return keras_momentum_step(var, accum, lr, grad, momentum, use_nesterov)


@define("ApplyFtrl", inputs="var accum linear grad lr~:float l1~:float l2~:float lr_power~:float", outputs="var", ignored="use_locking")
def apply_ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    """var = (sign(z) * l1 - z) / q where |z| > l1, else 0; n = accum + grad^2, p = -lr_power,
    z = linear + grad - (n^p - accum^p) / lr * var, q = n^p / lr + 2 * l2"""
    must_be_alike(var, accum, linear, grad)
    lr, l1, l2, lr_power = (scalar(one) for one in (lr, l1, l2, lr_power))
    before, after = np.power(accum, -lr_power), np.power(accum + grad * grad, -lr_power)
    total = linear + grad - (after - before) / lr * var
    size = np.abs(linear) + np.abs(grad) + (np.abs(after) + np.abs(before)) / np.abs(lr) * np.abs(var)
    quadratic = after / lr + 2 * l2
    # Either side of the edge gives nearly the same: what is left of the total there is nearly nothing.
    result = np.where(np.abs(total) > l1, (np.sign(total) * l1 - total) / quadratic, np.where(np.isnan(total), np.nan, 0.0))
    return Value(result, magnitude=(size + np.abs(l1)) / np.abs(quadratic), steps=STEPS, unspecified=np.isnan(total))


def adamax_step(var, m, v, grad, beta1_power, lr, beta1, beta2, epsilon):
    must_be_alike(var, m, v, grad)
    moment = averaged(m, grad, beta1)
    largest = np.maximum(beta2 * v, np.abs(grad))
    factor = np.divide(lr, 1 - beta1_power) / (largest + epsilon)
    return lessened(var, factor * moment.array, factor * moment.magnitude), moment, Value(largest)


@define("ApplyAdaMax", inputs="var m v beta1_power~:float lr~:float beta1~:float beta2~:float epsilon~:float grad", outputs="var",
        ignored="use_locking")
def apply_adamax(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    """var = var - lr / (1 - beta1_power) * m / (v + epsilon), m = the average of grad, v = max(beta2 * v, |grad|)"""
    numbers = [scalar(one) for one in (beta1_power, lr, beta1, beta2, epsilon)]
    return adamax_step(var, m, v, grad, *numbers)[0]


@define("ApplyAdamax", inputs="var m v grad", outputs="varOut mOut vOut",
        attributes={"beta1Power": REQUIRED, "lr": REQUIRED, "beta1": REQUIRED, "beta2": REQUIRED, "epsilon": REQUIRED})
def apply_adamax_with_moments(var, m, v, grad, beta1Power, lr, beta1, beta2, epsilon):
    """var = var - lr / (1 - beta1Power) * m / (v + epsilon), m = the average of grad, v = max(beta2 * v, |grad|)"""
    return adamax_step(var, m, v, grad, beta1Power, lr, beta1, beta2, epsilon)


@define("AmpUpdateScale", inputs="current_scale growth_tracker:int32 found_inf", outputs="updated_scale updated_growth_tracker:int32",
        attributes={"growth_factor": REQUIRED, "backoff_factor": REQUIRED, "growth_interval": REQUIRED})
def update_loss_scale(scale, tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    """scale * backoff_factor where infinities were found, * growth_factor after growth_interval steps without; steps counted anew then"""
    steps = tracker.reshape(-1)[0] + 1
    if np.any(found_inf != 0):
        return Value(scale * backoff_factor), Value(np.zeros_like(tracker), exact=True)
    if steps != growth_interval:
        return Value(scale, exact=True), Value(tracker + 1, exact=True)
    grown = scale * growth_factor
    if not np.all(np.abs(grown) < 2.0**15):
        raise Mismatch("a scale that may not be finite any more")
    return Value(grown), Value(np.zeros_like(tracker), exact=True)


@define("SGD", "Sgd", inputs="parameters gradient learning_rate~:float accum momentum~:float stat", outputs="parameters",
        attributes={"dampening": 0.0, "weight_decay": 0.0, "nesterov": False})
def descend(parameters, gradient, learning_rate, accum, momentum, stat, dampening, weight_decay, nesterov):
    """parameters = parameters - learning_rate * a, with nesterov learning_rate * (g + momentum * a);
    g = gradient + weight_decay * parameters, a = momentum * accum + g - dampening * (1 - stat) * g"""
    must_be_alike(parameters, gradient, accum, stat)
    rate, momentum = scalar(learning_rate), scalar(momentum)
    grad, size = gradient + weight_decay * parameters, np.abs(gradient) + np.abs(weight_decay * parameters)
    damped = dampening * (1 - stat)
    total = momentum * accum + grad - damped * grad
    total_size = np.abs(momentum * accum) + size * (1 + np.abs(damped))
    if nesterov:
        total, total_size = grad + momentum * total, size + np.abs(momentum) * total_size
    return lessened(parameters, rate * total, rate * total_size)


@define("ApplyGradientDescent", inputs="var alpha~:float delta", outputs="var", ignored="use_locking")
def apply_gradient_descent(var, alpha, delta):
    """var = var - alpha * delta"""
    must_be_alike(var, delta)
    step = scalar(alpha) * delta
    return Value(var - step, magnitude=np.abs(var) + np.abs(step))


def adagrad_step(var, accum, lr, grad, update_slots):
    must_be_alike(var, accum, grad)
    total = accum + grad * grad if update_slots else accum
    step = scalar(lr) * grad / np.sqrt(total)
    return lessened(var, step, step), Value(total)


@define("ApplyAdagrad", inputs="var accum lr~:float grad", outputs="var", attributes={"update_slots": True}, ignored="use_locking")
def apply_adagrad(var, accum, lr, grad, update_slots):
    """var = var - lr * grad / sqrt(a), a = accum + grad^2 with update_slots, else accum"""
    return adagrad_step(var, accum, lr, grad, update_slots)[0]


@define("ApplyAdagradD", inputs="var accum lr~:float grad", outputs="var accum", attributes={"update_slots": True}, ignored="use_locking")
def apply_adagrad_with_sum(var, accum, lr, grad, update_slots):
    """accum = accum + grad^2 with update_slots; var = var - lr * grad / sqrt(accum)"""
    return adagrad_step(var, accum, lr, grad, update_slots)


def root_mean_square_step(var, ms, mom, grad, lr, rho, momentum, epsilon):
    must_be_alike(var, ms, mom, grad)
    square = averaged(ms, grad * grad, rho)
    step = lr * grad / np.sqrt(square.array + epsilon)
    moment = Value(momentum * mom + step, magnitude=np.abs(momentum * mom) + np.abs(step), steps=STEPS)
    return lessened(var, moment.array, moment.magnitude), square, moment


@define("ApplyRMSProp", inputs="var ms mom lr~:float rho~:float momentum~:float epsilon~:float grad", outputs="var", ignored="use_locking")
def apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    """var = var - mom, mom = momentum * mom + lr * grad / sqrt(ms + epsilon), ms = rho * ms + (1 - rho) * grad^2"""
    numbers = [scalar(one) for one in (lr, rho, momentum, epsilon)]
    return root_mean_square_step(var, ms, mom, grad, *numbers)[0]


@define("ApplyRmsProp", inputs="var ms mom grad", outputs="var_out ms_out mom_out",
        attributes={"lr": 0.001, "rho": 0.9, "momentum": 0.0, "epsilon": 1e-10})
def apply_rms_prop_with_moments(var, ms, mom, grad, lr, rho, momentum, epsilon):
    """var = var - mom, mom = momentum * mom + lr * grad / sqrt(ms + epsilon), ms = rho * ms + (1 - rho) * grad^2"""
    return root_mean_square_step(var, ms, mom, grad, lr, rho, momentum, epsilon)


def adadelta_step(var, accum, accum_update, grad, lr, rho, epsilon):
    must_be_alike(var, accum, accum_update, grad)
    square = averaged(accum, grad * grad, rho)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(square.array + epsilon) * grad
    updates = averaged(accum_update, update * update, rho)
    updates.steps = STEPS
    return lessened(var, lr * update, lr * update), square, updates


@define("ApplyAdadelta", inputs="var accum accum_update lr~:float rho~:float epsilon~:float grad", outputs="var", ignored="use_locking")
def apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    """var = var - lr * u, u = grad * sqrt(accum_update + epsilon) / sqrt(a + epsilon), a = rho * accum + (1 - rho) * grad^2"""
    numbers = [scalar(one) for one in (lr, rho, epsilon)]
    return adadelta_step(var, accum, accum_update, grad, *numbers)[0]


@define("ApplyAdadelta@all", inputs="var accum accumUpdate grad", outputs="varOut accumOut accumUpdateOut",
        attributes={"lr": REQUIRED, "rho": REQUIRED, "epsilon": REQUIRED})
def apply_adadelta_with_averages(var, accum, accum_update, grad, lr, rho, epsilon):
    """var = var - lr * u, u = grad * sqrt(accumUpdate + epsilon) / sqrt(accum + epsilon); averages of grad^2 and u^2"""
    return adadelta_step(var, accum, accum_update, grad, lr, rho, epsilon)


def adam_apply_one(input0, input1, input2, input3, input4, factors, decay, epsilon):
    """input0 the gradient, input1 and input2 the averages of its square and of itself, input3 the weights, input4 the rate."""
    old_first, new_first, old_second, new_second = factors
    square = input0 * input0 * new_second + input1 * old_second
    square_size = np.abs(input0 * input0 * new_second) + np.abs(input1 * old_second)
    moment = input2 * old_first + input0 * new_first
    size = np.abs(input2 * old_first) + np.abs(input0 * new_first)
    root = np.sqrt(square) + epsilon
    update, update_size = moment / root, size / np.abs(root)
    if decay is not None:
        update, update_size = update + input3 * decay, update_size + np.abs(input3 * decay)
    new = lessened(input3, update * input4, update_size * input4)
    return Value(square, magnitude=square_size, steps=2), Value(moment, magnitude=size), new


@define("AdamApplyOne", "AdamApplyOneAssign", inputs="input0 input1 input2 input3 input4 mul0_x mul1_x mul2_x mul3_x add2_y",
        outputs="output0|input1 output1|input2 output2|input3")
def adam_step(input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, add2_y):
    """v = input0^2 * mul3_x + input1 * mul2_x, m = input2 * mul0_x + input0 * mul1_x, input3 - m / (sqrt(v) + add2_y) * input4"""
    return adam_apply_one(input0, input1, input2, input3, input4, (mul0_x, mul1_x, mul2_x, mul3_x), None, add2_y)


@define("AdamApplyOneWithDecay", "AdamApplyOneWithDecayAssign", outputs="output0|input1 output1|input2 output2|input3",
        inputs="input0 input1 input2 input3 input4 mul0_x mul1_x mul2_x mul3_x mul4_x add2_y")
def adam_step_with_decay(input0, input1, input2, input3, input4, mul0_x, mul1_x, mul2_x, mul3_x, mul4_x, add2_y):
    """v = input0^2 * mul3_x + input1 * mul2_x, m = input2 * mul0_x + input0 * mul1_x,
    input3 - (m / (sqrt(v) + add2_y) + mul4_x * input3) * input4"""
    return adam_apply_one(input0, input1, input2, input3, input4, (mul0_x, mul1_x, mul2_x, mul3_x), mul4_x, add2_y)


def lists_must_be_alike(first, *others):
    if any(one is not None and [array.shape for array in one] != [array.shape for array in first] for one in others):
        raise Mismatch("lists of weights, gradients and averages have different shapes")


@define("FusedSgd", inputs="params* grads* x* grad_scale:float32?", outputs="params* grads* y*",
        attributes={"weight_decay": 0.0, "momentum": 0.0, "lr": 1e-3, "dampening": 0.0, "nesterov": False, "maximize": False,
                    "is_first_step": True})
def fused_descent(params, grads, moments, grad_scale, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step):
    """params = params - lr * y, with nesterov lr * (g + momentum * y); y = momentum * x + (1 - dampening) * g, g in the first step;
    g = grads / grad_scale, less than zero with maximize, + weight_decay * params; grads = grads / grad_scale"""
    lists_must_be_alike(params, grads, moments)
    scale = 1.0 if grad_scale is None else scalar(grad_scale)
    results = [], [], []
    for var, grad, moment in zip(params, grads, moments):
        kept = grad / scale
        decay = weight_decay * var
        total, size = (-kept if maximize else kept) + decay, np.abs(kept) + np.abs(decay)
        new, new_size = total, size
        if not is_first_step:
            new = momentum * moment + (1 - dampening) * total
            new_size = np.abs(momentum * moment) + np.abs(1 - dampening) * size
        step, step_size = new, new_size
        if nesterov:
            step, step_size = total + momentum * new, size + np.abs(momentum) * new_size
        values = lessened(var, lr * step, lr * step_size), Value(kept, exact=scale == 1.0), Value(new, magnitude=new_size, steps=STEPS)
        for result, value in zip(results, values):
            result.append(value)
    return tuple(results)


ADAM_LISTS = "params* grads* exp_avgs* exp_avg_sqs* max_exp_avg_sqs*? state_steps*~"
FUSED_ADAM = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "weight_decay": 0.0, "eps": 1e-8, "amsgrad": False, "maximize": False}


def fused_adam_steps(params, grads, firsts, seconds, steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize):
    if amsgrad:
        raise Mismatch("amsgrad has no definition")
    lists_must_be_alike(params, grads, firsts, seconds)
    if len(steps) != len(params):
        raise Mismatch("there must be a step for each of the weights")
    rows = []
    for var, grad, m, v, step in zip(params, grads, firsts, seconds, steps):
        powers = np.float64(beta1) ** scalar(step), np.float64(beta2) ** scalar(step)
        rows.append(decoupled(var, m, v, -grad if maximize else grad, lr, beta1, beta2, weight_decay, eps, powers))
    return tuple([row[place] for row in rows] for place in range(3))


@define("FusedAdamw", inputs=ADAM_LISTS, outputs="params* exp_avgs* exp_avg_sqs*", attributes=FUSED_ADAM)
def fused_adam_w(params, grads, firsts, seconds, _, steps, **numbers):
    """params = params * (1 - lr * weight_decay) - lr * m' / (sqrt(v') + eps), m' = m / (1 - beta1^step), v' = v / (1 - beta2^step)"""
    return fused_adam_steps(params, grads, firsts, seconds, steps, **numbers)


@define("FusedAdamw@maxima", inputs=ADAM_LISTS.replace("?", ""), outputs="params* exp_avgs* exp_avg_sqs* max_exp_avg_sqs*",
        attributes=FUSED_ADAM)
def fused_adam_w_with_maxima(params, grads, firsts, seconds, maxima, steps, **numbers):
    """params = params * (1 - lr * weight_decay) - lr * m' / (sqrt(v') + eps), m' = m / (1 - beta1^step), v' = v / (1 - beta2^step)"""
    # Without amsgrad nothing is said of the maxima.
    return (*fused_adam_steps(params, grads, firsts, seconds, steps, **numbers), [None] * len(maxima))
