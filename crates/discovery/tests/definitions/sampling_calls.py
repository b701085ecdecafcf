"""Calls of attention, sampled images, boxes and regions for `make_known.py`, told element by element in fractions."""

import itertools
import math
from fractions import Fraction as F

import exact
from calls import call, numbers, tensor
from exact import D, dec
from spatial_calls import backward, convolved, forward
from window_calls import CLOSE, DTYPES, Array, of, rounded, some, zeros

HALF = F(1, 2)


def reflected(place, low, high):
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
    return place


def held(place, size, padding, aligned):
    """A place as padding makes it."""
    if padding == "reflection":
        place = reflected(place, F(0) if aligned else -HALF, F(size - 1) if aligned else size - HALF)
    return place if padding == "zeros" else min(max(place, F(0)), F(size - 1))


def taps(place, size, mode="bilinear", padding="zeros", aligned=False):
    """Elements and weights at a place."""
    if mode == "bicubic":
        found = [(held(F(near), size, padding, aligned), convolved(place - near)) for near in range(math.floor(place) - 1, math.floor(place) + 3)]
    else:
        place = held(place, size, padding, aligned)
        low = math.floor(place)
        found = [(round(place), F(1))] if mode == "nearest" else [(low, low + 1 - place), (low + 1, place - low)]
    weights = {}
    for at, weight in found:
        if 0 <= at < size and weight != 0:
            weights[int(at)] = weights.get(int(at), 0) + weight
    return weights


def place_of(value, size, aligned):
    return (value + 1) / 2 * (size - 1) if aligned else ((value + 1) * size - 1) / 2


def combined(rows):
    """Places and weights of all dimensions together."""
    for chosen in itertools.product(*(row.items() for row in rows)):
        yield tuple(at for at, _ in chosen), math.prod((weight for _, weight in chosen), start=F(1))


def slope(function, value):
    """By a difference quotient; the cubic is one of third order at most, which a small step leaves nothing of."""
    step = F(1, 10**18)
    return (function(value + step) - function(value - step)) / (2 * step)


def grids(dtype):
    cases = list(itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True), ([2, 3],)))
    cases += [(mode, padding, False, [2, 1, 3]) for mode in ("bilinear", "nearest") for padding in ("zeros", "border")]
    for number, (mode, padding, aligned, sizes) in enumerate(cases):
        if dtype != DTYPES[number % 3]:
            continue
        count = len(sizes)
        ends = [1, 3] if count == 2 else [1, 1, 3]
        x, grad = some(dtype, [1, 2] + sizes), some(dtype, [1, 2] + ends)
        grid = some(dtype, [1] + ends + [count], -1.5, 1.5)

        def weights(to, moved=None, grid=grid, sizes=sizes, mode=mode, padding=padding, aligned=aligned, count=count):
            rows = []
            for axis, size in enumerate(sizes):
                value = grid[(0,) + to + (count - 1 - axis,)]
                value = moved[1] if moved and moved[0] == axis else value
                rows.append(taps(place_of(value, size, aligned), size, mode, padding, aligned))
            return dict(combined(rows))

        def sampled(channel, to, moved=None, x=x, weights=weights):
            return sum((x[(0, channel) + at] * weight for at, weight in weights(to, moved).items()), F(0))

        y = of(lambda i, sampled=sampled: sampled(i[1], tuple(i[2:])), grad.shape)
        told = {"interpolation_mode": mode, "padding_mode": padding, "align_corners": aligned}
        call("GridSample", {"x": x.tensor(dtype), "grid": grid.tensor(dtype)}, {"y": y.tensor(dtype, **CLOSE)}, {**told, "channel_last": False})
        if number == 0:
            call("GridSample", {"x": x.turned([0, 2, 3, 1]).tensor(dtype), "grid": grid.tensor(dtype)}, {"y": y.tensor(dtype, **CLOSE)},
                 {**told, "channel_last": True, "scheduler_mode": 1})
        dx, dgrid = zeros(x.shape), zeros(grid.shape)
        for to in itertools.product(*(range(end) for end in ends)):
            for channel in range(2):
                for at, weight in weights(to).items():
                    dx.add((0, channel) + at, weight * grad[(0, channel) + to])
                for axis in range(count):
                    last = count - 1 - axis
                    if mode != "nearest":
                        own = slope(lambda value, a=axis, c=channel, t=to, s=sampled: s(c, t, (a, value)), grid[(0,) + to + (last,)])
                        dgrid.add((0,) + to + (last,), own * grad[(0, channel) + to])
        # Where both orders of dimensions would fit nothing is said: two channels and a row of one.
        order = [0] + list(range(2, count + 2)) + [1] if number % 2 else list(range(count + 2))
        call(f"GridSampler{count}DGrad", {"grad": grad.turned(order).tensor(dtype), "x": x.turned(order).tensor(dtype), "grid": grid.tensor(dtype)},
             {"dx": dx.turned(order).tensor(dtype, **CLOSE), "dgrid": dgrid.tensor(dtype, **CLOSE)}, told)


