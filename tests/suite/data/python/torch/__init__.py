"""As much of torch as the recording of calls touches: tensors of whole numbers and floats that only know their values."""

from torch import overrides  # noqa: F401


class dtype:
    def __init__(self, name, floating):
        self.name, self.floating = name, floating

    def __str__(self):
        return "torch." + self.name


float16, float64 = dtype("float16", True), dtype("float64", True)
int32, int64 = dtype("int32", False), dtype("int64", False)


class Tensor:
    def __init__(self, values, shape, kind):
        self.values, self.shape, self.dtype = values, shape, kind

    def detach(self):
        return self

    def numel(self):
        return len(self.values)

    def is_floating_point(self):
        return self.dtype.floating

    def to(self, kind):
        return Tensor(self.values, self.shape, kind)

    def min(self):
        return min(self.values)

    def max(self):
        return max(self.values)

    def flatten(self):
        return self

    def tolist(self):
        return list(self.values)


class device:
    pass


class Missing:
    def __getattr__(self, name):
        raise AttributeError(name)


ops = Missing()


def tensor(values, dtype=int32):
    return Tensor(values, (len(values),), dtype)


def zeros(*shape, dtype=float16):
    count = 1
    for size in shape:
        count *= size
    return Tensor([0.0] * count, shape, dtype)


def manual_seed(_):
    pass
