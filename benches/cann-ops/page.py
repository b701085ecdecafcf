"""The page: what the records say, in Markdown."""

import collections
import math
import statistics
import textwrap

from gathered import geometric_mean
from operators import LEVELS

# What others measured on hardware for the same list, at shapes that they don't print.
PUBLISHED = {"L1": "1.24x", "L2": "1.10x", "L3": "1.89x", "all": "1.21x, 53 % faster"}
# From where on an operator counts as faster.
FASTER, MUCH_FASTER = 1.01, 1.2
FEW = 3
# Warnings that stand elsewhere on the page, or mean nothing to who reads it.
ROUTINE = ("no-improvement:", "tunables-loose:", "launch-bound:")
# Letters of a line of text.
WIDTH = 130


def rendered(records, levels):
    """`records` of what was tried, `levels` of the whole list."""
    place = {name: number for number, name in enumerate(levels)}
    records = sorted((one for one in records if one["operator"] in levels), key=lambda one: place[one["operator"]])
    parts = [
        head(records, levels),
        summary(records, levels),
        every_operator(records),
        second_looks(records),
        failures(records),
        little_gain(records),
        remarks(records),
        every_case(records),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def head(records, levels):
    tried = f"All {len(levels)} were tried" if len(records) == len(levels) else f"{len(records)} of them were tried"
    commands = [f"python3 benches/cann-ops/run.py --library DIR {how}" for how in dict.fromkeys(map(conditions, records))]
    commands.append("python3 benches/cann-ops/run.py --page docs/cann-ops.md")
    words = [
        "# The published list of cann-ops",
        filled("Written by `benches/cann-ops/run.py --page`; do not edit. All latencies are **modelled**; nothing here ran on hardware."),
        filled(
            f"The list is of {len(levels)} operators of [cann-ops](https://github.com/Hayden727/cann-ops), by level of difficulty"
            f" (`benches/cann-ops/operators.txt`). {tried}, each as somebody would who found the tool yesterday: `init` with the cases"
            " and tunables that it chooses, `profile` of the operator as it was, and `run` with the operator's own records held out of"
            " the experience bank. Nobody looked at a manifest in between. To repeat it on a clone:"
        ),
        "```console\n" + "\n".join(f"$ {command}" for command in commands) + "\n```",
        filled(
            f"Machine description: {several(records, 'machine')}. Tool: version {several(records, 'version')},"
            f" commit {several(shortened(records), 'commit')}. cann-ops: revision"
            f" {several(records, 'library')[:12]}. {spent(records)} Where the time ends a run it does fewer on a slower machine, and other"
            " seeds find other winners."
        ),
    ]
    return "\n\n".join(words)


def spent(records):
    counts = [one["evaluations"] for one in records if "evaluations" in one]
    return f"A run spent {min(counts)} to {max(counts)} evaluations, {statistics.median(counts):.0f} in the middle." if counts else ""


def conditions(record):
    exact = "" if record["rounding"] else " --exact"
    return f"--budget {record['budget']} --time-limit {record['time_limit']} --seed {record['seed']}{exact}"


def shortened(records):
    """Commits as they are spoken of: code that was changed later has other results."""
    return [{"commit": one.get("commit", "")[:8]} for one in records]


def several(records, key):
    return ", ".join(sorted({str(one[key]) for one in records if one.get(key)})) or "unknown"


def summary(records, levels):
    groups = [(level, lambda one, level=level: one["level"] == level) for level in LEVELS]
    groups += [("all", lambda one: True), ("`foreach` alone", lambda one: one["operator"].startswith("foreach_"))]
    rows = [summary_row(name, [one for one in records if of(one)]) for name, of in groups]
    heads = (
        "level | tried | failed | claimed | on the cases | largest case | faster by more than 1 % | above 1.2x | launch and start-up |"
        " published"
    )
    text = filled(
        "Geometric means; a failure counts as 1.00x and as not faster. *Claimed* is what `run` states: the lesser of the gain on the cases"
        " that it tuned on and the gain on probes that the search never saw. *Largest case* is the slowest one alone, where launch"
        " counts least. *Launch and start-up* is the median of their share of the time before tuning, which no change of the kernel"
        " removes. *Published* was measured on hardware by others, at shapes that are not printed: it is a number beside, not one to"
        " be compared digit by digit."
    )
    return "## Summary\n\n" + table(heads, "lrrrrrrrrl", rows) + "\n\n" + text


def summary_row(name, records):
    fixed = [one["fixed"] for one in records if "fixed" in one]
    ratios = [value_of(one, "claimed") for one in records]
    return [
        name,
        len(records),
        sum("failure" in one for one in records),
        times(geometric_mean(ratios)),
        times(geometric_mean([value_of(one, "speedup") for one in records])),
        times(geometric_mean([of_largest(one) for one in records])),
        share(ratios, FASTER),
        share(ratios, MUCH_FASTER),
        percent(statistics.median(fixed)) if fixed else "",
        PUBLISHED.get(name, ""),
    ]


def value_of(record, key):
    return 1.0 if "failure" in record else record[key]


def of_largest(record):
    return 1.0 if "failure" in record else largest(record)["ratio"]


def largest(record):
    return max(record["cases"], key=lambda case: case["baseline_us"])


def share(ratios, beyond):
    return percent(sum(ratio > beyond for ratio in ratios) / len(ratios)) if ratios else ""


def every_operator(records):
    rows = []
    for one in records:
        if "failure" in one:
            continue
        probes = one.get("probes")
        rows.append(
            [
                f"`{one['operator']}`",
                one["level"],
                len(one["cases"]),
                us(geometric_mean([case["baseline_us"] for case in one["cases"]])),
                us(geometric_mean([case["best_us"] for case in one["cases"]])),
                times(one["claimed"]),
                times(one["speedup"]),
                times(of_largest(one)),
                percent(one["fixed"]) if "fixed" in one else "",
                ", ".join(dict.fromkeys(str(case["limiter"]) for case in one["cases"])),
                times(probes["worst"]) if probes else "",
                kept(one),
                one["evaluations"],
                f"{one['init_s'] + one['run_s']:.0f}",
            ]
        )
    heads = (
        "operator | level | cases | before us | after us | claimed | on the cases | largest case | launch | limited by | worst probe |"
        " kept | evaluations | seconds"
    )
    text = filled(
        "Latencies are geometric means over the timed cases; they stand one by one [below](#every-case). *Launch* is the share of launch"
        " and start-up before tuning. Seconds are those of `init` and `run`."
    )
    return "## Every operator\n\n" + text + "\n\n" + table(heads, "llrrrrrrrlrlrr", rows) if rows else ""


def kept(record):
    """Motifs and values that won."""
    motifs = [motif if count == 1 else f"{count} {motif}" for motif, count in collections.Counter(record["motifs"]).items()]
    return ", ".join(motifs + [f"`{name}={value}`" for name, value in record["changed"].items()])


def second_looks(records):
    looked = [one for one in records if "larger" in one or "compare" in one]
    if not looked:
        return ""
    rows = []
    for one in looked:
        large, compared = one.get("larger", {}), one.get("compare", {})
        other = f"{times(compared['speedup'])} on {compared['count']}" if "speedup" in compared else reason(compared)
        worse = compared.get("fail", [])
        rows.append(
            [
                f"`{one['operator']}`",
                times(one["speedup"]),
                times(large["speedup"]) if "speedup" in large else reason(large),
                left(large, one),
                other,
                left(compared, one),
                "; ".join(worse[:FEW]) + (f"; {len(worse) - FEW} more" if len(worse) > FEW else ""),
            ]
        )
    known = [one for one in looked if "speedup" in one.get("larger", {})]
    text = filled(
        "Cases four times larger on the first axis than those that were tuned on, timed before and after; and `compare`, which draws"
        " cases of other sizes and dtypes by another seed. *Left* is how much of the gain on the cases is there, in logarithms."
    )
    if known:
        ratio = geometric_mean([one["larger"]["speedup"] for one in known])
        gain = geometric_mean([one["speedup"] for one in known])
        text += f"\n\nOver {len(known)} operators: {times(ratio)} four times larger, {times(gain)} on the cases."
    heads = "operator | on the cases | four times larger | left | `compare` | left | does not hold"
    return "## Where nobody tuned\n\n" + text + "\n\n" + table(heads, "lrrrrrl", rows)


def left(look, record):
    if "speedup" not in look or record["speedup"] <= FASTER:
        return ""
    return percent(math.log(look["speedup"]) / math.log(record["speedup"]))


def reason(look):
    return (look.get("failure") or {}).get("reason", "")


def failures(records):
    failed = [one for one in records if "failure" in one]
    rows = [[f"`{one['operator']}`", one["level"], one["failure"]["command"], status(one), one["failure"]["reason"]] for one in failed]
    heads = "operator | level | command | exit | reason"
    return "## What failed\n\nIn the tool's own words.\n\n" + table(heads, "lllll", rows) if rows else ""


def status(record):
    known = record["failure"]["exit"]
    return "stopped" if known is None else known


def little_gain(records):
    rows = []
    for one in records:
        if "failure" in one or one["claimed"] > FASTER:
            continue
        spent = ", ".join(f"{part} {percent(of)}" for part, of in list(one.get("path", {}).items())[:FEW])
        rejected = ", ".join(f"{count} {word}" for word, count in one["rejections"].items())
        rows.append(
            [
                f"`{one['operator']}`",
                times(one["claimed"]),
                ", ".join(dict.fromkeys(str(case["limiter_before"]) for case in one["cases"])),
                of_bound(one),
                spent,
                len(one.get("tunables", [])),
                one["evaluations"],
                rejected,
                one.get("ended") or "",
            ]
        )
    heads = "operator | claimed | limited by | of bound | where the time goes | tunables | evaluations | rejected | ended because"
    text = filled(
        "Operators that gained no more than 1 %. *Of bound* is the lower bound over the time. Bounds by scalar, vector or cube work are"
        " of the instructions that the kernel has: one that computes element by element is near such a bound and far from what could be."
        " Times go by pipe and what it spends them on, along the critical path, means over the cases."
    )
    return "## What limits those that gained nothing\n\n" + text + "\n\n" + table(heads, "lrlrlrrll", rows) if rows else ""


def remarks(records):
    """Faults that `init` saw in sizes it tried, and what `run` warned of."""
    rows = []
    for one in records:
        name = f"`{one['operator']}`"
        rows += [[name, "init", fault] for fault in one.get("faults", [])]
        rows += [[name, "run", warning] for warning in one.get("warnings", []) if not warning.startswith(ROUTINE)]
    text = "Sizes at which `init` found the operator at fault, and took none like it; and warnings of `run`. In the tool's own words."
    return "## What was said on the way\n\n" + text + "\n\n" + table("operator | command | words", "lll", rows) if rows else ""


def of_bound(record):
    known = [case["bound_us"] / case["best_us"] for case in record["cases"] if case["bound_us"]]
    return percent(geometric_mean(known)) if known else ""


def every_case(records):
    rows = []
    for one in records:
        for case in one.get("cases", []):
            bound = us(case["bound_us"]) if case["bound_us"] else ""
            after = [us(case["best_us"]), times(case["ratio"]), bound, case["limiter"] or ""]
            rows.append([f"`{one['operator']}`", case["name"], us(case["baseline_us"]), *after])
    heads = "operator | case | before us | after us | ratio | bound us | limited by"
    return "## Every case\n\nA case is named by dtype and shape of its first input.\n\n" + table(heads, "llrrrrl", rows) if rows else ""


def filled(text):
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(heads, sides, rows):
    marks = {"l": "---", "r": "---:"}
    lines = [f"| {heads} |", "|" + "|".join(marks[side] for side in sides) + "|"]
    return "\n".join(lines + ["| " + " | ".join(plain(str(cell)) for cell in row) + " |" for row in rows])


def plain(text):
    return text.replace("|", "\\|")


def times(ratio):
    return f"{ratio:.2f}x"


def percent(part):
    return f"{100 * part:.0f} %"


def us(time):
    return f"{time:.4g}"
