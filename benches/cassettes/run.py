#!/usr/bin/env python3
"""What a language model adds to the motif engine, with answers that somebody wrote by hand as a model would give them
(tests/suite/data/cassettes): six operators, each tuned by the engine alone, and with those answers, with the same seed and the same number
of evaluations. The run with answers is made twice, and has to give the same lock and the same sources, byte for byte.

    cargo build --release --locked
    python3 benches/cassettes/run.py [--budget N] [--seed N] [NAME ...]

Times are modelled. The ending status is 1 where the answers bring nothing, or a repetition differs."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "target/release/cargo-ascend-tune"
CASSETTES = ROOT / "tests/suite/data/cassettes"
# Fixtures, and smaller shapes for their timed cases, so that a run takes seconds.
OPERATORS = {
    "cumulative_sum": ("cumulative_sum/beginner", {"[8, 192, 768]": "[8, 48, 768]", "[6, 256, 1000]": "[6, 64, 1000]"}),
    "gelu_naive": ("gelu_naive", {"[1024, 1024]": "[32, 1024]"}),
    "group_quant": ("group_quant/beginner", {"[768, 1024]": "[96, 1024]", "[1500, 640]": "[188, 640]"}),
    "rms_norm": ("rms_norm/beginner", {"[1536, 1024]": "[96, 1024]", "[3072, 768]": "[192, 768]"}),
    "rotary_embedding": (
        "rotary_embedding/beginner",
        {
            "[512, 16, 128]": "[96, 16, 128]",
            "[512, 64]": "[96, 64]",
            "[1000, 8, 64]": "[192, 8, 64]",
            "[1000, 32]": "[192, 32]",
        },
    ),
    "softmax_rows": ("softmax_rows", {"[1024, 1024]": "[96, 1024]"}),
}
MODEL = '\n[model]\nendpoint = "http://127.0.0.1:9/v1"\nname = "by-hand"\nshare = 1.0\n'


def project(name, folder):
    """A copy of the fixture with small cases and a model that is never asked."""
    fixture, shapes = OPERATORS[name]
    shutil.copytree(ROOT / "fixtures" / fixture, folder)
    manifest = folder / "ascend.toml"
    text = manifest.read_text()
    for shape, smaller in shapes.items():
        if shape not in text:
            sys.exit(f"{manifest}: no shape {shape}: see OPERATORS in {__file__}")
        text = text.replace(shape, smaller)
    manifest.write_text(text + MODEL)


def tuned(name, folder, arguments, options):
    """The summary of a run, and what it left in the project."""
    project(name, folder)
    command = [TOOL, "ascend-tune", "run", "--project", folder, "--stage", "kernel", "--allow-dirty"]
    command += ["--budget", str(arguments.budget), "--seed", str(arguments.seed), "--message-format", "json"]
    run = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=False)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    summaries = [event for event in events if event["event"] == "summary"]
    if run.returncode != 0 or not summaries:
        sys.exit(f"{name}: the run ended with {run.returncode}: {events[-1] if events else 'nothing said'}")
    files = [path for part in ("op_host", "op_kernel") for path in sorted((folder / part).iterdir())]
    left = {path.name: path.read_bytes() for path in [folder / "ascend.lock", *files] if path.exists()}
    return summaries[-1], left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(OPERATORS))
    parser.add_argument("--budget", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = False
    print("| operator | engine alone | with answers | evaluations | of the answers |\n|---|---:|---:|---:|---:|")
    for name in arguments.names or OPERATORS:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            alone, _ = tuned(name, folder / "alone" / name, arguments, ["--no-model"])
            answers = ["--offline", "--replay", CASSETTES / f"{name}.jsonl"]
            helped, left = tuned(name, folder / "first" / name, arguments, answers)
            _, again = tuned(name, folder / "second" / name, arguments, answers)
        used = helped["model"]["evaluations"]
        counts = f"{alone['evaluations']}, {helped['evaluations']}"
        print(f"| `{name}` | {alone['speedup']:.2f}x | {helped['speedup']:.2f}x | {counts} | {used} |", flush=True)
        if left != again:
            print(f"{name}: a repetition differs", file=sys.stderr)
        failed |= left != again or helped["speedup"] <= alone["speedup"]
    return failed


if __name__ == "__main__":
    sys.exit(main())