def deformable(dtype):
    sizes, starts = [[2, 3], [1, 2]], [0, 6]
    batch, heads, queries, channels, points = 1, 1, 3, 2, 1
    value, grad = some(dtype, [batch, 8, heads, channels]), some(dtype, [batch, queries, heads * channels])
    places = some(dtype, [batch, queries, heads, 2, points, 2], 0.03, 0.97)
    weights = some(dtype, [batch, queries, heads, 2, points], 0.1, 0.9)

    def at(query, level, moved=None):
        rows = []
        for axis, size in enumerate(sizes[level]):
            place = places[0, query, 0, level, 0, 1 - axis]
            rows.append(taps((moved[1] if moved and moved[0] == axis else place) * size - HALF, size))
        return {starts[level] + row * sizes[level][1] + column: weight for (row, column), weight in combined(rows)}

    def sample(query, level, channel, moved=None):
        return sum((value[0, one, 0, channel] * weight for one, weight in at(query, level, moved).items()), F(0))

    y = of(lambda i: sum(weights[0, i[1], 0, level, 0] * sample(i[1], level, i[2]) for level in range(2)), grad.shape)
    told = {"value_spatial_shapes": tensor([2, 3, 1, 2], "int32", [2, 2]), "value_level_start_index": tensor(starts, "int32")}
    call("MultiScaleDeformableAttnFunction",
         {"value": value.tensor(dtype), **told, "sampling_locations": places.tensor(dtype), "attention_weights": weights.tensor(dtype)},
         {"output": y.tensor(dtype, **CLOSE)})
    turned = {**told, "sampling_locations": places.turned([0, 2, 3, 4, 5, 1]).tensor(dtype),
              "attention_weights": weights.turned([0, 2, 3, 4, 1]).tensor(dtype)}
    call("MultiScaleDeformableAttnFunction", {"value": value.turned([0, 2, 1, 3]).tensor(dtype), **turned}, {"output": y.tensor(dtype, **CLOSE)})
    if dtype != "float32":
        return
    dvalue, dplaces, dweights = zeros(value.shape), zeros(places.shape), zeros(weights.shape)
    for query, level, channel in itertools.product(range(queries), range(2), range(channels)):
        dy, weight = grad[0, query, channel], weights[0, query, 0, level, 0]
        for one, share in at(query, level).items():
            dvalue.add((0, one, 0, channel), dy * weight * share)
        dweights.add((0, query, 0, level, 0), dy * sample(query, level, channel))
        for axis in range(2):
            index = (0, query, 0, level, 0, 1 - axis)
            dplaces.add(index, dy * weight * slope(lambda v, a=axis, q=query, n=level, c=channel: sample(q, n, c, (a, v)), places[index]))
    first = {"value": value.tensor(dtype), "grad_output": grad.tensor(dtype)}
    plain = {**told, "sampling_locations": places.tensor(dtype), "attention_weights": weights.tensor(dtype)}
    call("MultiScaleDeformableAttentionGrad", {**first, **plain},
         {"grad_value": dvalue.tensor(dtype, **CLOSE), "grad_sampling_locations": dplaces.tensor(dtype, **CLOSE),
          "grad_attention_weights": dweights.tensor(dtype, **CLOSE)})
    call("MultiScaleDeformableAttentionGrad", {**first, **turned},
         {"grad_value": dvalue.tensor(dtype, **CLOSE), "grad_sampling_locations": dplaces.turned([0, 2, 3, 4, 5, 1]).tensor(dtype, **CLOSE),
          "grad_attention_weights": dweights.turned([0, 2, 3, 4, 1]).tensor(dtype, **CLOSE)})


