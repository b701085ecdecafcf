"""Makes a repository of many operators from a tuned fixture and measures how long it takes to check it.

    python3 benches/many/measure.py --tool target/release/cargo-ascend-tune --count 100 --work target/many

The operators are copies with other names, each with a lock of its own. Making them takes a run for the first and a build for each of the
others; with --again only the measuring is repeated on what is there.
"""

import argparse
import json
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tool(arguments, *words, expect=(0,)):
    """Runs the tool in the repository and gives back seconds and events."""
    started = time.monotonic()
    command = [arguments.tool, *words, "--message-format", "json"]
    ended = subprocess.run(command, cwd=arguments.work, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if ended.returncode not in expect:
        raise SystemExit(f"{' '.join(words)}: exit status {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return seconds, [json.loads(line) for line in ended.stdout.splitlines()]


def git(arguments, *words):
    name = ["-c", "user.name=measure", "-c", "user.email=measure@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *name, *words], cwd=arguments.work, check=True, capture_output=True)


def renamed(source, target, number):
    """A copy whose operator, files and names carry a number."""
    def name(text):
        return text.replace("GeluNaive", f"GeluNaive{number:03}").replace("gelu_naive", f"gelu_naive{number:03}")

    for path in sorted(source.rglob("*")):
        relative = path.relative_to(source)
        if "target" in relative.parts or path.is_dir():
            continue
        to = target / name(str(relative))
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(name(path.read_text()))


def make(arguments):
    """The repository: one operator is tuned, the others are copies whose state is locked as it is."""
    shutil.rmtree(arguments.work, ignore_errors=True)
    first = arguments.work / "first"
    shutil.copytree(ROOT / "fixtures/gelu_naive", first, ignore=shutil.ignore_patterns("target"))
    manifest = (first / "ascend.toml").read_text()
    small = manifest.replace("[1024, 1024]", "[32, 1024]").replace("1024x1024", "32x1024")
    (first / "ascend.toml").write_text(small.replace("seeds = 3", "seeds = 1"))
    tool(arguments, "run", "--project", "first", "--budget", "4", "--seed", "1", "--allow-dirty")
    for number in range(arguments.count):
        renamed(first, arguments.work / "ops" / f"op{number:03}", number)
        tool(arguments, "lock", "--accept", "--project", f"ops/op{number:03}")
    shutil.rmtree(first)
    git(arguments, "init", "-q")
    git(arguments, "add", "-A")
    git(arguments, "commit", "-q", "-m", "operators")


def measure(arguments):
    def told(what, seconds, events):
        operators = events[-1]["operators"]
        verdicts = sorted({operator["verdict"] for operator in operators})
        remembered = sum(event.get("remembered", False) for event in events)
        print(f"{what:<34} {seconds:7.2f} s  {len(operators):3} operators, {remembered:3} remembered, {', '.join(verdicts)}")

    told("check --fresh", *tool(arguments, "check", "--workspace", "--fresh"))
    told("check, the first time", *tool(arguments, "check", "--workspace"))
    told("check, nothing changed", *tool(arguments, "check", "--workspace"))
    told("check --drift, nothing changed", *tool(arguments, "check", "--workspace", "--drift"))
    told("check --changed-since HEAD", *tool(arguments, "check", "--workspace", "--changed-since", "HEAD"))
    kernel = next((arguments.work / "ops/op000/op_kernel").glob("*.cpp"))
    text = kernel.read_text()
    kernel.write_text(text + "\n// Changed.\n")
    told("check, a comment in one", *tool(arguments, "check", "--workspace"))
    told("check --changed-since, one", *tool(arguments, "check", "--workspace", "--changed-since", "HEAD"))
    kernel.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, default=ROOT / "target/release/cargo-ascend-tune")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--work", type=Path, default=ROOT / "target/many")
    parser.add_argument("--again", action="store_true")
    arguments = parser.parse_args()
    arguments.tool, arguments.work = arguments.tool.resolve(), arguments.work.resolve()
    if not arguments.again:
        make(arguments)
    measure(arguments)


if __name__ == "__main__":
    main()
