#!/usr/bin/env python3
"""Tunes the published list of operators of github.com/Hayden727/cann-ops as somebody would who found the tool yesterday.

    python3 benches/cann-ops/run.py --library DIR [--budget N] [--time-limit TIME] [--only NAME...] [--level L1] [--work DIR]
    python3 benches/cann-ops/run.py --page docs/cann-ops.md [--work DIR]

The list is in operators.txt. For each of its operators, where it lies in a copy of the library (DIR is a clone of it): `init` with what
it chooses by itself, `profile` of the operator as it was, `run` with the operator's own records held out of the experience bank.
Answers are a line of JSON each in WORK/results.jsonl, and what the commands told is in WORK/operators/NAME with manifest, lock and
patch. An operator that is there is skipped unless --again. A failure is an answer too.

--page renders what is there so far; with --library it does so at the end. Second looks at what was tuned: --larger times both states
of the sources on cases four times larger than those that were tuned on, and --compare SEED lets `compare` draw cases by that seed.
They are had later too: what was tuned is kept. Needs Python 3.11 and nothing else.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib

import gathered
import larger
import operators
import page
from library import Library
from tool import Tool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Seed of the order, which is not the runs'.
ORDER = 25
# How many times larger the cases of --larger are.
FACTOR = 4


class Results:
    """Lines of a file; the last one of an operator counts."""

    def __init__(self, path):
        self.path, self.records = path, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    self.records[record["operator"]] = record

    def add(self, record):
        self.records[record["operator"]] = record
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def checked_out():
    """The commit that this file is of; nothing outside a checkout."""
    told = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return told.stdout.strip()


class Bench:
    def __init__(self, options, library):
        self.options, self.library, self.work = options, library, options.work

    def kept(self, name):
        return os.path.join(self.work, "operators", name)

    def tool(self, name):
        return Tool(shlex.split(self.options.program), self.library.directory, self.kept(name), self.options.patience)

    def tuned(self, name, level):
        """Record of an operator that is tuned now."""
        options = self.options
        conditions = {"budget": options.budget, "time_limit": options.time_limit, "seed": options.seed, "rounding": not options.exact}
        record = {"operator": name, "level": level, **conditions, "commit": options.commit, "library": self.library.revision}
        self.library.restore()
        operator = self.library.operator(name)
        if operator is None:
            return record | {"failure": {"command": "none", "exit": None, "reason": "the library has no such operator"}}
        tool = self.tool(name)
        init = tool.tell("init", ["--project", operator])
        record |= gathered.of_init(init)
        if init.failure():
            return record | {"failure": init.failure()}
        manifest = self.keep(name, operator, "ascend.toml")
        profile = tool.tell("profile", ["--project", operator, "--timing-only", *self.jobs()])
        record |= gathered.of_profile(profile)
        if profile.failure():
            record["profile_failure"] = profile.failure()
        run = tool.tell("run", ["--project", operator, *self.how(name)])
        with open(manifest, "rb") as file:
            record |= gathered.of_run(run, tomllib.load(file))
        if run.failure():
            record["failure"] = run.failure()
        self.keep(name, operator, "ascend.lock")
        record["ended"] = ended(self.keep(name, operator, "target/ascend-tune/record.json"), record)
        record["patch_lines"] = self.keep_patch(name)
        record["outside"] = self.library.changed_outside(operator)
        return record

    def how(self, name):
        options = self.options
        rounding = [] if options.exact else ["--allow-rounding"]
        limits = ["--budget", str(options.budget), "--time-limit", options.time_limit, "--seed", str(options.seed)]
        return [*limits, *rounding, "--hold-out", name, *self.jobs()]

    def jobs(self):
        return ["--jobs", str(self.options.jobs)]

    def keep(self, name, operator, file):
        """A copy of what the tool wrote beside the operator, where it did."""
        source, copy = os.path.join(self.library.directory, operator, file), os.path.join(self.kept(name), os.path.basename(file))
        if os.path.exists(source):
            shutil.copyfile(source, copy)
        return copy

    def keep_patch(self, name):
        """What the run changed in the sources; the number of its lines that are new or gone."""
        patch = self.library.changes()
        with open(os.path.join(self.kept(name), "winner.patch"), "w", encoding="utf-8") as file:
            file.write(patch)
        return sum(line[:1] in ("+", "-") and line[:3] not in ("+++", "---") for line in patch.splitlines())

    def second_looks(self, record):
        """What is wanted of them and not in the record yet."""
        found, options = {}, self.options
        if "failure" in record or not record["patch_lines"]:
            return found
        if options.larger and "larger" not in record:
            found["larger"] = self.timed_larger(record["operator"])
        if options.compare is not None and "compare" not in record:
            found["compare"] = self.compared(record["operator"])
        return found

    def text(self, name, file):
        with open(os.path.join(self.kept(name), file), encoding="utf-8") as opened:
            return opened.read()

    def set_up(self, name, manifest, patch):
        """The operator with this manifest and its sources changed by this patch."""
        self.library.restore()
        self.library.apply(patch)
        operator = self.library.operator(name)
        with open(os.path.join(self.library.directory, operator, "ascend.toml"), "w", encoding="utf-8") as file:
            file.write(manifest)
        return operator

    def timed_larger(self, name):
        manifest = larger.manifest(self.text(name, "ascend.toml"), FACTOR)
        if manifest is None:
            return {"failure": {"command": "larger", "exit": None, "reason": "no tensor of its cases has a length that can grow"}}
        states = []
        for word, patch in (("before", ""), ("after", self.text(name, "winner.patch"))):
            arguments = ["--project", self.set_up(name, manifest, patch), "--timing-only", *self.jobs()]
            told = self.tool(name).tell("profile", arguments, kept_as=f"larger-{word}")
            if told.failure():
                return {"failure": told.failure()}
            states.append(told)
        return gathered.of_states(*states)

    def compared(self, name):
        operator = self.set_up(name, self.text(name, "ascend.toml"), self.text(name, "winner.patch"))
        arguments = ["--project", operator, "--against", "HEAD", "--seed", str(self.options.compare), *self.jobs()]
        return gathered.of_compare(self.tool(name).tell("compare", arguments))


def ended(path, record):
    """Why the run ended. What it says of the budget it says of the time, too."""
    if "evaluations" not in record or not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        why = json.load(file)["environment"].get("end of the run")
    return "the time is up" if why == "the budget is spent" and record["evaluations"] < record["budget"] else why


def wanted(record, options):
    """Whether an operator is to be tuned; one that the clock kept from more than a few evaluations was not."""
    if record is None or options.again:
        return True
    return "evaluations" in record and record.get("ended") in (None, "the time is up") and record["evaluations"] < options.again_below


def chosen(options):
    levels = operators.listed()
    unknown = [name for name in options.only if name not in levels]
    if unknown:
        sys.exit(f"not in operators.txt: {' '.join(unknown)}")
    names = options.only or [name for name in operators.spread(levels, ORDER) if options.level in (None, levels[name])]
    return [(name, levels[name]) for name in names]


def tune(options, results):
    bench = Bench(options, Library(os.path.join(options.work, "library"), options.library))
    for name, level in chosen(options):
        record = results.records.get(name)
        if wanted(record, options):
            record = bench.tuned(name, level)
            results.add(record)
        looks = bench.second_looks(record)
        if looks:
            record |= looks
            results.add(record)
        print(shown(record), flush=True)


def shown(record):
    if "failure" in record:
        return f"{record['operator']}: {record['failure']['command']}: {record['failure']['reason']}"
    return f"{record['operator']}: {record['claimed']:.2f}x, {record['speedup']:.2f}x on the cases, {record['evaluations']} evaluations"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="a clone of github.com/Hayden727/cann-ops; it is copied, and stays as it is")
    parser.add_argument("--work", default=os.path.join(ROOT, "target/cann-ops"))
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--level", choices=operators.LEVELS)
    parser.add_argument("--budget", type=int, default=230, help="evaluations of an operator (230)")
    parser.add_argument("--commit", default=checked_out(), help="of the tool, for the page (that of this checkout)")
    parser.add_argument("--time-limit", default="10m", help="of the search of an operator (10m)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="no rewrites that change rounding; with another --work")
    parser.add_argument("--jobs", type=int, default=1, help="builds and runs of an operator at the same time")
    parser.add_argument("--patience", type=float, default=1800, metavar="SECONDS", help="what a command may take (1800)")
    parser.add_argument("--again", action="store_true", help="operators that are in results.jsonl too")
    parser.add_argument("--again-below", type=int, default=0, metavar="N", help="those that the time ended after fewer evaluations")
    parser.add_argument("--larger", action="store_true")
    parser.add_argument("--compare", type=int, metavar="SEED")
    parser.add_argument("--program", default="cargo ascend-tune")
    parser.add_argument("--page", metavar="FILE")
    options = parser.parse_args()
    options.work = os.path.abspath(options.work)
    os.makedirs(options.work, exist_ok=True)
    # Whoever ends this ends what it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    results = Results(os.path.join(options.work, "results.jsonl"))
    if options.library:
        tune(options, results)
    if options.page:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(page.rendered(list(results.records.values()), operators.listed()))
    if not options.library and not options.page:
        parser.error("nothing to do: name a clone with --library, or a file with --page")


if __name__ == "__main__":
    main()
