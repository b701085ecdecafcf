"""Calls for `make_known.py`: rows of variables and segments, blocks, diagonals, lists, reductions along axes."""

from fractions import Fraction as F
from itertools import product

import exact
from calls import call, mean, numbers, tensor
from exact import dec
from index_calls import TWELVE, moved, whole


def scatters():
    var, updates, rows = [7, 20, 9, 40, 11, 60], [10, 21, 30, 4, 5, 6], [2, 0, 2]

    def matrix(values, dtype="int32"):
        return tensor(values, dtype, [3, 2])

    for name, function in (("Add", lambda a, b: a + b), ("Sub", lambda a, b: a - b), ("Mul", lambda a, b: a * b), ("Max", max), ("Min", min),
                           ("Div", lambda a, b: F(a) / b)):
        right = list(var)
        for place, row in enumerate(rows):
            for column in (0, 1):
                right[2 * row + column] = function(right[2 * row + column], updates[2 * place + column])
        dtype = "float32" if name in ("Div", "Max") else "int32"
        inputs = {"var": matrix(var, dtype), "indices": whole(rows), "updates": matrix(updates, dtype)}
        call("Scatter" + name, inputs, {"var": matrix(right, dtype)}, {"use_locking": False})
        if name not in ("Mul", "Div"):
            call("ScatterNd" + name, {**inputs, "indices": whole(rows, "int32", [3, 1])}, {"var": matrix(right, dtype)})
    call("ScatterNdAdd", {"var": tensor(var, "float16", [3, 2]), "indices": whole([1, 0, 1, 0, 2, 1], "int64", [3, 2]), "updates": tensor([1, 2, 4], "float16")},
         {"var": tensor([7, 20, 12, 40, 11, 64], "float16", [3, 2])})
    call("ScatterUpdate", {"var": matrix(var), "indices": whole([2, 1]), "updates": whole([1, 2, 3, 4], "int32", [2, 2])},
         {"var": matrix([7, 20, 3, 4, 1, 2])})
    call("ScatterNdUpdate", {"var": whole(TWELVE, "int64", [3, 4]), "indices": whole([2, 0], "int32", [2, 1]), "updates": whole([-1] * 4 + [-2] * 4, "int64", [2, 4])},
         {"var": whole([-2] * 4 + [5, 6, 7, 8] + [-1] * 4, "int64", [3, 4])}, {"use_locking": False})
    call("ScatterNdUpdate", {"var": tensor(TWELVE, "float16", [3, 4]), "indices": whole([2, 0, 1, 3], "int64", [2, 2]), "updates": tensor([50, 60], "float16")},
         {"var": tensor([1, 2, 3, 4, 5, 6, 7, 60, 50, 10, 11, 12], "float16", [3, 4])})
    call("ScatterNd", {"indices": whole([3, 1, 3], "int32", [3, 1]), "x": whole([5, 6, 7], "int32"), "shape": whole([4], "int32")},
         {"y": whole([0, 6, 0, 12], "int32")})
    call("GatherNd", {"x": moved(TWELVE, [3, 4]), "indices": whole([2, 0, 1, 3], "int32", [2, 2])}, {"y": moved([9, 8])})
    call("GatherNd", {"x": moved(TWELVE, [3, 4]), "indices": whole([2], "int32", [1, 1])}, {"y": moved([9, 10, 11, 12], [1, 4])})
    call("Embedding", {"x": moved(TWELVE, [3, 4]), "indices": whole([2, 0])}, {"y": moved(TWELVE[8:] + TWELVE[:4], [2, 4])})
    for name, function in (("Add", lambda a, b: a + b), ("Sub", lambda a, b: a - b), ("Update", lambda a, b: b)):
        right = [function(a, b) for a, b in zip(var[4:], [1, 2])]
        call("Inplace" + name, {"x": matrix(var), "indices": whole([2], "int32"), "v": whole([1, 2], "int32", [1, 2])}, {"y": matrix(var[:4] + right)})
    call("Assign", {"ref": moved([1, 2]), "value": moved([3, 4])}, {"ref": moved([3, 4])})
    call("AssignAdd", {"ref": moved([1, 2]), "value": moved([3, 4])}, {"ref": moved([4, 6])}, {"use_locking": False})


