#!/usr/bin/env python3
"""Tests of what needs neither the library nor the tool: python3 benches/cann-ops/test_page.py"""

import tomllib
import unittest

import gathered
import larger
import operators
import page
from tool import Told, one_line


def timed(name, before, after, bound, limiter):
    known = {"name": name, "baseline_us": before, "best_us": after, "ratio": before / after, "bound_us": bound}
    return known | {"limiter": limiter, "limiter_before": limiter}


def tuned(name, level, claimed):
    how = {"operator": name, "level": level, "budget": 230, "time_limit": "40s", "seed": 1, "rounding": True, "library": "0123456789abcdef"}
    cases = [timed("float16-64", 4.0, 4.0, 3.0, "launch"), timed("float16-4096", 40.0, 20.0, 18.0, "memory")]
    found = {"claimed": claimed, "speedup": 1.5, "fixed": 0.4, "motifs": ["V01", "V01"], "changed": {"BUFFER_NUM": 3}, "evaluations": 7}
    rest = {"rejections": {"hazard": 2}, "init_s": 1.0, "run_s": 2.0, "machine": "Ascend910B2 version 6", "version": "0.1.0"}
    return how | found | rest | {"cases": cases, "path": {"launch": 0.3}, "tunables": ["BUFFER_NUM"], "ended": "the time is up"}


def failed(name, level):
    known = {key: tuned(name, level, 1.0)[key] for key in ("operator", "level", "budget", "time_limit", "seed", "rounding")}
    return known | {"failure": {"command": "run", "exit": 5, "reason": "hangs | for good"}}


class Page(unittest.TestCase):
    def test_failures_count_as_no_gain(self):
        levels = {"cos": "L1", "fill": "L1", "foreach_exp": "L2"}
        text = page.rendered([tuned("cos", "L1", 1.44), failed("fill", "L1")], levels)
        row = next(line for line in text.splitlines() if line.startswith("| L1 "))
        self.assertIn("| 2 | 1 | 1.20x |", row)
        self.assertIn("50 %", row)
        self.assertIn("2 of them were tried", text)

    def test_a_row_says_what_was_kept(self):
        text = page.rendered([tuned("cos", "L1", 1.44)], {"cos": "L1"})
        self.assertIn("2 V01, `BUFFER_NUM=3`", text)
        self.assertNotIn("gained nothing", text)

    def test_reasons_do_not_break_the_table(self):
        self.assertIn("hangs \\| for good", page.rendered([failed("fill", "L1")], {"fill": "L1"}))

    def test_warnings_are_told_unless_they_stand_elsewhere(self):
        said = {"warnings": ["no-improvement: nothing", "does-not-hold: on probe x"], "faults": ["64x64: crashes"]}
        text = page.rendered([tuned("cos", "L1", 1.0) | said], {"cos": "L1"})
        self.assertIn("| `cos` | init | 64x64: crashes |\n| `cos` | run | does-not-hold: on probe x |", text)
        self.assertNotIn("no-improvement", text)

    def test_what_gained_nothing_is_explained(self):
        text = page.rendered([tuned("cos", "L1", 1.0)], {"cos": "L1"})
        self.assertIn("| launch, memory | 82 % | launch 30 % | 1 | 7 | 2 hazard | the time is up |", text)


class List(unittest.TestCase):
    def test_it_has_the_published_operators(self):
        levels = operators.listed()
        self.assertEqual([sum(level == one for one in levels.values()) for level in operators.LEVELS], [25, 63, 13])

    def test_every_beginning_has_all_levels(self):
        levels = operators.listed()
        order = operators.spread(levels, 25)
        self.assertEqual(sorted(order), sorted(levels))
        self.assertEqual({levels[name] for name in order[:16]}, set(operators.LEVELS))


class Words(unittest.TestCase):
    def test_paths_of_the_machine_are_gone(self):
        self.assertEqual(one_line("no /home/me/x/src/a.cpp:3\n in op_kernel/a.h"), "no a.cpp:3 in op_kernel/a.h")

    def test_a_command_that_was_stopped_says_what_was_heard_last(self):
        told = Told("init", [{"event": "progress", "step": "at sizes"}], None, 9.0)
        self.assertEqual(told.failure()["reason"], "stopped after 9 s; last heard: at sizes")

    def test_fixed_share_is_launch_and_start_of_blocks(self):
        steps = [{"part": "start", "pipe": "s", "time_us": 1.0}, {"part": "bytes", "pipe": "mte2", "time_us": 6.0}]
        launch = {"event": "profile", "task_us": 10.0, "longest_core_us": 8.0, "critical_path": steps}
        found = gathered.of_profile(Told("profile", [launch], 0, 1.0))
        self.assertEqual(found["fixed"], 0.3)
        self.assertEqual(next(iter(found["path"])), "mte2 bytes")


class Larger(unittest.TestCase):
    TEXT = """[[case]]
inputs = [
    { name = "x", dtype = "float16", shape = [24, 7] },
    { name = "n", dtype = "int64", shape = [24], values = [1] },
]
outputs = [{ name = "y", dtype = "float16", shape = [24] }]

[[case]]
verify-only = true
inputs = [{ name = "x", dtype = "float16", shape = [24, 7] }]
"""

    def test_tensors_of_that_length_grow(self):
        timed, checked = tomllib.loads(larger.manifest(self.TEXT, 4))["case"]
        self.assertEqual([one["shape"] for one in timed["inputs"] + timed["outputs"]], [[96, 7], [24], [96]])
        self.assertEqual(checked["inputs"][0]["shape"], [24, 7])

    def test_nothing_grows_where_the_first_tensor_is_a_value(self):
        text = '[[case]]\ninputs = [{ name = "n", dtype = "int64", shape = [1], values = [3] }]\n'
        self.assertIsNone(larger.manifest(text, 4))


if __name__ == "__main__":
    unittest.main()
