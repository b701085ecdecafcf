"""Blocks that go from space to batch or depth and back, pads, diagonals of batches of matrices, lists, reversed and repeated ones."""

import numpy as np

from core import REQUIRED, Mismatch, define
from layout import whole
from shapes import checked, copied


def padding_pairs(x, paddings, count):
    pairs = np.asarray(paddings).reshape(-1, 2)
    if len(pairs) != count or np.any(pairs < 0):
        raise Mismatch(f"{len(pairs)} paddings for {x.ndim} dimensions, or negative ones")
    return [(int(before), int(after)) for before, after in pairs]


@define("SpaceToBatchND", inputs="x block_shape~:index paddings~:index", outputs="y", dtypes="any")
def space_to_batch(x, block_shape, paddings):
    """y = x with zeros around, every place in a block a batch of its own"""
    blocks = whole(block_shape)
    count = len(blocks)
    pairs = padding_pairs(x, paddings, count)
    padded = np.pad(x, [(0, 0)] + pairs + [(0, 0)] * (x.ndim - 1 - count))
    if count >= x.ndim or any(one <= 0 or size % one for one, size in zip(blocks, padded.shape[1:])):
        raise Mismatch(f"blocks of {blocks}")
    shape = [len(x)]
    for one, size in zip(blocks, padded.shape[1:]):
        shape += [size // one, one]
    rest = list(padded.shape[1 + count :])
    order = [2 * axis + 2 for axis in range(count)] + [0] + [2 * axis + 1 for axis in range(count)]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    final = [len(x) * int(np.prod(blocks))] + [size // one for one, size in zip(blocks, padded.shape[1:])] + rest
    return copied(padded.reshape(shape + rest).transpose(order).reshape(final))


@define("BatchToSpaceND", inputs="x block_shape~:index crops~:index", outputs="y", dtypes="any")
def batch_to_space(x, block_shape, crops):
    """y = x with the batches of a block side by side, crops taken away at the ends"""
    blocks = whole(block_shape)
    count, cells = len(blocks), int(np.prod(blocks))
    pairs = padding_pairs(x, crops, count)
    if count >= x.ndim or min(blocks) <= 0 or len(x) % cells:
        raise Mismatch(f"blocks of {blocks}")
    split = x.reshape(blocks + [len(x) // cells] + list(x.shape[1:]))
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, split.ndim)
    sizes = [size * one for size, one in zip(x.shape[1:], blocks)]
    full = split.transpose(order).reshape([len(x) // cells] + sizes + list(x.shape[1 + count :]))
    if any(before + after > size for (before, after), size in zip(pairs, sizes)):
        raise Mismatch("crops that leave nothing")
    return copied(full[(slice(None),) + tuple(slice(before, size - after) for (before, after), size in zip(pairs, sizes))])


def channels_last(x, data_format):
    if x.ndim != 4 or data_format not in ("NHWC", "NCHW"):
        raise Mismatch(f"{x.ndim} dimensions in the data format {data_format}")
    return x if data_format == "NHWC" else x.transpose(0, 2, 3, 1)


def as_before(x, data_format):
    return copied(x if data_format == "NHWC" else x.transpose(0, 3, 1, 2))


@define("SpaceToDepth", inputs="x", outputs="y", dtypes="any", attributes={"block_size": REQUIRED, "data_format": "NHWC"})
def space_to_depth(x, block_size, data_format):
    """y = the elements of each block as channels, the channel within a place the fastest"""
    x = channels_last(x, data_format)
    batch, height, width, depth = x.shape
    if block_size <= 0 or height % block_size or width % block_size:
        raise Mismatch(f"blocks of {block_size}")
    split = x.reshape(batch, height // block_size, block_size, width // block_size, block_size, depth)
    return as_before(split.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height // block_size, width // block_size, -1), data_format)


MODES = (("DCR", "NHWC"), ("DCR", "NCHW"), ("CRD", "NCHW"))


@define("DepthToSpace", inputs="x", outputs="y", dtypes="any", attributes={"block_size": REQUIRED, "mode": "DCR", "data_format": "NHWC"})
def depth_to_space(x, block_size, mode, data_format):
    """y = the channels of each place as a block: the place in the block goes before the channel in DCR, after it in CRD"""
    x = channels_last(x, data_format)
    batch, height, width, depth = x.shape
    # The order of channels in CRD is told for channels that come first.
    if block_size <= 0 or depth % block_size**2 or (mode, data_format) not in MODES:
        raise Mismatch(f"blocks of {block_size} of {depth} channels, {mode}")
    if mode == "DCR":
        split = x.reshape(batch, height, width, block_size, block_size, -1)
    else:
        split = x.reshape(batch, height, width, -1, block_size, block_size).transpose(0, 1, 2, 4, 5, 3)
    return as_before(split.transpose(0, 1, 3, 2, 4, 5).reshape(batch, height * block_size, width * block_size, -1), data_format)


@define("Pad", inputs="x paddings~:index", outputs="y", dtypes="any")
def pad(x, paddings):
    """y = x with zeros around; paddings begin with the first dimension"""
    return copied(np.pad(x, padding_pairs(x, paddings, x.ndim)))


@define("MirrorPad", inputs="x paddings~:index", outputs="y", dtypes="any", attributes={"mode": REQUIRED})
def mirror_pad(x, paddings, mode):
    """y = x mirrored at its ends, without the last element in REFLECT, with it in SYMMETRIC; paddings begin with the first dimension"""
    pairs = padding_pairs(x, paddings, x.ndim)
    if mode not in ("REFLECT", "SYMMETRIC") or any(max(pair) > size - (mode == "REFLECT") for pair, size in zip(pairs, x.shape)):
        raise Mismatch(f"paddings {pairs} in the mode {mode}")
    return copied(np.pad(x, pairs, mode=mode.lower()))


@define("OneHot", inputs="x~:index depth~:index on_value off_value", outputs="y", dtypes="number", attributes={"axis": -1})
def one_hot(x, depth, on_value, off_value, axis):
    """y = on_value where the place along a new axis is x, else off_value"""
    if not -1 <= axis <= x.ndim:
        raise Mismatch(f"the axis {axis} of {x.ndim + 1}")
    holds = x[..., None] == np.arange(int(depth.reshape(-1)[0]))
    return copied(np.moveaxis(np.where(holds, on_value.reshape(-1)[0], off_value.reshape(-1)[0]), -1, axis))


@define("MatrixDiag", inputs="x", outputs="y", dtypes="any")
def matrix_diagonal(x):
    """y = matrices with the last dimension of x on the diagonal"""
    size = x.shape[-1]
    result = np.zeros(x.shape + (size,), x.dtype)
    result[..., np.arange(size), np.arange(size)] = x
    return copied(result)


@define("Diag", inputs="x", outputs="y", dtypes="any")
def tensor_diagonal(x):
    """y[i.., i..] = x[i..], else 0"""
    return copied(np.diag(x.reshape(-1)).reshape(x.shape + x.shape))


@define("MatrixDiagPart", inputs="x", outputs="y", dtypes="any")
def matrix_diagonal_part(x):
    """y = the diagonals of matrices"""
    if x.ndim < 2:
        raise Mismatch(f"{x.ndim} dimensions")
    return copied(np.diagonal(x, axis1=-2, axis2=-1))


@define("MatrixSetDiag", inputs="x diagonal", outputs="y", dtypes="any")
def matrix_set_diagonal(x, diagonal):
    """y = matrices with other diagonals"""
    if x.ndim < 2 or diagonal.shape != x.shape[:-2] + (min(x.shape[-2:]),):
        raise Mismatch("a diagonal of another size")
    result, places = x.copy(), np.arange(min(x.shape[-2:]))
    result[..., places, places] = diagonal
    return copied(result)


@define("Trilu", inputs="x k~:index?", outputs="y", dtypes="any", attributes={"upper": REQUIRED, "diagonal": 0})
def triangle(x, k, upper, diagonal):
    """y = x on and above a diagonal, or on and below it where upper is 0, else 0"""
    shift = diagonal if k is None else whole(k)[0]
    if x.ndim < 2:
        raise Mismatch(f"{x.ndim} dimensions")
    return copied(np.triu(x, shift) if upper else np.tril(x, shift))


@define("Concat", inputs="concat_dim~:index x*", outputs="y", dtypes="any", ignored="N")
def concatenate(concat_dim, tensors):
    """y = all tensors one after the other along a dimension"""
    return copied(np.concatenate(tensors, whole(concat_dim)[0]))


@define("Unpack", inputs="x", outputs="y*", dtypes="any", attributes={"num": REQUIRED, "axis": 0})
def unpack(x, num, axis):
    """y = the slices of x along an axis"""
    if not -x.ndim <= axis < x.ndim or x.shape[axis] != num:
        raise Mismatch(f"{num} slices along the axis {axis}")
    return ([copied(part) for part in np.moveaxis(x, axis, 0)],)


@define("ReverseV2", inputs="x axis~:index", outputs="y", dtypes="any")
def reverse(x, axis):
    """y = x turned round along axes"""
    axes = whole(axis)
    if any(not -x.ndim <= one < x.ndim for one in axes) or len({one % x.ndim for one in axes}) != len(axes):
        raise Mismatch(f"axes {axes} of {x.ndim}")
    return copied(np.flip(x, axes))


@define("RepeatInterleave", inputs="x repeats~:index", outputs="y", dtypes="any", attributes={"axis": REQUIRED})
def repeat_interleave(x, repeats, axis):
    """y = every element along an axis as often as repeats says"""
    times = repeats.reshape(-1)
    if not -x.ndim <= axis < x.ndim or np.any(times < 0) or len(times) not in (1, x.shape[axis]):
        raise Mismatch(f"{len(times)} repetitions along the axis {axis}")
    return copied(np.repeat(x, times if len(times) > 1 else int(times[0]), axis))


@define("ReverseSequence", inputs="x seq_lengths~:index", outputs="y", dtypes="any", attributes={"seq_dim": REQUIRED, "batch_dim": 0})
def reverse_sequences(x, seq_lengths, seq_dim, batch_dim):
    """y = x with the first seq_lengths[b] elements along seq_dim turned round, in each batch b"""
    if not 0 <= seq_dim < x.ndim or not 0 <= batch_dim < x.ndim or seq_dim == batch_dim:
        raise Mismatch(f"sequences along {seq_dim} in batches along {batch_dim}")
    lengths = whole(seq_lengths)
    if len(lengths) != x.shape[batch_dim] or not 0 <= min(lengths) <= max(lengths) <= x.shape[seq_dim]:
        raise Mismatch(f"sequences of {lengths}")
    result = np.moveaxis(x.copy(), (batch_dim, seq_dim), (0, 1))
    for batch, length in zip(result, lengths):
        batch[:length] = batch[:length][::-1].copy()
    return copied(np.moveaxis(result, (0, 1), (batch_dim, seq_dim)))


@define("TileWithAxis", inputs="x", outputs="y", dtypes="any", attributes={"axis": 1, "tiles": REQUIRED})
def tile_along(x, axis, tiles):
    """y = x, tiles times along an axis"""
    if not -x.ndim <= axis < x.ndim or tiles <= 0:
        raise Mismatch(f"{tiles} tiles along the axis {axis}")
    return copied(np.concatenate([x] * tiles, axis))


@define("SliceLastDim", inputs="x", outputs="y", dtypes="any", attributes={"start": REQUIRED, "end": REQUIRED, "stride": 1})
def slice_last(x, start, end, stride):
    """y = x[..., start:end:stride]"""
    if stride < 1:
        raise Mismatch(f"a stride of {stride}")
    return copied(x[..., start:end:stride])


@define("SliceWithAxes", inputs="x offsets~:index size~:index", outputs="y", dtypes="any", attributes={"axes": REQUIRED})
def slice_along(x, offsets, size, axes):
    """y = size elements of x from offsets on along axes"""
    places = [slice(None)] * x.ndim
    offsets, size = whole(offsets), whole(size)
    if not len(offsets) == len(size) == len(axes):
        raise Mismatch("an offset and a size for each axis are needed")
    for axis, first, count in zip(axes, offsets, size):
        if not -x.ndim <= axis < x.ndim or first < 0 or count < 0 or first + count > x.shape[axis]:
            raise Mismatch("the slice reaches beyond the tensor")
        places[axis] = slice(first, first + count)
    return copied(x[tuple(places)])


@define("PadV3", inputs="x paddings~:index constant_values?", outputs="y", dtypes="any",
        attributes={"mode": "constant", "paddings_contiguous": True})
def pad_with(x, paddings, constant_values, mode, paddings_contiguous):
    """y = x with constant_values around, 0 without; paddings begin with the first dimension"""
    if mode != "constant" or not paddings_contiguous:
        raise Mismatch("only contiguous paddings with a constant have a definition")
    value = 0 if constant_values is None else constant_values.reshape(-1)[0]
    return copied(np.pad(x, padding_pairs(x, paddings, x.ndim), constant_values=value))


@define("ConfusionTransposeD", inputs="x", outputs="y", dtypes="any", attributes={
    "perm": REQUIRED, "shape": REQUIRED, "transpose_first": REQUIRED})
def transpose_and_reshape(x, perm, shape, transpose_first):
    """y = x with dimensions in the order of perm, then in a shape, or in the shape first"""
    if int(np.prod(shape)) != x.size or min(shape, default=1) < 0:
        raise Mismatch(f"{x.size} elements in the shape {shape}")
    given = x if transpose_first else x.reshape(shape)
    if sorted(perm) != list(range(given.ndim)):
        raise Mismatch(f"perm {perm} of {given.ndim} dimensions")
    turned = given.transpose(perm)
    return copied(turned.reshape(shape) if transpose_first else turned)


@define("InvertPermutation", inputs="x", outputs="y", dtypes="index")
def invert_permutation(x):
    """y[x[i]] = i"""
    if x.ndim != 1 or np.unique(checked(x, len(x))).size != len(x):
        raise Mismatch("not a permutation")
    return copied(np.argsort(x))
