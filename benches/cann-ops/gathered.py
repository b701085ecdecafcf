"""What the events of an operator's commands come to: one record."""

import collections
import math

from tool import one_line

# Contributors to the time of a launch that are kept.
CONTRIBUTORS = 5


def geometric_mean(ratios):
    return math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios)) if ratios else 1.0


def of_init(told):
    found = told.last("init") or {}
    kept = {"tunables": found.get("tunables", []), "init_s": round(told.wall_s, 1)}
    # Cases that it found no use for say what a user would have to mend in the manifest.
    for words in ("refused", "faults"):
        kept[words] = [one_line(text) for text in found.get(words, [])]
    return kept


def of_profile(told):
    """Shares of the baseline's time, means over cases: launch and start-up, which no kernel can change, and the largest contributors."""
    launches = told.all("profile")
    if not launches:
        return {}
    total, fixed = collections.Counter(), []
    for launch in launches:
        task_us, core_us = launch["task_us"], launch.get("longest_core_us") or launch["task_us"]
        parts = collections.Counter({"launch": task_us - core_us})
        for step in launch.get("critical_path", []):
            parts["start of blocks" if step["part"] == "start" else f"{step['pipe']} {step['part']}"] += step["time_us"]
        fixed.append((parts["launch"] + parts["start of blocks"]) / task_us)
        for part, time_us in parts.items():
            total[part] += time_us / task_us / len(launches)
    largest = {part: round(share, 3) for part, share in total.most_common(CONTRIBUTORS)}
    return {"fixed": round(sum(fixed) / len(fixed), 3), "path": largest}


def of_run(told, manifest):
    kept = {"run_s": round(told.wall_s, 1)}
    warnings = [f"{event['code']}: {event['message']}" for event in told.all("warning")]
    kept["warnings"] = [one_line(text) for text in warnings]
    summary = told.last("summary")
    if summary is None:
        return kept
    baseline = {case["name"]: case for case in (told.last("baseline") or {}).get("cases", [])}
    kept["cases"] = [of_case(case, baseline.get(case["name"], {})) for case in summary["cases"]]
    start = told.last("start") or {}
    # A limit without a default is none, which the search writes as 0.
    defaults = {name: tunable.get("default", 0) for name, tunable in manifest.get("tunable", {}).items()}
    configuration = summary["configuration"].items()
    kept |= {
        "speedup": summary["speedup"],
        "claimed": summary["claimed"],
        "motifs": summary["motifs"],
        "changed": {name: value for name, value in configuration if defaults.get(name) != value},
        "evaluations": summary["evaluations"],
        "rejections": summary.get("rejections", {}),
        "taken_back": len(summary.get("taken_back", [])),
        "machine": f"{summary['machine']} version {summary['machine_version']}",
        "version": start.get("version", ""),
    }
    on_probes = summary.get("generalisation") or {}
    if on_probes.get("probes"):
        worst = min(on_probes["probes"], key=lambda probe: probe["speedup"])
        found = {"count": len(on_probes["probes"]), "speedup": on_probes["speedup"]}
        kept["probes"] = found | {"worst": worst["speedup"], "worst_name": worst["name"]}
    return kept


def of_case(case, before):
    kept = {"name": case["name"], "baseline_us": case["baseline_us"], "best_us": case["best_us"], "ratio": case["speedup"]}
    return kept | {"bound_us": case.get("bound_us"), "limiter": case.get("limiter"), "limiter_before": before.get("limiter")}


def of_states(before, after):
    """Cases timed in two states of the sources."""
    now = times_of(after)
    cases = [{"name": name, "before_us": time, "now_us": now[name]} for name, time in times_of(before).items() if name in now]
    if not cases:
        return {"failure": {"command": "profile", "exit": 0, "reason": "no case was timed in both states"}}
    return {"cases": cases, "speedup": geometric_mean([case["before_us"] / case["now_us"] for case in cases])}


def times_of(told):
    """Time of every case, over its launches."""
    found = collections.Counter()
    for launch in told.all("profile"):
        found[launch["case"]] += launch["task_us"]
    return found


def of_compare(told):
    """The second look: cases drawn by another seed. That some of them do not hold is an answer, and exit status 1."""
    found = told.last("comparison")
    if found is None:
        return {"failure": told.failure()}
    # What has the tensors of a case is not another size.
    sample = [probe for probe in found["probes"] if probe["of_the_sample"] and probe.get("now_us")]
    ratios = [probe["before_us"] / probe["now_us"] for probe in sample]
    not_held = [one_line(f"{probe['name']}: {why_not(probe)}") for probe in found["probes"] if not probe["holds"]]
    return {"seed": found["seed"], "count": len(sample), "speedup": geometric_mean(ratios), "fail": not_held}


def why_not(probe):
    return probe.get("wrong") or f"{probe['before_us'] / probe['now_us']:.3f}x"