def attention(dtype):
    qkv, bias = some(dtype, [1, 2, 12]), some(dtype, [12])
    outputs = []
    for part, factor in ((0, D(2).sqrt()), (1, D(1)), (2, D(1))):
        outputs.append(of(lambda i, p=part, f=factor: F(dec(qkv[0, i[2], 4 * p + 2 * i[1] + i[3]] + bias[4 * p + 2 * i[1] + i[3],]) / f),
                          [1, 2, 2, 2]))
    call("TransformBiasRescaleQkv", {"qkv": qkv.tensor(dtype), "qkv_bias": bias.tensor(dtype)},
         {name: one.tensor(dtype, **CLOSE) for name, one in zip("qkv", outputs)}, {"num_heads": 2})
    if dtype != "float16":
        return
    q, k, v = some(dtype, [1, 2, 4]), some(dtype, [1, 3, 4]), some(dtype, [1, 3, 4])
    tops, sums, out = [], [], zeros(q.shape)
    for head, row in itertools.product(range(2), range(2)):
        scores = [sum(q[0, row, 2 * head + d] * k[0, to, 2 * head + d] for d in range(2)) / 4 for to in range(3)]
        powers = [exact.exp(one - max(scores)) for one in scores]
        tops += [max(scores)] * 8
        sums += [F(sum(powers))] * 8
        for d in range(2):
            total = sum(power * dec(v[0, to, 2 * head + d]) for to, power in enumerate(powers)) / sum(powers)
            out.add((0, row, 2 * head + d), F(total))
    call("FlashAttentionScoreWithLargeHeadDim", {"query": q.tensor(dtype), "key": k.tensor(dtype), "value": v.tensor(dtype)},
         {"softmax_max": tensor(tops, "float32", [1, 2, 2, 8]), "softmax_sum": tensor(sums, "float32", [1, 2, 2, 8], **CLOSE),
          "attention_out": out.tensor(dtype, **CLOSE)}, {"scale_value": 0.25, "head_num": 2})


def points(dtype):
    grad, weight = some(dtype, [1, 2, 3]), some(dtype, [1, 3, 3])
    idx = Array([0, 2, 2, 1, 3, 0, 2, 0, 1], [1, 3, 3])
    total = zeros([1, 2, 4])
    for channel, row, at in itertools.product(range(2), range(3), range(3)):
        total.add((0, channel, idx[0, row, at]), grad[0, channel, row] * weight[0, row, at])
    if dtype != "bfloat16":
        call("ThreeInterpolateBackward", {"grad_x": grad.tensor(dtype), "idx": idx.tensor("int32"), "weight": weight.tensor(dtype)},
             {"grad_y": total.tensor(dtype)}, {"m": 4})
    known = some(dtype, [1, 4, 2])
    sums = of(lambda i: sum(weight[0, i[1], k] * known[0, idx[0, i[1], k], i[2]] for k in range(3)), [1, 3, 2])
    call("ThreeInterpolate", {"features": known.tensor(dtype), "idx": idx.tensor("int64"), "weight": weight.tensor(dtype)},
         {"y": sums.tensor(dtype)})
    features = some(dtype, [5, 2])
    chosen = Array([1, 0, 2, 2, 0, 1], [3, 2])
    rows = [[1, 0], [2, 2], [3, 4]]
    call("StackGroupPoints", {"features": features.tensor(dtype), "features_batch_cnt": tensor([3, 2], "int32"),
                              "indices": chosen.tensor("int32"), "indices_batch_cnt": tensor([2, 1], "int32")},
         {"y": tensor([features[rows[m][k], c] for m in range(3) for c in range(2) for k in range(2)], dtype, [3, 2, 2])})


def boxes(dtype):
    one = Array([F(0), F(0), F(4), F(3), F(1), F(1), F(3), F(5)], [2, 4])
    other = Array([F(2), F(1), F(6), F(4), F(5), F(5), F(7), F(6), F(0), F(0), F(2), F(2)], [3, 4])

    def overlap(a, b, mode):
        a, b = ([box[0][box[1], at] for at in range(4)] for box in (a, b))
        common = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
        return F(common) / (sum(areas) - common if mode == "iou" else areas[1])

    for mode in ("iou", "iof"):
        call("IouV2", {"bboxes": one.tensor(dtype), "gtboxes": other.tensor(dtype)},
             {"overlap": of(lambda i, m=mode: overlap((one, i[1]), (other, i[0]), m), [3, 2]).tensor(dtype, **CLOSE)},
             {"mode": mode, "eps": 1e-9, "aligned": False})
        pair = Array(other.values[:8], [2, 4])
        call("IouV2", {"bboxes": one.turned([1, 0]).tensor(dtype), "gtboxes": pair.turned([1, 0]).tensor(dtype)},
             {"overlap": of(lambda i, m=mode: overlap((one, i[0]), (pair, i[0]), m), [2, 1]).tensor(dtype, **CLOSE)},
             {"mode": mode, "eps": 0.0, "aligned": True})