def segments():
    rows = [[1, 2], [3, 4], [5, 6], [7, 8]]
    flat = [one for row in rows for one in row]
    call("SegmentSum", {"x": whole(flat, "int32", [4, 2]), "segment_ids": whole([0, 0, 2, 2], "int32")}, {"y": whole([4, 6, 0, 0, 12, 14], "int32", [3, 2])})
    ids, count = [2, 0, -1, 2], 4
    inputs = {"segment_ids": whole(ids, "int32"), "num_segments": whole([count], "int32")}
    named = [[row for row, one in zip(rows, ids) if one == segment] for segment in range(count)]
    for name, right in (("Sum", [sum(column) for group in named for column in (zip(*group) if group else [[0], [0]])]),
                        ("Prod", [column[0] * column[-1] if len(column) > 1 else column[0] for group in named for column in (zip(*group) if group else [[1], [1]])])):
        call("UnsortedSegment" + name, {"x": whole(flat, "int32", [4, 2]), **inputs}, {"y": whole(right, "int32", [count, 2])})
    for name, function, none in (("Max", max, "-inf"), ("Min", min, "inf")):
        right = [function(column) if column else none for group in named for column in (list(zip(*group)) if group else [[], []])]
        call("UnsortedSegment" + name, {"x": tensor(flat, "float32", [4, 2]), **inputs}, {"y": tensor(right, "float32", [count, 2])})


def blocks():
    # One image of four by four with one channel: the places of a block of two become batches or channels.
    values = list(range(16))
    image = moved(values, [1, 4, 4, 1])
    batches = [4 * (2 * row + i) + 2 * column + j for i, j in product((0, 1), (0, 1)) for row, column in product((0, 1), (0, 1))]
    two = {"block_shape": whole([2, 2], "int32")}
    none = whole([0, 0, 0, 0], "int32", [2, 2])
    call("SpaceToBatchND", {"x": image, **two, "paddings": none}, {"y": moved(batches, [4, 2, 2, 1])})
    call("BatchToSpaceND", {"x": moved(batches, [4, 2, 2, 1]), **two, "crops": none}, {"y": image})
    padded = {"x": moved([5, 6, 7], [1, 3, 1]), "block_shape": whole([2]), "paddings": whole([1, 0], "int64", [1, 2])}
    call("SpaceToBatchND", padded, {"y": moved([0, 6, 5, 7], [2, 2, 1])})
    call("BatchToSpaceND", {"x": moved([0, 6, 5, 7], [2, 2, 1]), "block_shape": whole([2]), "crops": padded["paddings"]}, {"y": padded["x"]})
    # Two channels: of every block the places one after the other, and in each the channels.
    pairs = moved(list(range(16)), [1, 2, 4, 2])
    deep = [2 * (4 * i + 2 * column + j) + channel for column in (0, 1) for i, j in product((0, 1), (0, 1)) for channel in (0, 1)]
    call("SpaceToDepth", {"x": pairs}, {"y": moved(deep, [1, 1, 2, 8])}, {"block_size": 2, "data_format": "NHWC"})
    call("DepthToSpace", {"x": moved(deep, [1, 1, 2, 8])}, {"y": pairs}, {"block_size": 2, "mode": "DCR", "data_format": "NHWC"})
    # Channels first, eight of one place: with DCR the channel is the last of the three, with CRD the first.
    eight = moved(list(range(8)), [1, 8, 1, 1])
    for mode, place in (("DCR", lambda i, j, channel: 4 * i + 2 * j + channel), ("CRD", lambda i, j, channel: 4 * channel + 2 * i + j)):
        right = [place(i, j, channel) for channel, i, j in product((0, 1), (0, 1), (0, 1))]
        call("DepthToSpace", {"x": eight}, {"y": moved(right, [1, 2, 2, 2])}, {"block_size": 2, "mode": mode, "data_format": "NCHW"})
    call("SpaceToDepth", {"x": moved([0, 2, 4, 6, 1, 3, 5, 7], [1, 2, 2, 2])}, {"y": eight}, {"block_size": 2, "data_format": "NCHW"})


