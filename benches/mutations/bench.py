"""A copy of the SDK with faults in it, its library and its test programs."""

import concurrent.futures
import filecmp
import os
import re
import shutil
import signal
import subprocess
import time

import selectable
from faults import ROOT

LIBRARY = ["-std=c++17", "-march=native", "-ffp-contract=off", "-fPIC", "-O1", "-w"]
PROGRAM = ["-std=c++17", "-DASC_API=inline", "-w"]
# Programs that run longer than a compiler needs to optimise them.
LONG = ["isa_arith", "isa_differential", "isa_differential_cube", "api_matmul", "machine_mix", "machine_blocks"]
# What a test may take; a fault that makes one hang is noticed.
TIMEOUT_S = 60
# Programs as they are, and those of which a header has a fault of a build of its own.
WITHOUT_FAULT, WITH_FAULT = "whole", "faulty"


def run(words, **options):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def mirror(source, target, without):
    """Copies what differs, so that what was built from the rest is as new."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in ("tests", "build")]
        to = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(to, exist_ok=True)
        for name in files:
            copy = os.path.normpath(os.path.join(to, name))
            if copy not in without and not (os.path.exists(copy) and filecmp.cmp(os.path.join(folder, name), copy, shallow=False)):
                shutil.copyfile(os.path.join(folder, name), copy)


def is_current(target, listed):
    """Whether `target` is newer than all files of the list that the compiler left."""
    if not os.path.exists(target) or not os.path.exists(listed):
        return False
    return all(os.path.exists(path) and os.path.getmtime(path) < os.path.getmtime(target) for path in paths_of(listed))


def paths_of(listed):
    return text_of(listed).replace("\\\n", " ").split()[1:]


class Bench:
    """`faults` are numbered as in the list; those that can be selected are in every build."""

    def __init__(self, directory, unpacked, faults, programs, jobs):
        self.root, self.faults, self.jobs = os.path.abspath(directory), faults, jobs
        ours = self.copied(unpacked)
        self.include = [f"-I{os.path.join(self.root, folder)}" for folder in ("include", "src", "tests")]
        self.build = os.path.join(self.root, "build")
        os.makedirs(self.build, exist_ok=True)
        found = sorted(os.path.basename(path)[:-4] for path in ours if re.fullmatch(r".*/tests/\w+\.cpp", path))
        self.programs = [name for name in found if name in programs] if programs else found
        sources = sorted(path for path in ours if path.startswith(os.path.join(self.root, "src")) and path.endswith(".cpp"))
        self.objects = {
            source: os.path.join(self.build, os.path.relpath(source, self.root).replace("/", "-") + ".o") for source in sources
        }
        self.objects[selectable.SUPPORT] = os.path.join(self.build, "selectable.o")
        self.needs, self.took, self.reached = {}, {}, {}
        self.written = {}
        for number, fault in enumerate(faults):
            how = selectable.written(fault, number, self.original(fault.path).split("\n")[fault.line])
            if how is not None:
                self.written[number] = how

    def copied(self, unpacked):
        """Copies the SDK, but for what faults will be written into; the paths of what is of this tree."""
        parts = [os.path.join(ROOT, "sdk", name) for name in ("src", "include", "runner", "tests")]
        files = [os.path.join(folder, name) for part in parts for folder, _, names in os.walk(part) for name in names]
        ours = {os.path.join(self.root, os.path.relpath(path, os.path.join(ROOT, "sdk"))) for path in files}
        mirror(unpacked, self.root, ours)
        faulty = {os.path.join(self.root, fault.path) for fault in self.faults}
        for part in parts:
            mirror(part, os.path.join(self.root, os.path.basename(part)), faulty)
        return ours

    def original(self, path):
        return text_of(os.path.join(ROOT, "sdk", path))

    def write(self, path, more=()):
        """A source with the faults that can be selected, and `more`."""
        inside = [(self.faults[number], how) for number, how in self.written.items() if self.faults[number].path == path]
        text = selectable.with_faults(self.original(path), [*inside, *more])
        target = os.path.join(self.root, path)
        if not os.path.exists(target) or text_of(target) != text:
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)

    def prepare(self):
        """Builds everything. Faults with which a source does not compile are taken out of all sources."""
        for path in {fault.path for fault in self.faults}:
            self.write(path)
        self.build_all(self.objects)
        assert self.link()
        self.build_all(self.programs)
        for name in self.programs:
            self.observe(name)

    def build_all(self, waiting):
        while waiting:
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                failed = {one: says for one, says in zip(waiting, pool.map(self.compiled, waiting)) if says}
            if failed:
                self.take_out("\n".join(failed.values()))
            waiting = list(failed)

    def observe(self, name):
        """How long a program takes, and which faults it comes by."""
        reached = os.path.join(self.build, "reached")
        start = time.monotonic()
        assert not self.fails(name), f"{name} fails without a fault"
        self.took[name] = time.monotonic() - start
        assert not self.fails(name, environment={"FAULTS_REACHED": reached}), f"{name} fails when watched"
        if os.path.exists(reached):  # it uses the library
            with open(reached, "rb") as file:
                self.reached[name] = {number for number, came in enumerate(file.read()) if came}
            os.remove(reached)

    def take_out(self, messages):
        inside = {number: (self.faults[number], instead) for number, (_, instead) in self.written.items()}
        blamed = selectable.to_blame(messages, inside, self.root)
        assert blamed, messages
        for number in blamed:
            del self.written[number]
        for path in {self.faults[number].path for number in blamed}:
            self.write(path)

    def compiled(self, one):
        """What a compiler says of a source of the library or a program that it does not compile."""
        return self.compile_source(one) if one in self.objects else self.compile_program(one)

    def command(self, flags, source, target, more=()):
        """Compiles, and remembers which files of the SDK the source includes."""
        listed = target + ".d"
        if not is_current(target, listed):
            ended = run(["g++", *flags, *selectable.FLAGS, *self.include, "-MMD", "-MF", listed, source, "-o", target, *more])
            if ended.returncode != 0:
                return ended.stdout.decode(errors="replace")
        self.needs[source] = {os.path.relpath(path, self.root) for path in paths_of(listed)}
        return ""

    def compile_source(self, source):
        return self.command([*LIBRARY, "-c"], source, self.objects[source])

    def compile_program(self, name, where=WITHOUT_FAULT):
        source = self.source_of(name)
        folder = os.path.join(self.build, where, name)
        os.makedirs(folder, exist_ok=True)
        flags = [*PROGRAM, "-O1" if name in LONG else "-O0"]
        libraries = [f"-L{self.build}", f"-Wl,-rpath,{self.build}", "-lascend_sim", "-ldl"]
        says = self.command(flags, source, os.path.join(folder, name), libraries)
        twin = f"{name}_cube.so"
        if not says and twin in text_of(source):
            cube = ["-D__DAV_C220_CUBE__", "-shared", "-fPIC"]
            says = self.command([*flags, *cube], source, os.path.join(folder, twin), libraries)
        return says

    def source_of(self, name):
        return os.path.join(self.root, "tests", name + ".cpp")

    def link(self):
        library = os.path.join(self.build, "libascend_sim.so")
        return run(["g++", "-shared", *self.objects.values(), "-o", library, "-ldl"]).returncode == 0

    def fails(self, name, where=WITHOUT_FAULT, environment=None):
        folder = os.path.join(self.build, where, name)
        words = [os.path.join(folder, name)] + (["--markdown"] if name == "isa_table" else [])
        limit = min(TIMEOUT_S, max(5, 20 * self.took[name])) if name in self.took else TIMEOUT_S
        # A session of its own, so that children end with it.
        with subprocess.Popen(
            words, cwd=folder, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                says = process.communicate(timeout=limit)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return True
        return process.returncode != 0 or name == "isa_table" and says != text_of(os.path.join(ROOT, "docs/isa.md")).encode()

    def tried(self, number):
        """`None` for a fault that does not compile; else the program that noticed it, or `None`, in a list."""
        return [self.tried_selected(number)] if number in self.written else self.tried_alone(number)

    def tried_selected(self, number):
        users = [name for name in self.programs if number in self.reached.get(name, ())]
        users.sort(key=self.took.get)
        return next((name for name in users if self.fails(name, environment={"FAULT_ON": str(number)})), None)

    def tried_alone(self, number):
        """A fault by a build of its own."""
        fault = self.faults[number]
        sources = [source for source in self.objects if fault.path in self.needs[source]]
        names = set(re.findall(r"\b[A-Z]\w{3,}(?=[<(])", self.original(fault.path)))
        words = {name: set(re.findall(r"\w+", text_of(self.source_of(name)))) for name in self.programs}
        users = [name for name in self.programs if fault.path in self.needs[self.source_of(name)]]
        # Those first that call what is declared there: nearly all include nearly everything.
        users.sort(key=lambda name: -len(names & words[name]))
        path = os.path.join(self.root, fault.path)
        before = os.stat(path)
        self.write(fault.path, [(fault, (len(fault.there), fault.instead))])
        try:
            if any(self.compile_source(source) for source in sources) or sources and not self.link():
                return None
            for name in users:
                if self.compile_program(name, WITH_FAULT):
                    return None
                if self.fails(name, WITH_FAULT):
                    return [name]
            # Those of instructions first.
            others = sorted((name for name in self.programs if name not in users), key=lambda name: not name.startswith("isa"))
            return [next((name for name in others if self.fails(name)), None)] if sources else [None]
        finally:
            self.write(fault.path)
            for source in sources:
                self.compile_source(source)
            if sources:
                self.link()
            # What was built from it before is as new.
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