def faces_and_boxes():
    face, mask, top, behind = (numbers("float32", 4, 0.1, 3) for _ in range(4))
    epsilon = rounded(1e-12)
    for dtype, back in (("float32", behind), ("uint8", [0, 7, 200, 255])):
        right = [f / (m + epsilon) * t + b * (1 - t) for f, m, t, b in zip(face, mask, top, back)]
        call("BlendFaceBgPartTwo", {"acc_face": tensor(face, "float32"), "acc_mask": tensor(mask, "float32"), "max_mask": tensor(top, "float32"),
                                    "bg_img": tensor(back, dtype)}, {"fused_img": tensor(right, "float32", **CLOSE)}, {"epsilon": 1e-12})
    # The second shares 9 of 23 with the first; the third 6 of 26 with the second, which is gone; the last scores too little.
    placed = [0, 0, 4, 4, 1, 1, 5, 5, 2, 3, 6, 7, 20, 20, 21, 21]
    call("NMSWithMask", {"x1": tensor([F(one) for one in placed], "float32", [4, 4]), "x2": tensor([F(4, 5), F(3, 4), F(1, 2), F(1, 16)], "float32")},
         {"y": tensor([1, 0, 1, 0], "uint8")}, {"iou_threshold": 0.25, "scores_threshold": 0.25})


def upright(roi, pooled, samples, shift=F(0)):
    """Places of the samples of every element of a region, by rows."""
    left, top, right, bottom = (F(one) / 2 - shift for one in roi[1:])
    counts = [samples or math.ceil(F(length) / count) for length, count in zip((bottom - top, right - left), pooled)]
    for row, column in itertools.product(range(pooled[0]), range(pooled[1])):
        rows = [top + (bottom - top) / pooled[0] * (row + (i + HALF) / counts[0]) for i in range(counts[0])]
        columns = [left + (right - left) / pooled[1] * (column + (j + HALF) / counts[1]) for j in range(counts[1])]
        yield list(itertools.product(rows, columns))


def turned(roi, pooled, samples, aligned, clockwise):
    x, y, wide, high = (F(one) / 2 for one in roi[1:5])
    if aligned:
        x, y = x - HALF, y - HALF
    angle = -roi[5] if clockwise else roi[5]
    sine, cosine = F(exact.sin(angle)), F(exact.cos(angle))
    counts = [samples or math.ceil(length / count) for length, count in zip((high, wide), pooled)]
    for row, column in itertools.product(range(pooled[0]), range(pooled[1])):
        found = []
        for i, j in itertools.product(range(counts[0]), range(counts[1])):
            down = high * ((row + (i + HALF) / counts[0]) / pooled[0] - HALF)
            across = wide * ((column + (j + HALF) / counts[1]) / pooled[1] - HALF)
            found.append((down * cosine - across * sine + y, down * sine + across * cosine + x))
        yield found


def shares(places, sizes):
    """What each element of the image counts for in the mean of samples."""
    total = {}
    for place in places:
        if all(-1 <= one <= size for one, size in zip(place, sizes)):
            rows = [taps(one, size, padding="border", aligned=True) for one, size in zip(place, sizes)]
            for at, weight in combined(rows):
                total[at] = total.get(at, 0) + weight / len(places)
    return total


