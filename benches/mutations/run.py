#!/usr/bin/env python3
"""Mutation check of the SDK: puts one fault at a time into instructions and API functions, and sees whether the SDK's own tests notice.

    python3 benches/mutations/run.py --seed 1 --count 40 [--only PLACE...] [--programs NAME...] [--work DIR] [--jobs N]

It takes the sources of this tree, with the headers that `sdk/forwards.toml` stands for from an unpacked SDK (--unpacked; the newest in
the tests' cache otherwise), and builds the library and the programs of `sdk/tests` once, with all faults in them that can be selected
when a program runs. The others (in constants, of names) take a build each of what they touch. A fault that does not compile is no
fault; another is drawn.
Answers are a line of JSON each in DIR/faults.jsonl: file, line and column, what was changed, and the program that noticed, or none.
"""

import argparse
import json
import os
import sys

import faults
from bench import Bench

# Faults that stand in for those that do not compile.
SPARE = 20


def newest_unpacked():
    cache = os.path.join(faults.ROOT, "target/tmp/cache")
    found = [os.path.join(cache, name) for name in os.listdir(cache) if name.startswith("sdk-")] if os.path.isdir(cache) else []
    if not found:
        sys.exit(f"{cache} has no unpacked SDK: run ./x test once, or name one with --unpacked")
    return max(found, key=os.path.getmtime)


def answers(bench, count):
    """Faults that compile, with what noticed them."""
    for number, fault in enumerate(bench.faults):
        noticed = bench.tried(number) if count else None
        if noticed is not None:
            count -= 1
            yield fault, noticed[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--work", default=os.path.join(faults.ROOT, "target/mutations"))
    parser.add_argument("--jobs", type=int, default=1, help="compilers at once")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of places to put faults into, as rows.h or rows.h:153:")
    parser.add_argument("--programs", nargs="+", default=[], help="programs of sdk/tests; all otherwise")
    parser.add_argument("--unpacked", help="an unpacked SDK")
    options = parser.parse_args()
    work = os.path.abspath(options.work)
    os.makedirs(work, exist_ok=True)
    some = faults.drawn(options.seed, options.only)[: options.count + SPARE]
    bench = Bench(os.path.join(work, "bench"), options.unpacked or newest_unpacked(), some, options.programs, options.jobs)
    bench.prepare()
    done = []
    with open(os.path.join(work, "faults.jsonl"), "a", encoding="utf-8") as file:
        for fault, noticed in answers(bench, options.count):
            place = {"file": fault.path, "line": fault.line + 1, "column": fault.column + 1}
            change = {"there": fault.there.strip(), "instead": fault.instead.strip(), "noticed": noticed}
            file.write(json.dumps({**place, **change}) + "\n")
            file.flush()
            done.append(noticed)
    caught = sum(one is not None for one in done)
    print(f"{caught} of {len(done)} faults were noticed ({100 * caught / max(len(done), 1):.1f} %)")


if __name__ == "__main__":
    main()
