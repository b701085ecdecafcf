#!/usr/bin/env python3
"""Mutation check of the SDK: puts one fault at a time into instructions and API functions, and sees whether the SDK's own tests notice.

    python3 benches/mutations/run.py --seed 1 --count 200 --work DIR [--jobs N] [--only PART]

It takes the sources of this tree, with the headers that `sdk/forwards.toml` stands for from an unpacked SDK (--unpacked; the newest in
the tests' cache otherwise), builds the library and the programs of `sdk/tests` once, and then for each fault only what it touches. A fault that does not compile is no fault; another is
drawn.
Answers are a line of JSON each in DIR/faults.jsonl: file, line and column, what was changed, and the program that noticed, or none.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = ["-std=c++17", "-march=native", "-ffp-contract=off", "-fPIC", "-O1", "-w"]
PROGRAM = ["-std=c++17", "-O0", "-DASC_API=inline", "-w"]
# What a test may take; a fault that makes one hang is noticed.
TIMEOUT_S = 60
# Programs as they are, and those of which a header has a fault.
WITHOUT_FAULT, WITH_FAULT = "whole", "faulty"
# Lines that say something, declare something or only count time.
NOT_CODE = re.compile(r"^\s*(//|\*|/\*|#|using |namespace |template|static_assert|extern |friend )|RaiseFault|Describe|printf|ASCENDSIM_LOG|Fail\(|Report")

# What is replaced by what. Words of their own, so that no name is cut in two.
SWAPS = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+= ", " -= "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "), (r" \| ", " & "),
    (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"\bkMax\b", "kMin"), (r"\bkMin\b", "kMax"), (r"\bCAST_RINT\b", "CAST_FLOOR"), (r"\bCAST_FLOOR\b", "CAST_RINT"),
    (r"\bCAST_ROUND\b", "CAST_RINT"), (r"\bCAST_CEIL\b", "CAST_ROUND"), (r"\bCAST_TRUNC\b", "CAST_RINT"), (r"\bCAST_NONE\b", "CAST_TRUNC"),
]
NUMBER = re.compile(r"(?<![\w.\"'])(\d+)(?=[uU]?[lL]{0,2}(?![\w.\"']))")


def faults_of(path):
    """All faults of a file: line, column, what is there, what takes its place."""
    found, inside = [], False
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines):
        inside = (inside or "/*" in line) and "*/" not in line
        code = line.split("//")[0]
        if inside or NOT_CODE.search(line) or '"' in code:
            continue
        for pattern, other in SWAPS:
            found += [(number, match.start(), match.group(), other) for match in re.finditer(pattern, code)]
        for match in NUMBER.finditer(code):
            found.append((number, match.start(), match.group(), str(int(match.group()) + 1)))
    return found


def run(words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)


class Bench:
    """A copy of the SDK with its library and test programs."""

    def __init__(self, directory, unpacked):
        self.root = directory
        shutil.copytree(unpacked, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("tests"))
        for folder in ("src", "include", "runner", "tests"):
            shutil.copytree(os.path.join(ROOT, "sdk", folder), os.path.join(directory, folder), dirs_exist_ok=True)
        self.include = [f"-I{os.path.join(directory, folder)}" for folder in ("include", "src", "tests")]
        self.objects, self.needs, self.words = {}, {}, {}
        self.build = os.path.join(directory, "build")
        os.makedirs(self.build, exist_ok=True)
        for folder, _, files in os.walk(os.path.join(directory, "src")):
            for name in files:
                if name.endswith(".cpp"):
                    source = os.path.join(folder, name)
                    self.objects[source] = os.path.join(self.build, os.path.relpath(source, directory).replace("/", "-") + ".o")
        self.programs = sorted(name[:-4] for name in os.listdir(os.path.join(directory, "tests")) if name.endswith(".cpp"))

    def prepare(self):
        for source, target in self.objects.items():
            assert self.compile(source, target), source
        assert self.link()
        for name in self.programs:
            assert self.program(name), name
            says = self.noticed_by([name])
            assert says is None, f"{name} fails without a fault"

    def reached(self, source, flags):
        """Files of the SDK that a source includes."""
        listed = run(["g++", *flags, *self.include, "-MM", source]).stdout.decode()
        return {os.path.normpath(os.path.join(self.root, word)) for word in listed.replace("\\\n", " ").split()}

    def compile(self, source, target):
        self.needs.setdefault(source, self.reached(source, LIBRARY))
        return run(["g++", *LIBRARY, *self.include, "-c", source, "-o", target]).returncode == 0

    def link(self):
        library = os.path.join(self.build, "libascend_sim.so")
        return run(["g++", "-shared", *self.objects.values(), "-o", library, "-ldl"]).returncode == 0

    def program(self, name, where=WITHOUT_FAULT):
        source = os.path.join(self.root, "tests", name + ".cpp")
        self.needs.setdefault(name, self.reached(source, PROGRAM))
        with open(source, encoding="utf-8") as file:
            text = file.read()
        self.words.setdefault(name, set(re.findall(r"\w+", text)))
        folder = os.path.join(self.build, where, name)
        os.makedirs(folder, exist_ok=True)
        libraries = [f"-L{self.build}", f"-Wl,-rpath,{self.build}", "-lascend_sim", "-ldl"]
        words = ["g++", *PROGRAM, *self.include, source]
        built = run([*words, "-o", os.path.join(folder, name), *libraries]).returncode == 0
        twin = f"{name}_cube.so"
        if built and twin in text:
            cube = ["-D__DAV_C220_CUBE__", "-shared", "-fPIC"]
            built = run([*words, *cube, "-o", os.path.join(folder, twin), *libraries]).returncode == 0
        return built

    def noticed_by(self, programs, where=WITHOUT_FAULT):
        """The first of these that fails."""
        for name in programs:
            folder = os.path.join(self.build, where, name)
            words = [os.path.join(folder, name)] + (["--markdown"] if name == "isa_table" else [])
            try:
                ended = run(words, cwd=folder, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                return name
            if ended.returncode != 0:
                return name
            if name == "isa_table":
                with open(os.path.join(ROOT, "docs/isa.md"), "rb") as page:
                    if page.read() != ended.stdout:
                        return name
        return None

    def tried(self, fault):
        """`None` for one that does not compile; else what noticed it, in a list."""
        path, line, column, there, instead = fault
        path = os.path.join(self.root, path)
        with open(path, encoding="utf-8") as file:
            before = file.read()
        lines = before.split("\n")
        lines[line] = lines[line][:column] + instead + lines[line][column + len(there):]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        sources = [source for source in self.objects if path == source or path in self.needs[source]]
        # Those first that call what is declared there: nearly all include nearly everything.
        names = set(re.findall(r"\b[A-Z]\w{3,}(?=[<(])", before))
        users = [name for name in self.programs if path in self.needs[name]]
        users.sort(key=lambda name: -len(names & self.words[name]))
        try:
            if not all(self.compile(source, self.objects[source]) for source in sources) or sources and not self.link():
                return None
            for name in users:
                if not self.program(name, WITH_FAULT):
                    return None
                found = self.noticed_by([name], WITH_FAULT)
                if found:
                    return [found]
            # Those of instructions first.
            others = sorted((name for name in self.programs if name not in users), key=lambda name: not name.startswith("isa"))
            return [self.noticed_by(others)] if sources else [None]
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(before)
            for source in sources:
                self.compile(source, self.objects[source])
            if sources:
                self.link()


def drawn(count, seed, only):
    """Faults, as many of instructions as of API functions."""
    generator = random.Random(seed)
    parts = []
    for part in ("sdk/src/isa", "sdk/include/ascendc"):
        faults = []
        for folder, _, files in sorted(os.walk(os.path.join(ROOT, part))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), os.path.join(ROOT, "sdk"))
                if name.endswith((".cpp", ".h")) and only in path and "/host_api/" not in path:
                    faults += [(path, *fault) for fault in faults_of(os.path.join(folder, name))]
        generator.shuffle(faults)
        parts.append(faults)
    pairs = [fault for pair in zip(*parts) for fault in pair] if all(parts) else [fault for part in parts for fault in part]
    return pairs[: 3 * count]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--work", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the paths of files to put faults into")
    parser.add_argument("--unpacked", help="an unpacked SDK")
    options = parser.parse_args()
    cache = os.path.join(ROOT, "target/tmp/cache")
    unpacked = options.unpacked
    if unpacked is None:
        found = [os.path.join(cache, name) for name in os.listdir(cache) if name.startswith("sdk-")] if os.path.isdir(cache) else []
        if not found:
            sys.exit(f"{cache} has no unpacked SDK: run ./x test once, or name one with --unpacked")
        unpacked = max(found, key=os.path.getmtime)
    faults = iter(drawn(options.count, options.seed, options.only))
    done = []

    def work(number):
        bench = Bench(os.path.join(os.path.abspath(options.work), f"bench-{number}"), unpacked)
        bench.prepare()
        while len(done) < options.count:
            fault = next(faults, None)
            if fault is None:
                return
            noticed = bench.tried(fault)
            if noticed is None:
                continue
            path, line, column, there, instead = fault
            done.append(noticed[0])
            with open(os.path.join(options.work, "faults.jsonl"), "a", encoding="utf-8") as file:
                place = {"file": path, "line": line + 1, "column": column + 1}
                file.write(json.dumps({**place, "there": there.strip(), "instead": instead.strip(), "noticed": noticed[0]}) + "\n")

    os.makedirs(options.work, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for ended in [pool.submit(work, number) for number in range(options.jobs)]:
            ended.result()
    caught = sum(one is not None for one in done)
    print(f"{caught} of {len(done)} faults were noticed ({100 * caught / max(len(done), 1):.1f} %)")


if __name__ == "__main__":
    main()
