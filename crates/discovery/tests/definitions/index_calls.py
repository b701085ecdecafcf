"""Calls for `make_known.py`: indices, layouts, sums by group, distances, order. Results are told by walking over the elements."""

from fractions import Fraction as F
from itertools import product

import exact
from calls import call, numbers, tensor
from exact import dec

DTYPES = ("float16", "bfloat16", "float32")
TWELVE = list(range(1, 13))


def whole(values, dtype="int64", shape=None):
    return tensor(values, dtype, shape)


def moved(values, shape=None):
    """What is only moved, in a dtype that adds nothing to it."""
    return tensor(values, "int16", shape)


def layouts():
    x = moved(TWELVE, [3, 4])
    call("AsStrided", {"x": x, "size": whole([2, 3]), "stride": whole([1, 4]), "storage_offset": whole([1])},
         {"y": moved([TWELVE[1 + row + 4 * column] for row in range(2) for column in range(3)], [2, 3])})
    call("AsStrided", {"x": x, "size": whole([2, 2], "int32"), "stride": whole([0, 5], "int32")}, {"y": moved([1, 6, 1, 6], [2, 2])})
    right = list(TWELVE)
    for row, column in product(range(2), range(2)):
        right[1 + 4 * row + column] = 20 + 1 + row + 2 * column
    call("ViewCopy", {"dst": x, "dst_size": whole([2, 2]), "dst_stride": whole([4, 1]), "dst_storage_offset": whole([1]),
                      "src": moved([20, 21, 22, 23, 24], [5]), "src_size": whole([2, 2]), "src_stride": whole([1, 2]),
                      "src_storage_offset": whole([1])}, {"dst": moved(right, [3, 4])})
    call("ExpandV2", {"x": whole([5, 6], "int64", [2, 1])}, {"y": whole([5, 5, 5, 6, 6, 6], "int64", [2, 3])}, {"shape": [2, 3]})
    call("Expandv", {"x": moved([5, 6], [2])}, {"y": moved([5, 6, 5, 6], [2, 2])}, {"shape": [2, 2]})
    call("BroadcastV2", {"x": tensor([5, 6], "float16", [1, 2])}, {"y": tensor([5, 6, 5, 6], "float16", [2, 2])},
         {"bufferMode": 0, "dim": 2, "isReuseSource": 0, "axis": 0, "num": 2})
    columns = [[TWELVE[4 * row + column] for row in range(3) for column in part] for part in ([0, 1], [2, 3], [0], [1, 2, 3])]
    matrix = whole(TWELVE, "int32", [3, 4])

    def pieces(which):
        return [whole(columns[at], "int32", [3, len(columns[at]) // 3]) for at in which]

    call("Split", {"x": matrix}, {"y": pieces([0, 1])}, {"indices_or_sections": [2], "axis": 1})
    call("Split", {"x": matrix}, {"y": [whole(TWELVE[:4], "int32", [1, 4]), whole(TWELVE[4:8], "int32", [1, 4]), whole(TWELVE[8:], "int32", [1, 4])]},
         {"indices_or_sections": [1, 2], "axis": 0})
    call("Split", {"split_dim": whole([1], "int32"), "x": matrix}, {"y": pieces([0, 1])}, {"num_split": 2})
    call("SplitV", {"x": matrix, "size_splits": whole([1, 3]), "split_dim": whole([-1], "int32")}, {"y": pieces([2, 3])}, {"num_split": 2})
    call("StridedSlice", {"x": x}, {"z": moved([6, 8, 10, 12], [2, 2])},
         {"start1": 1, "start2": 1, "end1": 3, "end2": 4, "stride1": 1, "stride2": 2})
    call("StridedSlice", {"x": moved(TWELVE)}, {"z": moved([3, 6, 9])},
         {"start1": 0, "start2": 2, "end1": 0, "end2": 11, "stride1": 0, "stride2": 3})
    bounds = {"begin": whole([0, 1]), "end": whole([3, 9]), "strides": whole([2, 2])}
    call("StridedSliceAssignV2", {"var": x, "input_value": moved([50, 60, 70, 80], [2, 2]), **bounds},
         {"var": moved([1, 50, 3, 60, 5, 6, 7, 8, 9, 70, 11, 80], [3, 4])})
    call("StridedSliceAssignV2", {"var": x, "input_value": moved([50, 60, 70], [3, 1]), "begin": whole([2]), "end": whole([3]),
                                  "strides": whole([1]), "axes": whole([1])}, {"var": moved([1, 2, 50, 4, 5, 6, 60, 8, 9, 10, 70, 12], [3, 4])})
    call("ReflectionPad1dV2", {"x": tensor(TWELVE[:8], "float16", [2, 4]), "paddings": whole([2, 1])},
         {"y": tensor([3, 2, 1, 2, 3, 4, 3, 7, 6, 5, 6, 7, 8, 7], "float16", [2, 7])})
    call("StridesliceNegConcatV2", {"input": tensor([1, -2, 3, -4], "float16", [1, 4])}, {"output": tensor([1, -2, -3, 4], "float16", [1, 4])})
    tall = moved([1] * 14, [7, 2])
    for wrap in (False, True):
        marked = {0, 3} | ({6, 9, 12} if wrap else set())
        call("FillDiagonalV2", {"x": tall, "fill_value": moved([9])}, {"x": moved([9 if at in marked else 1 for at in range(14)], [7, 2])}, {"wrap": wrap})
    call("FillDiagonalV2", {"x": moved([1] * 8, [2, 2, 2]), "fill_value": moved([9])}, {"x": moved([9, 1, 1, 1, 1, 1, 1, 9], [2, 2, 2])}, {"wrap": False})
    call("EyeV2", {"x": tensor([7] * 6, "float16", [2, 3])}, {"y": tensor([1, 0, 0, 0, 1, 0], "float16", [2, 3])}, {"rows": 2, "cols": 3})
    call("EyeFp64", {"y": whole([0] * 6, "int32", [2, 3])}, {"y": whole([1, 0, 0, 0, 1, 0], "int32", [2, 3])},
         {"num_rows": 2, "num_columns": 3, "batch_shape": [1], "dtype": 0})
    call("ChunkCat", {"x": [tensor([1, 2, 3], "float16", [3, 1]), tensor([4, 5, 6, 7], "float16", [2, 2])]},
         {"y": tensor([1, 2, 4, 5, 3, 0, 6, 7], "float16", [2, 4])}, {"dim": 0, "num_chunks": 2})
    call("ChunkCat", {"x": [tensor([F(1, 2), F(257, 256)], "float32", [2])]}, {"y": tensor([F(1, 2), F(257, 256)], "bfloat16", [2, 1])},
         {"dim": 0, "num_chunks": 2})
    for dtype in DTYPES:
        right = [F(dec(F(5, 2)) ** dec(F(-1) + F(3, 4) * at)) for at in range(5)]
        call("LogSpace", {}, {"result": tensor(right, dtype)}, {"start": -1.0, "end": 2.0, "steps": 5, "base": 2.5})
    call("LogSpace", {}, {"result": whole([1, 3, 9, 27, 81], "int32")}, {"start": 0.0, "end": 4.0, "steps": 5, "base": 3.0})
    call("LogSpace", {}, {"result": whole([0, 1, 2, 8], "int16")}, {"start": -1.0, "end": 2.0, "steps": 4, "base": 2.875})


def padded_gradients():
    grads = numbers("float32", 20, -4, 4)
    right = [F(0)] * 6
    for row, column in product(range(4), range(5)):
        up, left = min(max(row - 1, 0), 1), min(max(column - 0, 0), 2)
        right[3 * up + left] += grads[5 * row + column]
    call("PadV3GradReplication", {"x": tensor(grads, "float32", [1, 1, 1, 4, 5]), "paddings": whole([0, 0, 0, 0, 0, 0, 1, 1, 0, 2])},
         {"z": tensor(right, "float32", [1, 1, 1, 2, 3])})
    right = [F(0)] * 6
    for row, column in product(range(4), range(5)):
        up, left = [1, 0, 1, 0][row], [0, 1, 2, 1, 0][column]
        right[3 * up + left] += grads[5 * row + column]
    call("ReflectionPad3dGrad", {"x": tensor(grads, "float32", [1, 1, 1, 4, 5]), "paddings": whole([0, 0, 0, 0, 0, 0, 1, 1, 0, 2], "int32")},
         {"y": tensor(right, "float32", [1, 1, 1, 2, 3])})


def window_of(channels, size, kernel, stride, dilation, pad):
    """For every channel, place in the kernel and window the element that it takes, or None where there is only padding."""
    counts = [(size[at] + 2 * pad[at] - dilation[at] * (kernel[at] - 1) - 1) // stride[at] + 1 for at in (0, 1)]
    found = []
    for channel, i, j in product(range(channels), range(kernel[0]), range(kernel[1])):
        for top, left in product(range(counts[0]), range(counts[1])):
            row, column = top * stride[0] + i * dilation[0] - pad[0], left * stride[1] + j * dilation[1] - pad[1]
            inside = 0 <= row < size[0] and 0 <= column < size[1]
            found.append((channel * size[0] + row) * size[1] + column if inside else None)
    return found, counts[0] * counts[1]


def windows():
    values = numbers("float16", 18, -4, 4)
    image = tensor(values, "float16", [1, 2, 3, 3])
    for operator, attributes, kernel, stride, dilation, pad in (
        ("Im2col", {"ksizes": [2, 2], "strides": [1], "dilations": [2, 1], "padding_mode": "CALCULATED", "pads": [0, 0, 1, 1]}, (2, 2), (1, 1), (2, 1), (0, 1)),
        ("Im2Col", {"kernel_h": 3, "kernel_w": 2, "stride_h": 2, "stride_w": 1, "pad_h": 1, "pad_w": 0, "dilation_h": 1, "dilation_w": 2},
         (3, 2), (2, 1), (1, 2), (1, 0)),
    ):
        found, count = window_of(2, (3, 3), kernel, stride, dilation, pad)
        call(operator, {"x": image}, {"y" if operator == "Im2col" else "z": tensor([0 if at is None else values[at] for at in found], "float16",
                                                                                 [1, 2 * kernel[0] * kernel[1], count])}, attributes)
    for dtype in ("float16", "float32"):
        found, count = window_of(1, (3, 2), (2, 2), (1, 1), (1, 1), (1, 1))
        grads, right = numbers(dtype, len(found), -2, 2), [F(0)] * 6
        for at, value in zip(found, grads):
            if at is not None:
                right[at] += value
        call("Col2Im", {"col": tensor(grads, dtype, [1, 4, count])}, {"x": tensor(right, dtype, [1, 1, 3, 2])},
             {"output_h": 3, "output_w": 2, "kernel_h": 2, "kernel_w": 2, "stride_val": 1, "padding_val": 1, "dilation_val": 1})
    for dim, shape in ((1, [2, 2, 3]), (0, [2, 2, 3])):
        # Slices of three, two apart: of five columns, and of five rows.
        sizes = [2, 5] if dim == 1 else [5, 2]
        grads, right = numbers("float32", 12, -2, 2), [F(0)] * 10
        for first, second, place in product(range(2), range(2), range(3)):
            row, column = (first, 2 * second + place) if dim == 1 else (2 * first + place, second)
            right[row * sizes[1] + column] += grads[6 * first + 3 * second + place]
        call("UnfoldGrad", {"grad_out": tensor(grads, "float32", shape), "input_sizes": whole(sizes)}, {"grad_in": tensor(right, "float32", sizes)},
             {"dim": dim, "size": 3, "step": 2})


def rows_replaced():
    x = moved(TWELVE, [3, 4])
    lists = {"var": [moved(TWELVE, [3, 4]), moved([-one for one in TWELVE], [3, 4])], "updates": moved([50, 60, 70, 80, 90, 51, 61, 71] * 2, [2, 2, 4])}
    updates = [50, 60, 70, 80, 90, 51, 61, 71]
    call("ScatterList", {"var": lists["var"], "indice": whole([1, 0], "int32"), "updates": lists["updates"]},
         {"var": [moved(TWELVE[:4] + updates, [3, 4]), moved(updates + [-9, -10, -11, -12], [3, 4])]}, {"reduce": "update", "axis": -2})
    call("ScatterList", {"var": lists["var"], "indice": whole([1, 1, 0, 2], "int64", [2, 2]), "updates": lists["updates"], "mask": whole([1, 0], "uint8")},
         {"var": [moved(TWELVE[:4] + updates[:4] + TWELVE[8:], [3, 4]), moved([-one for one in TWELVE], [3, 4])]}, {"reduce": "update", "axis": 1})
    call("ScatterList", {"var": [x], "indice": whole([2]), "updates": moved([20, 21, 22, 23, 24, 25], [1, 3, 2])},
         {"var": [moved([1, 2, 20, 21, 5, 6, 22, 23, 9, 10, 24, 25], [3, 4])]}, {"reduce": "update", "axis": -1})
    call("IndexFill", {"x": x, "indices": whole([1, -1]), "value": moved([50])},
         {"y": moved([50 if at % 4 in (1, 3) else one for at, one in enumerate(TWELVE)], [3, 4])}, {"dim": 1})
    call("IndexFillD", {"x": x, "assist1": moved([1, 0, 1, 0] * 3, [3, 4]), "assist2": moved([0, 50, 0, 50] * 3, [3, 4])},
         {"y": moved([50 if at % 4 in (1, 3) else one for at, one in enumerate(TWELVE)], [3, 4])}, {"dim": 1})
    call("MaskedScatter", {"x": x, "mask": whole([True, False, False, True], "bool"), "updates": moved([50, 60, 70, 80, 90, 99, 98], [7])},
         {"y": moved([50, 2, 3, 60, 70, 6, 7, 80, 90, 10, 11, 99], [3, 4])})
    call("IndexAiCore", {"x": x, "indexed_sizes": whole([1, 1]), "indexed_strides": whole([4, 1]), "indices": [whole([0, -1, 1]), whole([3, 0, -2])]},
         {"y": moved([4, 9, 7])})
    call("IndexAiCore", {"x": x, "indexed_sizes": whole([1, 0]), "indexed_strides": whole([4, 1]), "indices": [whole([2, 0, 0], "int32", [3])]},
         {"y": moved(TWELVE[8:] + TWELVE[:4] * 2, [3, 4])})
    call("GatherElementsV3", {"x": whole(TWELVE, "int32", [3, 4]), "index": whole([2, 0, 1, 1], "int32", [2, 2])},
         {"y": whole([9, 2, 5, 6], "int32", [2, 2])}, {"dim": 0})
    call("LinearIndex", {"indices": whole([0, -1, 2, -3]), "shape": whole([5, 4], "int32")}, {"index": whole([0, 3, 2, 1], "int32")}, {"axis": -1, "combine": False})
    call("LinearIndex", {"indices": whole([0, -1, 2], "int32"), "shape": whole([5, 4], "int32")}, {"index": whole([0, 4, 2], "int32")}, {"axis": 0, "combine": True})
    call("LinearIndexV2", {"indices_list": [whole([0, -1, 1], "int32"), whole([3, -2, 0], "int32")], "stride": whole([4, 1], "int32"),
                           "value_size": whole([3, 4], "int32")}, {"index": whole([3, 10, 4], "int32")})
    call("ExpandIntoJaggedPermute", {"permute": whole([2, 0, 1], "int32"), "input_offsets": whole([0, 2, 3, 6], "int32"),
                                     "output_offsets": whole([0, 3, 5, 6], "int32")}, {"output_permute": whole([3, 4, 5, 0, 1, 2], "int32")}, {"output_size": 6})
    call("Onehot", {"x": whole([2, 0, 1], "int32")}, {"z": whole([0, 0, 1, 1, 0, 0, 0, 1, 0], "int32", [3, 3])}, {"depth": 3})


def rows_added(dtype):
    var, value = numbers(dtype, 6, -4, 4), numbers(dtype, 8, -4, 4)

    def of(values, shape):
        return tensor(values, dtype, shape)

    rows, places = [0, 0, 2, 2], [3, 1, 0, 2]
    for scale in (None, F(3, 2)):
        right = list(var)
        for row, place, column in ((row, place, column) for row, place in zip(rows, places) for column in (0, 1)):
            right[2 * row + column] += (1 if scale is None else scale) * value[2 * place + column]
        inputs = {"var": of(var, [3, 2]), "value": of(value, [4, 2]), "sorted_indices": whole(rows, "int32"), "pos": whole(places, "int32")}
        if scale is not None:
            inputs["alpha"] = tensor([scale], "float32")
        call("InplaceIndexAddWithSorted", inputs, {"var": of(right, [3, 2])}, {"axis": 0})
        if scale is None:
            call("ScatterAddWithSorted", {"var": inputs["var"], "value": inputs["value"], "sorted_index": inputs["sorted_indices"], "pos": inputs["pos"]},
                 {"var": of(right, [3, 2])}, {"reduction": "add"})
            call("IndexPutWithSort", {"self": inputs["var"], "linear_index": inputs["sorted_indices"], "pos_idx": inputs["pos"], "values": inputs["value"]},
                 {"self": of(right, [3, 2])}, {"slice_size": 2, "accumulate": True})
    right = list(var)
    for row, place in ((1, 2), (2, 0)):
        right[2 * row:2 * row + 2] = value[2 * place:2 * place + 2]
    call("ScatterAddWithSorted", {"var": of(var, [3, 2]), "value": of(value, [4, 2]), "sorted_index": whole([1, 2], "int32"), "pos": whole([2, 0], "int32")},
         {"var": of(right, [3, 2])}, {"reduction": "none"})
    call("IndexPutWithSort", {"self": of(var, [3, 2]), "linear_index": whole([1, 2], "int32"), "pos_idx": whole([2, 0], "int32"), "values": of(value, [4, 2])},
         {"self": of(right, [3, 2])}, {"slice_size": 2, "accumulate": False})
    right = list(var)
    for row, place in product((0, 1), (0, 1)):
        right[3 * row + 2] += value[2 * row + place]
    call("InplaceIndexAddWithSorted", {"var": of(var, [2, 3]), "value": of(value[:4], [2, 2]), "sorted_indices": whole([2, 2], "int32"),
                                       "pos": whole([1, 0], "int32")}, {"var": of(right, [2, 3])}, {"axis": 1})
    call("AssignSub", {"var": of(var, None), "value": of(value[:6], None)}, {"var_out": of([a - b for a, b in zip(var, value)], None)})


def rows_of_integers():
    var, updates = whole([1, 2, 3, 4, 5, 6], "int32", [3, 2]), whole([10, 20, 30, 40, 50, 60], "int32", [3, 2])
    call("InplaceScatterAdd", {"var": var, "indices": whole([2, 0, 2]), "updates": updates}, {"var": whole([31, 42, 3, 4, 65, 86], "int32", [3, 2])})
    call("InplaceScatterAdd", {"var": tensor([F(1, 2), 1], "float32", [2]), "indices": whole([1, 1], "int32"), "updates": tensor([F(1, 4), 2], "float32")},
         {"var": tensor([F(1, 2), F(13, 4)], "float32")})
    call("ScatterAddWithSorted", {"var": var, "value": updates, "sorted_index": whole([2, 0, 2], "int32")},
         {"var": whole([31, 42, 3, 4, 65, 86], "int32", [3, 2])}, {"reduction": "add"})
    call("AssignSub", {"var": whole([1, -5], "int8"), "value": whole([3, 4], "int8")}, {"var_out": whole([-2, -9], "int8")})
    call("CoalesceSparse", {"unique_len": whole([3, 8]), "unique_indices": whole([1, 0, 1]), "indices": whole([2, 2, 0, 3, 2, 2], "int32", [3, 2]),
                            "values": whole([1, 2, 3, 4, 5, 6], "int32", [3, 2])},
         {"new_indices": whole([0, 3, 2, 2], "int32", [2, 2]), "new_values": whole([3, 4, 6, 8], "int32", [2, 2])})


def reductions_of_scatters():
    for dtype, dims in (("float16", [0]), ("float32", [1])):
        x, src = numbers(dtype, 6, -3, 3), numbers(dtype, 6, -3, 3)
        index = [0, 2, 0, 0, 1, 0]
        for reduce, own, dim in product(("sum", "mean", "prod", "amax", "amin"), (True, False), dims):
            shape = [2, 3] if dim else [3, 2]
            named = [[] for _ in range(6)]
            for row, column in product(range(shape[0]), range(shape[1])):
                at = shape[1] * row + column
                named[shape[1] * row + index[at] if dim else shape[1] * index[at] + column].append(src[at])
            right = []
            for first, others in zip(x, named):
                terms = ([first] if own or not others else []) + others
                if reduce == "prod":
                    total = F(1)
                    for one in terms:
                        total *= one
                else:
                    total = {"sum": sum, "mean": lambda terms: sum(terms) / len(terms), "amax": max, "amin": min}[reduce](terms)
                right.append(total)
            call("ScatterReduce", {"x": tensor(x, dtype, shape), "index": whole(index, "int32", shape), "src": tensor(src, dtype, shape)},
                 {"y": tensor(right, dtype, shape)}, {"dim": dim, "reduce": reduce, "include_self": own})


def embeddings(dtype):
    grads = numbers(dtype, 8, -3, 3)

    def of(values, shape):
        return tensor(values, dtype, shape)

    for repeats, groups in (([2, 0, 2], [[0, 1], [], [2, 3]]), ([2], [[0, 1], [2, 3]])):
        rows = [sum(grads[2 * place + column] for place in group) if group else 0 for group in groups for column in (0, 1)]
        call("RepeatInterleaveGrad", {"y_grad": of(grads, [4, 2]), "repeats": whole(repeats)}, {"x_grad": of(rows, [len(groups), 2])}, {"axis": 0})
        columns = [sum(grads[4 * row + place] for place in group) if group else 0 for row in (0, 1) for group in groups]
        call("RepeatInterleaveGrad", {"y_grad": of(grads, [2, 4]), "repeats": whole(repeats, "int32")}, {"x_grad": of(columns, [2, len(groups)])}, {"axis": -1})
    call("FeedsRepeat", {"feeds": of(grads[:6], [3, 2]), "feeds_repeat_times": whole([2, 0, 1], "int32")},
         {"y": of(grads[:2] * 2 + grads[4:6] + [0, 0], [4, 2])}, {"output_feeds_size": 4})
    # Indices in order, and where their rows are.
    named, places = [0, 2, 2, 3], [2, 0, 3, 1]
    for padding, by_count in ((-1, False), (3, True)):
        right = [F(0)] * 8
        for row, place in zip(named, places):
            for column in (0, 1):
                share = grads[2 * place + column] / (named.count(row) if by_count else 1)
                right[2 * row + column] += share if row != padding else 0
        options = {"num_weights": 4, "padding_idx": padding, "scale_grad_by_freq": by_count}
        in_place = [named[places.index(at)] for at in range(4)]
        call("EmbeddingDenseGrad", {"grad": of(grads, [4, 2]), "indices": whole(in_place)}, {"y": of(right, [4, 2])}, options)
        # Short rows stand in the order of their indices, long ones where `places` says.
        in_order = [grads[2 * place + column] for place in places for column in (0, 1)]
        call("EmbeddingDenseGradV2", {"grad": of(in_order, [4, 2]), "sort_indices": whole(named, "int32"), "pos_idx": whole(range(4), "int32")},
             {"y": of(right, [4, 2])}, options)
        if dtype == "float32":
            def wide(values):
                return of([value for row in range(4) for value in values[2 * row:2 * row + 2] * 258], [4, 516])
            call("EmbeddingDenseGradV2", {"grad": wide(grads), "sort_indices": whole(named, "int32"), "pos_idx": whole(places, "int32")},
                 {"y": wide(right)}, options)
    samples = numbers(dtype, 5, -1, 1)
    indices, offsets = [3, 0, 1, 1, 2], [0, 2, 2]
    bags = [[0, 1], [], [2, 3, 4]]
    for mode, padding, scaled, last in (("sum", -1, True, False), ("sum", 1, False, True), ("mean", -1, False, False), ("mean", 1, False, False),
                                        ("max", -1, False, True), ("max", 1, False, False)):
        y, most, sizes = [], [], []
        for bag in bags:
            kept = [at for at in bag if indices[at] != padding]
            sizes.append(len(kept))
            for column in (0, 1):
                terms = [grads[2 * indices[at] + column] * (samples[at] if scaled else 1) for at in kept]
                best = max(terms) if terms and mode == "max" else F(0)
                y.append(best if mode == "max" else sum(terms, F(0)) / (len(terms) if terms and mode == "mean" else 1))
                most.append(indices[kept[terms.index(best)]] if terms and mode == "max" else 0)
        inputs = {"weight": of(grads, [4, 2]), "indices": whole(indices, "int32"), "offsets": whole(offsets + ([5] if last else []), "int32")}
        if scaled:
            inputs["per_sample_weight"] = of(samples, None)
        call("EmbeddingBag", inputs,
             {"y": of(y, [3, 2]), "offset2bag": {**whole([0, 0, 2, 2, 2], "int32"), "silent": True},
              "bag_size": {**whole(sizes, "int32"), "silent": padding >= 0 or mode != "mean"},
              "max_indices": {**whole(most, "int32", [3, 2]), "silent": mode != "max"}},
             {"mode": mode, "scale_grad_by_freq": False, "sparse": False, "include_last_offset": last, "padding_idx": padding})


def counted():
    values = [2, 0, 2, 5, 2]
    for dtype in ("int32", "uint8"):
        call("Bincount", {"array": whole(values, dtype), "size": whole([6])}, {"bins": whole([1, 0, 3, 0, 0, 1], "int64")})
    weights = numbers("float32", 5, -3, 3)
    call("Bincount", {"array": whole(values), "size": whole([6]), "weights": tensor(weights, "float32")},
         {"bins": tensor([weights[1], 0, weights[0] + weights[2] + weights[4], 0, 0, weights[3]], "float32")})
    call("Bincount", {"array": whole(values), "size": whole([6]), "weights": whole([1, 2, 3, 4, 5], "int32")}, {"bins": whole([2, 0, 9, 0, 0, 4], "int32")})
    for dtype in ("float16", "float32", "int32"):
        given = [-1, 0, 1, 2, 2, 3, 5, 6, 8, 9]
        call("HistogramV2", {"x": tensor(given, dtype), "min": tensor([0], dtype), "max": tensor([8], dtype)},
             {"y": whole([2, 3, 1, 2], "int32")}, {"bins": 4})
        call("HistogramV2", {"x": tensor(given, dtype), "min": tensor([0], dtype), "max": tensor([0], dtype)},
             {"y": whole([2, 3, 1, 2, 2], "int32")}, {"bins": 5})


def groups(dtype):
    grads = numbers(dtype, 12, -3, 3)

    def of(values, shape):
        return tensor(values, dtype, shape)

    bounds = [[0, 1, 2], [], [3, 4, 5]]
    right = [sum((grads[2 * row + column] for row in group), F(0)) for group in bounds for column in (0, 1)]
    for kind, named in ((0, [3, 3, 6]), (1, [3, 0, 3])):
        call("GroupedBiasAddGrad", {"grad_y": of(grads, [6, 2]), "group_idx": whole(named)}, {"grad_bias": of(right, [3, 2])}, {"group_idx_type": kind})
    right = [sum(grads[6 * group + 2 * row + column] for row in range(3)) for group in (0, 1) for column in (0, 1)]
    call("GroupedBiasAddGrad", {"grad_y": of(grads, [2, 3, 2])}, {"grad_bias": of(right, [2, 2])}, {"group_idx_type": 0})
    x = numbers(dtype, 3, -1, 1)
    sums = [F(exact.exp(sum(x[column + 1:row + 1], F(0)))) if row >= column else F(0) for row in range(3) for column in range(3)]
    call("Segsum", {"x": of(x, [1, 1, 3])}, {"y": of(sums, [1, 1, 3, 3])})
    # The gradient by a difference quotient of the sum of grad * y, whose rounding shows in its last bits.
    grad, step = numbers(dtype, 9, -2, 2), F(1, 10**20)
    stored = [exact.value_of(exact.bits_of(one, "float32"), "float32") for one in sums]

    def total(values):
        return sum(grad[3 * row + column] * F(exact.exp(sum(values[column + 1:row + 1], F(0)))) for row in range(3) for column in range(row + 1))

    slopes = []
    for place in range(3):
        up, down = ([one + (turn * step if at == place else 0) for at, one in enumerate(x)] for turn in (1, -1))
        slopes.append((total(up) - total(down)) / (2 * step))
    if dtype == "float32":
        call("ExpSegsumGrad", {"grad_output": of(grad, [1, 3, 3]), "grad_self": of(stored, [1, 3, 3])}, {"grad_input": tensor(slopes, dtype, [1, 3], ulps=64)})
    saved = numbers(dtype, 9, -2, 2)
    right = [sum((grad[3 * i + j] * saved[3 * i + j] for i in range(k, 3) for j in range(k)), F(0)) for k in range(3)]
    call("ExpSegsumGrad", {"grad_output": of(grad, [1, 3, 3]), "grad_self": of(saved, [1, 3, 3])}, {"grad_input": of(right, [1, 3])})


def power(base, exponent):
    return F(exact.exp(dec(exponent) * exact.ln(base))) if base else F(0)


def distances(dtype):
    x, other = numbers(dtype, 6, -3, 3), numbers(dtype, 4, -3, 3)

    def of(values, shape):
        return tensor(values, dtype, shape)

    pairs = [[abs(x[2 * i + k] - x[2 * j + k]) for k in (0, 1)] for i in range(3) for j in range(i + 1, 3)]
    for p in (F(1), F(2), F(5, 2)):
        call("Pdist", {"x": of(x, [3, 2])}, {"y": of([power(sum(power(one, p) for one in pair), 1 / p) for pair in pairs], None)}, {"p": float(p)})
    call("Pdist", {"x": of([1, 2, 1, 3, 1, 3], [3, 2])}, {"y": of([1, 1, 0], None)}, {"p": 0.0})
    grads = numbers(dtype, 6, -2, 2)
    for p in (F(1), F(2), F(5, 2)):
        saved = [exact.value_of(exact.bits_of(power(sum(power(abs(x[2 * i + k] - other[2 * j + k]), p) for k in (0, 1)), 1 / p), dtype), dtype)
                 for i in range(3) for j in range(2)]
        right, wide = [], [[], [], [], []]
        for i, k in product(range(3), (0, 1)):
            total = F(0)
            for j in range(2):
                d = x[2 * i + k] - other[2 * j + k]
                total += grads[2 * i + j] * (1 if d > 0 else -1) * power(abs(d) / saved[2 * i + j], p - 1)
            right.append(total)
        for i, j, k in product(range(3), range(2), (0, 1)):
            for list_of, one in zip(wide, (grads[2 * i + j], x[2 * i + k], other[2 * j + k], saved[2 * i + j])):
                list_of.append(one)
        call("CdistGrad", {name: of(values, [3, 2, 2]) for name, values in zip(("grad", "x1", "x2", "cdist"), wide)}, {"y": of(right, [3, 2])}, {"p": float(p)})
        call("CdistGrad", {"grad_output": of(grads, [3, 2]), "x1": of(x, [3, 2]), "x2": of(other, [2, 2]), "cdist_result": of(saved, [3, 2])},
             {"grad_x1": of(right, [3, 2])}, {"p": float(p)})
    for dim, p in product((0, 1), (F(1), F(2))):
        right = [F(0)] * 6
        for slot in range((3, 2)[dim]):
            places = [at for at in range(6) if (at // 2, at % 2)[dim] == slot]
            norm = power(sum(power(abs(x[at]), p) for at in places), 1 / p)
            for at in places:
                right[at] = x[at] * (F(3) / norm if norm > 3 else 1)
        call("RenormV2", {"x": of(x, [3, 2])}, {"y": of(right, [3, 2])}, {"p": float(p), "dim": dim, "max_norm": 3.0})
    y, dy = numbers(dtype, 6, -1, 1), grads
    right = []
    for row in range(3):
        two = (2 * row, 2 * row + 1)
        norm, total = F(dec(sum(x[at] ** 2 for at in two)).sqrt()), sum(y[at] * dy[at] for at in two)
        right += [(dy[at] - y[at] * total) / max(norm, F(1, 1024)) for at in two]
    call("L2NormalizeGrad", {"x": of(x, [3, 2]), "y": of(y, [3, 2]), "dy": of(dy, [3, 2])}, {"dx": of(right, [3, 2])}, {"dim": [1], "eps": 1 / 1024})


def nearest_points():
    first, second = numbers("float32", 6, -3, 3), numbers("float32", 6, -3, 3)
    grad1, grad2 = numbers("float32", 3, -2, 2), numbers("float32", 3, -2, 2)
    idx1, idx2 = [1, 1, 0], [2, 0, 2]
    right1, right2 = [F(0)] * 6, [F(0)] * 6
    for i, k in product(range(3), (0, 1)):
        # The distance of i to its nearest moves with both.
        d = 2 * grad1[i] * (first[2 * i + k] - second[2 * idx1[i] + k])
        right1[2 * i + k] += d
        right2[2 * idx1[i] + k] -= d
        d = 2 * grad2[i] * (second[2 * i + k] - first[2 * idx2[i] + k])
        right2[2 * i + k] += d
        right1[2 * idx2[i] + k] -= d
    single = "float32"
    call("ChamferDistanceGrad", {"xyz1": tensor(first, single, [1, 3, 2]), "xyz2": tensor(second, single, [1, 3, 2]),
                                 "idx1": whole(idx1, "int32", [1, 3]), "idx2": whole(idx2, "int32", [1, 3]),
                                 "grad_dist1": tensor(grad1, single, [1, 3]), "grad_dist2": tensor(grad2, single, [1, 3])},
         {"grad_xyz1": tensor(right1, single, [1, 3, 2]), "grad_xyz2": tensor(right2, single, [1, 3, 2])})


def order():
    rows = [[3, 1, 4, 2], [7, 5, 6, 8]]
    names = [[30, 10, 40, 20], [70, 50, 60, 80]]
    flat = [one for row in rows for one in row]
    for descending in (False, True):
        right = [sorted(row, reverse=descending) for row in rows]
        call("SortWithIndex", {"x": tensor(flat, "float16", [2, 4]), "index": whole([one for row in names for one in row], "int32", [2, 4])},
             {"y": tensor(right[0] + right[1], "float16", [2, 4]), "sorted_index": whole([10 * one for one in right[0] + right[1]], "int32", [2, 4])},
             {"axis": -1, "descending": descending, "stable": False})
    call("SortWithIndex", {"x": whole([2, 1, 2, 1], "int32"), "index": whole([9, 8, 7, 6], "int32")},
         {"y": whole([2, 2, 1, 1], "int32"), "sorted_index": whole([9, 7, 8, 6], "int32")}, {"axis": -1, "descending": True, "stable": True})
    call("SortV2", {"x": tensor(flat, "float32", [2, 4]), "index": whole(range(8), "uint32", [2, 4]), "dstIndex": whole([0] * 8, "uint32", [2, 4])},
         {"y": tensor([7, 5, 6, 8, 3, 1, 4, 2], "float32", [2, 4])}, {"axis": 0, "descending": True})
    for keepdim in (False, True):
        shape = [2, 1] if keepdim else [2]
        call("Median", {"input": tensor(flat, "float16", [2, 4])}, {"values": tensor([2, 6], "float16", shape), "indices": whole([3, 2], "int32", shape)},
             {"dim": 1, "keepdim": keepdim})
    call("Median", {"input": whole([5, 3, 5, 9, 3], "int32", [1, 5])}, {"values": whole([5], "int32"), "indices": whole([0], "int32")}, {"dim": -1, "keepdim": False})


def signs():
    values = [5, 4, 3, 2, 0, -1, -2, 4, 3, 2, 1, 0, -1, -2]
    raw = [sum((values[at] >= 0) << (at - start) for at in range(start, min(start + 8, 14))) for start in (0, 8)]
    for dtype in ("float16", "float32"):
        call("SignBitsPack", {"x": tensor(values, dtype)}, {"y": whole(raw, "uint8", [2, 1])}, {"size": 2})
        call("SignBitsUnpack", {"self": whole(raw, "uint8")}, {"y": tensor([1 if raw[at // 8] >> at % 8 & 1 else -1 for at in range(16)], dtype)})


def all_of():
    layouts()
    padded_gradients()
    windows()
    rows_replaced()
    rows_of_integers()
    reductions_of_scatters()
    counted()
    nearest_points()
    order()
    signs()
    for dtype in DTYPES:
        rows_added(dtype)
        groups(dtype)
    for dtype in ("float16", "float32"):
        embeddings(dtype)
        distances(dtype)