def regions():
    dtype, sizes, pooled = "float32", [3, 4], [1, 2]
    x = some(dtype, [1, 2, 3, 4])
    rois = [[0, F(1, 4), F(3, 8), F(11, 2), F(21, 4)], [0, F(2), F(-3), F(17, 2), F(35, 4)]]
    for samples in (2, 0):
        y = [sum((x[(0, channel) + at] * weight for at, weight in shares(places, sizes).items()), F(0))
             for roi in rois for channel in range(2) for places in upright(roi, pooled, samples)]
        call("RoiAlignV2", {"features": x.tensor(dtype), "rois": tensor([F(v) for roi in rois for v in roi], dtype, [2, 5])},
             {"output": tensor(y, dtype, [2, 2, 1, 2], **CLOSE)},
             {"pooled_height": 1, "pooled_width": 2, "spatial_scale": 0.5, "sampling_ratio": samples})
    for mode in (1, 2):
        grad, dx = some(dtype, [2, 2, 1, 2]), zeros(x.shape)
        for index, roi in enumerate(rois):
            for part, places in enumerate(upright(roi, pooled, 2, HALF if mode == 2 else F(0))):
                for channel, (at, weight) in itertools.product(range(2), shares(places, sizes).items()):
                    dx.add((0, channel) + at, weight * grad[index, channel, 0, part])
        call("RoiAlignGrad", {"y_diff": grad.tensor(dtype), "rois": tensor([F(v) for roi in rois for v in roi], dtype, [2, 5])},
             {"x_diff": dx.tensor(dtype, **CLOSE)},
             {"xdiff_shape": x.shape, "pooled_width": 2, "pooled_height": 1, "spatial_scale": 0.5, "sample_num": 2, "roi_end_mode": mode})
    rois = [[0, F(3), F(13, 4), F(21, 4), F(19, 8), F(5, 8)], [0, F(6), F(5), F(9, 2), F(5), F(-9, 4)]]
    for samples, aligned, clockwise, last in ((2, True, False, True), (0, False, True, False)):
        grad = some(dtype, [2, 2, 1, 2])
        found = [[shares(places, sizes) for places in turned(roi, pooled, samples, aligned, clockwise)] for roi in rois]
        y = of(lambda i, f=found: sum((x[(0, i[1]) + at] * weight for at, weight in f[i[0]][i[3]].items()), F(0)), grad.shape)
        dx = zeros(x.shape)
        for roi, channel, part in itertools.product(range(2), range(2), range(2)):
            for at, weight in found[roi][part].items():
                dx.add((0, channel) + at, weight * grad[roi, channel, 0, part])
        order = [0, 2, 3, 1] if last else [0, 1, 2, 3]
        told = {"pooled_h": 1, "pooled_w": 2, "spatial_scale": 0.5, "sampling_ratio": samples, "aligned": aligned, "clockwise": clockwise}
        places = tensor([F(v) for roi in rois for v in roi], dtype, [2, 6])
        call("RoiAlignRotated", {"x": x.turned(order).tensor(dtype), "rois": places}, {"y": y.turned(order).tensor(dtype, **CLOSE)}, told)
        dx = dx.turned(order)
        call("RoiAlignRotatedGrad", {"x_grad": grad.turned(order).tensor(dtype), "rois": places}, {"y_grad": dx.tensor(dtype, **CLOSE)},
             {**told, "y_grad_shape": dx.shape})


def triangle(distance):
    return max(1 - abs(distance), F(0))


def keys(distance):
    d, a = abs(distance), F(-1, 2)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else F(0)


def antialiased(dtype):
    def stretched(kernel):
        def weights(place, source, target):
            ratio = F(source, target)
            found = {at: kernel((at + HALF - (place + HALF) * ratio) / max(ratio, F(1))) for at in range(source)}
            return {at: weight / sum(found.values()) for at, weight in found.items() if weight != 0}

        return weights

    sources, targets = [2, 5], [3, 2]
    for kernel, up, names, down, more in (
        (triangle, "UpsampleBilinear2dAA", ("input", "output"), "UpsampleBilinear2dAABackward", {}),
        (keys, "UpsampleBicubic2dAA", ("x", "y"), "UpsampleBicubic2dAAGrad", {"scales_h": 1.5, "scales_w": 0.4}),
    ):
        values, dy = numbers(dtype, 20, -4, 4), numbers(dtype, 12, -4, 4)
        y, dx = forward(values, 2, stretched(kernel), sources, targets), backward(dy, 2, stretched(kernel), sources, targets)
        call(up, {names[0]: tensor(values, dtype, [1, 2] + sources)}, {names[1]: tensor(y, dtype, [1, 2] + targets, **CLOSE)},
             {"output_size": targets, "align_corners": False, **more})
        call(down, {"grad_output": tensor(dy, dtype, [1, 2] + targets)}, {"grad_input": tensor(dx, dtype, [1, 2] + sources, **CLOSE)},
             {"output_size": targets, "input_size": [1, 2] + sources, "align_corners": False, **more})


def all_of():
    for dtype in DTYPES:
        grids(dtype)
        deformable(dtype)
        attention(dtype)
        points(dtype)
        boxes(dtype)
        antialiased(dtype)
    faces_and_boxes()
    regions()
