"""Gates of experts: which of them a row goes to and with what weights, by its scores, in the best groups, or by what stands for its token."""

import numpy as np

from core import REQUIRED, Mismatch, Value, define
from experts import absent
from reductions import softmax
from routing import alike, in_range, largest

SOFTMAX, SIGMOID, ROOT_OF_SOFTPLUS = range(3)
GATE = {"k": REQUIRED, "k_group": 1, "group_count": 1, "group_select_mode": 0, "renorm": 0, "norm_type": 0, "out_flag": False,
        "routed_scaling_factor": 1.0, "eps": 1e-20}


def group_width(x, k, k_group, group_count, group_select_mode):
    """How many experts a group has."""
    if x.ndim != 2 or group_select_mode not in (0, 1) or group_count < 1 or x.shape[1] % group_count:
        raise Mismatch(f"{group_count} groups of {list(x.shape)} by mode {group_select_mode}")
    width = x.shape[1] // group_count
    if not 1 <= k_group <= group_count or width < 1 + group_select_mode or not 1 <= k <= k_group * width:
        raise Mismatch(f"{k} of {k_group} groups of {width}")
    return width


def scores_of(x, norm_type):
    """Scores of experts, each row by itself."""
    if norm_type == SOFTMAX:
        return Value(softmax(x, -1), steps=3)
    if norm_type == SIGMOID:
        return Value(1.0 / (1.0 + np.exp(-x)), steps=3)
    if norm_type == ROOT_OF_SOFTPLUS:
        root = np.sqrt(np.logaddexp(0.0, x))
        # Where the exponential is small beside the one that it is added to, it loses digits.
        return Value(root, magnitude=1e-3 / root, steps=3)
    raise Mismatch(f"the norm {norm_type} has no definition")


def best_of_groups(scores, width, k, k_group, group_select_mode, near):
    """The k largest among the experts of the best groups, which of them a rounding decides, and in which rows it decides the groups."""
    if np.any(scores <= 0):
        raise Mismatch("scores that are not above zero")
    rows, group_count = len(scores), scores.shape[1] // width
    unsure = np.zeros(rows, bool)
    left = scores
    if k_group < group_count:
        groups = np.sort(scores.reshape(rows, group_count, width), axis=-1)
        best = groups[..., -1] + (groups[..., -2] if group_select_mode == 1 else 0.0)
        order, _, _ = largest(best, best, k_group, near)
        # Which groups it is must be sure, in which order they are does not matter.
        ranked = -np.sort(-best, axis=-1)
        unsure = ranked[:, k_group - 1] - ranked[:, k_group] <= near * ranked[:, k_group - 1]
        kept = np.zeros(best.shape, bool)
        np.put_along_axis(kept, order, True, -1)
        left = np.where(np.repeat(kept, width, axis=-1), scores, 0.0)
    places, _, tied = largest(left, left, k, near)
    return places, tied | unsure[:, None], unsure


def shared(scores, places, eps, factor, unsure):
    """What the chosen scores are of their sum, times a factor."""
    chosen = np.take_along_axis(scores.array, places, -1)
    share = factor / (chosen.sum(axis=-1, keepdims=True) + eps)
    size = None if scores.magnitude is None else np.take_along_axis(scores.magnitude, places, -1) * np.abs(share)
    return Value(chosen * share, magnitude=size, steps=4, unspecified=np.broadcast_to(unsure[:, None], chosen.shape))


def biased(scores, bias):
    if bias is not None and bias.shape != scores.shape[1:]:
        raise Mismatch(f"a bias of {list(bias.shape)}")
    return scores if bias is None else scores + bias


def gated(x, bias, k, k_group, group_count, group_select_mode, norm_type, routed_scaling_factor, eps, out_flag, call):
    """Weights, experts and, where they are asked for, scores, where the scores choose."""
    width = group_width(x, k, k_group, group_count, group_select_mode)
    scores = scores_of(x, norm_type)
    places, tied, unsure = best_of_groups(biased(scores.array, bias), width, k, k_group, group_select_mode, alike(call))
    # With a bias, and after softmax, there are two readings of what y is made of.
    y = shared(scores, places, eps, routed_scaling_factor, unsure) if bias is None and norm_type != SOFTMAX else None
    return y, Value(places, exact=True, unspecified=tied), scores if out_flag and bias is None else None


@define("MoeGatingTopK", inputs="x bias?", outputs="y expert_idx:int32 out:float32", attributes=GATE)
def gating_by_group(x, bias, k, k_group, group_count, group_select_mode, renorm, norm_type, out_flag, routed_scaling_factor, eps, call):
    """expert_idx = the k largest of sigmoid or softmax of x, plus bias, in the best groups; y = scale * theirs / (their sum + eps)"""
    if renorm != 0 or norm_type == ROOT_OF_SOFTPLUS:
        raise Mismatch(f"norm {norm_type} with renorm {renorm} has no definition")
    if not out_flag:
        absent(call, 2)
    return gated(x, bias, k, k_group, group_count, group_select_mode, norm_type, routed_scaling_factor, eps, out_flag, call)


@define("MoeGatingTopKHash", inputs="x bias? input_ids:index? tid2eid:index?", outputs="y expert_idx:int32 out:float32", attributes=GATE)
def gating_by_token(x, bias, tokens, table, k, k_group, group_count, group_select_mode, renorm, norm_type, out_flag, routed_scaling_factor,
                    eps, call):
    """expert_idx = the row of tid2eid that input_ids name, else the k best; y = scale * theirs / (their sum + eps) of sigmoid or sqrt(softplus(x))"""
    if renorm != 0 or (tokens is None) != (table is None) or norm_type == ROOT_OF_SOFTPLUS and group_count != 1:
        raise Mismatch(f"{group_count} groups, norm {norm_type}, renorm {renorm}")
    if tokens is None:
        return gated(x, bias, k, k_group, group_count, group_select_mode, norm_type, routed_scaling_factor, eps, out_flag, call)
    group_width(x, k, k_group, group_count, group_select_mode)
    # Where the table says who it is, neither groups nor a bias have anything to choose.
    if group_count != 1 or bias is not None:
        raise Mismatch("a table of experts beside groups or a bias")
    if table.ndim != 2 or table.shape[1] != k or tokens.size != len(x):
        raise Mismatch(f"a table of {list(table.shape)} and {tokens.size} tokens for {len(x)} rows of {k} experts")
    places = in_range(table, x.shape[1])[in_range(tokens.reshape(-1), len(table))]
    scores = scores_of(x, norm_type)
    sure = np.zeros(len(x), bool)
    y = shared(scores, places, eps, routed_scaling_factor, sure) if norm_type != SOFTMAX else None
    return y, Value(places, exact=True), scores if out_flag else None
