import unittest
from dataclasses import dataclass

import pytest
import torch
import torch_npu
from some_package.that.is_not_here import enable

enable()


@dataclass(frozen=True)
class Case:
    rows: int


def expected(x):
    return torch_npu.another_operator(x)


@pytest.mark.parametrize("case", [Case(2), Case(3)])
@pytest.mark.parametrize("mode,scale", [("a", 0.5), pytest.param("b", 2.0)])
@torch_npu.some_decorator
def test_scale(case, mode, scale):
    x = torch.zeros(case.rows, 8).npu()
    right = expected(x)
    y = torch.ops.library.npu_scale_rows(x, torch.tensor([1, case.rows]).npu(), None, mode=mode, scale=scale)
    assert y == right


@pytest.mark.skip(reason="no device")
def test_other():
    torch.ops.library.something_else(torch.zeros(1))


class TestScale(unittest.TestCase):
    def setUp(self):
        self.rows = 5

    def test_list(self):
        torch.ops.library.npu_scale_rows([torch.zeros(self.rows, 1)], [1, 2], True)
        raise AssertionError("the call ends the test")