def laid_out():
    x = moved(TWELVE, [3, 4])
    call("Pad", {"x": moved([1, 2, 3, 4], [2, 2]), "paddings": whole([1, 0, 0, 2], "int32", [2, 2])}, {"y": moved([0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0], [3, 4])})
    for mode, row in (("REFLECT", [3, 2, 1, 2, 3, 2]), ("SYMMETRIC", [2, 1, 1, 2, 3, 3])):
        call("MirrorPad", {"x": moved([1, 2, 3], [1, 3]), "paddings": whole([0, 0, 2, 1], "int64", [2, 2])}, {"y": moved(row, [1, 6])}, {"mode": mode})
    for axis, right in ((-1, [9, 9, 4, 9, 9, 9]), (0, [9, 9, 9, 9, 4, 9])):
        call("OneHot", {"x": whole([2, -1], "int32"), "depth": whole([3], "int32"), "on_value": moved([4]), "off_value": moved([9])},
             {"y": moved(right, [2, 3] if axis else [3, 2])}, {"axis": axis})
    call("MatrixDiag", {"x": moved([1, 2, 3, 4], [2, 2])}, {"y": moved([1, 0, 0, 2, 3, 0, 0, 4], [2, 2, 2])})
    call("Diag", {"x": whole([1, 2, 3, 4], "int32", [2, 2])}, {"y": whole([1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4], "int32", [2, 2, 2, 2])})
    call("MatrixDiagPart", {"x": moved(TWELVE, [2, 3, 2])}, {"y": moved([1, 4, 7, 10], [2, 2])})
    call("MatrixSetDiag", {"x": x, "diagonal": moved([50, 60, 70])}, {"y": moved([50, 2, 3, 4, 5, 60, 7, 8, 9, 10, 70, 12], [3, 4])})
    call("Trilu", {"x": x, "k": whole([1])}, {"y": moved([one if at % 4 >= at // 4 + 1 else 0 for at, one in enumerate(TWELVE)], [3, 4])}, {"upper": 1})
    call("Trilu", {"x": x}, {"y": moved([one if at % 4 <= at // 4 - 1 else 0 for at, one in enumerate(TWELVE)], [3, 4])}, {"upper": 0, "diagonal": -1})
    call("Concat", {"concat_dim": whole([1], "int32"), "x": [moved([1, 2], [2, 1]), moved([3, 4, 5, 6], [2, 2])]},
         {"y": moved([1, 3, 4, 2, 5, 6], [2, 3])}, {"N": 2})
    call("Unpack", {"x": moved([1, 2, 3, 4], [2, 2])}, {"y": [moved([1, 3]), moved([2, 4])]}, {"num": 2, "axis": 1})
    call("ReverseV2", {"x": x, "axis": whole([-1])}, {"y": moved([4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9], [3, 4])})
    call("RepeatInterleave", {"x": moved([1, 2, 3, 4], [2, 2]), "repeats": whole([2, 1])}, {"y": moved([1, 1, 2, 3, 3, 4], [2, 3])}, {"axis": 1})
    call("RepeatInterleave", {"x": moved([1, 2]), "repeats": whole([2])}, {"y": moved([1, 1, 2, 2])}, {"axis": 0})
    call("ReverseSequence", {"x": x, "seq_lengths": whole([3, 0, 2])}, {"y": moved([3, 2, 1, 4, 5, 6, 7, 8, 10, 9, 11, 12], [3, 4])},
         {"seq_dim": 1, "batch_dim": 0})
    call("TileWithAxis", {"x": moved([1, 2, 3, 4], [2, 2])}, {"y": moved([1, 2, 1, 2, 3, 4, 3, 4], [2, 4])}, {"axis": 1, "tiles": 2})
    call("SliceLastDim", {"x": x}, {"y": moved([2, 4, 6, 8, 10, 12], [3, 2])}, {"start": -3, "end": 9, "stride": 2})
    call("SliceWithAxes", {"x": x, "offsets": whole([1]), "size": whole([2])}, {"y": moved([2, 3, 6, 7, 10, 11], [3, 2])}, {"axes": [-1]})
    call("PadV3", {"x": moved([1, 2]), "paddings": whole([1, 2]), "constant_values": moved([9])}, {"y": moved([9, 1, 2, 9, 9])}, {"mode": "constant"})
    call("PadV3", {"x": moved([1, 2]), "paddings": whole([0, 1])}, {"y": moved([1, 2, 0])}, {"mode": "constant", "paddings_contiguous": True})
    columns = [1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12]
    call("ConfusionTransposeD", {"x": x}, {"y": moved(columns, [2, 6])}, {"perm": [1, 0], "shape": [2, 6], "transpose_first": True})
    call("ConfusionTransposeD", {"x": moved(TWELVE)}, {"y": moved(columns, [4, 3])}, {"perm": [1, 0], "shape": [3, 4], "transpose_first": False})
    call("ScatterElements", {"data": x, "indices": whole([0, 2, 1, 0], "int32", [1, 4]), "updates": moved([50, 60, 70, 80], [1, 4])},
         {"y": moved([50, 2, 3, 80, 5, 6, 70, 8, 9, 60, 11, 12], [3, 4])}, {"axis": 0, "reduction": "none"})
    call("TensorScatterUpdate", {"x": x, "indices": whole([2, 0, 1, 3], "int32", [2, 2]), "updates": moved([50, 60])},
         {"y": moved([1, 2, 3, 4, 5, 6, 7, 60, 50, 10, 11, 12], [3, 4])})
    call("InplaceIndexAdd", {"var": moved([1, 2, 3, 4], [2, 2]), "indices": whole([1, 1]), "updates": moved([5, 6, 7, 8], [2, 2]), "alpha": moved([2])},
         {"var": moved([1, 24, 3, 34], [2, 2])}, {"axis": 1})
    call("InplaceIndexAdd", {"var": tensor([1, 2], "float32"), "indices": whole([1], "int32"), "updates": tensor([F(1, 2)], "float32")},
         {"var": tensor([1, F(5, 2)], "float32")}, {"axis": 0})
    call("InvertPermutation", {"x": whole([2, 0, 3, 1], "int32")}, {"y": whole([1, 3, 0, 2], "int32")})


def along(dtype):
    x = [abs(one) for one in numbers(dtype, 6, -2, 2)]
    signed = [one if at % 2 else -one for at, one in enumerate(x)]
    rows, axes = [signed[:3], signed[3:]], {"axes": whole([1], "int32")}

    def of(values, shape=None):
        return tensor(values, dtype, shape)

    matrix = of(signed, [2, 3])
    for operator, right in (("ReduceProd", [row[0] * row[1] * row[2] for row in rows]),
                            ("ReduceLogSumExp", [F(exact.ln(sum(exact.exp(one) for one in row))) for row in rows]),
                            ("EuclideanNorm", [F(dec(sum(one * one for one in row)).sqrt()) for row in rows])):
        call(operator, {"x": matrix, **axes}, {"y": of(right)}, {"keep_dims": False})
    call("ReduceLogSum", {"x": of(x, [2, 3]), **axes}, {"y": of([F(exact.ln(sum(row))) for row in (x[:3], x[3:])], [2, 1])}, {"keep_dims": True})
    call("SquareSumV1", {"x": matrix}, {"y": of([sum(one * one for one in signed)])}, {"axis": [0, 1], "keep_dims": False})
    for correction in (0, 1):
        variances = [sum((one - mean(row)) ** 2 for one in row) / (3 - correction) for row in rows]
        means = of([mean(row) for row in rows], [2, 1])
        options = {"dim": [1], "correction": correction, "keepdim": True, "is_mean_out": correction == 1}
        means = means if correction else {**means, "silent": True}
        call("ReduceVar", {"x": matrix}, {"var": of(variances, [2, 1]), "mean": means}, options)
        call("ReduceStdV2", {"x": matrix}, {"std": of([F(dec(one).sqrt()) for one in variances], [2, 1]), "mean": means}, options)
    call("BiasAddGrad", {"x": matrix}, {"y": of([a + b for a, b in zip(*rows)])}, {"data_format": "NHWC"})
    call("BiasAddGrad", {"x": of(signed, [1, 2, 3, 1])}, {"y": of([sum(row) for row in rows])}, {"data_format": "NCHW"})
    for exclusive, reverse in product((False, True), (False, True)):
        right = []
        for row, place in product(rows, range(3)):
            named = row[place + exclusive:] if reverse else row[:place + 1 - exclusive]
            right.append(sum(named, F(0)))
        call("Cumsum", {"x": matrix, "axis": whole([1], "int32")}, {"y": of(right, [2, 3])}, {"exclusive": exclusive, "reverse": reverse})


def places():
    x = whole([3, 9, 4, 7, 2, 8], "int32", [2, 3])
    call("ArgMaxV2", {"x": x, "dimension": whole([1], "int32")}, {"y": whole([1, 2], "int32")}, {"dtype": 3})
    call("ArgMin", {"x": x, "dimension": whole([0], "int32")}, {"y": whole([0, 1, 0])}, {"dtype": 9})
    call("KthValue", {"x": x}, {"y": whole([4, 7], "int32"), "indices": whole([2, 0], "int32")}, {"k": 2, "dim": -1})
    call("ReduceNansum", {"x": tensor([1, "nan", 2, "nan", "nan", "nan"], "float32", [2, 3]), "axes": whole([1])}, {"y": tensor([3, 0], "float32")},
         {"keep_dims": False})
    call("SquareSumAll", {"x1": tensor([1, 2], "float32"), "x2": tensor([3, 4], "float32")}, {"y1": tensor([5], "float32"), "y2": tensor([25], "float32")})
    call("ReduceProd", {"x": x, "axes": whole([0])}, {"y": whole([21, 18, 32], "int32", [1, 3])}, {"keep_dims": True, "noop_with_empty_axes": True})
    call("Cumsum", {"x": x, "axis": whole([0])}, {"y": whole([3, 9, 4, 10, 11, 12], "int32", [2, 3])}, {"exclusive": False, "reverse": False})
    for right, found in ((False, [0, 0, 1, 1, 3]), (True, [0, 1, 1, 2, 3])):
        call("BucketizeV2", {"x": tensor([0, 1, 2, 3, 6], "float32"), "boundaries": tensor([1, 3, 5], "float32")}, {"y": whole(found, "int32")},
             {"out_int32": True, "right": right})
    for found, tracker, scale, after in ((1, 3, 2, 0), (0, 3, 8, 4), (0, 4, 16, 0)):
        call("AmpUpdateScale", {"current_scale": tensor([8], "float32"), "growth_tracker": whole([tracker], "int32"), "found_inf": tensor([found], "float32")},
             {"updated_scale": tensor([scale], "float32"), "updated_growth_tracker": whole([after], "int32")},
             {"growth_factor": 2.0, "backoff_factor": 0.25, "growth_interval": 5})


def all_of():
    scatters()
    segments()
    blocks()
    laid_out()
    places()
    for dtype in ("float16", "float32"):
        along(dtype)
