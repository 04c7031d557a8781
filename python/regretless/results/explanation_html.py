"""The explanation of one decision as HTML tables, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regretless.results.pages import html_table

if TYPE_CHECKING:
    from regretless.results.explanation import ChangedValue, Explanation, RangeEnds, RegretSplit

MAX_ROWS = 15
"""Rows of a table in a notebook; `to_dict` has all of them."""


def explanation_html(explanation: Explanation) -> str:
    """Return the tables of the parts that an explanation has."""
    parts = [decision_table(explanation), ranges_table(explanation)]
    if explanation.alternatives.decisions:
        parts.append(alternatives_table(explanation))
    if explanation.choices:
        parts.append(choices_table(explanation))
    if explanation.regret is not None:
        parts.append(regret_table(explanation.regret))
    if explanation.features.features:
        parts.append(features_table(explanation))
    return "".join(parts)


def decision_table(explanation: Explanation) -> str:
    """Return the decision, its objective and what is remarkable."""
    chosen = [cost for cost in explanation.costs if cost.value != 0]
    names = ", ".join(
        cost.name if cost.value == 1 else f"{cost.name} = {cost.value:.6g}"
        for cost in chosen[:MAX_ROWS]
    )
    more = len(chosen) - MAX_ROWS
    rows = [("decision", f"{names} and {more} more" if more > 0 else names)]
    others = explanation.other_columns
    if others:
        shown = ", ".join(f"{one.name} = {one.value:.6g}" for one in others[:MAX_ROWS])
        more = len(others) - MAX_ROWS
        rows.append(("known costs", f"{shown} and {more} more" if more > 0 else shown))
    rows += [
        ("predicted objective", f"{explanation.objective:.6g} ({explanation.sense})"),
        ("status", explanation.status),
    ]
    for reason in (
        explanation.ranges.reason,
        explanation.alternatives.reason,
        explanation.features.reason,
    ):
        if reason is not None:
            rows.append(("note", reason))
    return html_table(f"Explanation: {explanation.problem}", ("", ""), rows)


def ranges_table(explanation: Explanation) -> str:
    """Return the costs whose ranges end nearest."""
    limited = [
        (min(cost._distances()), cost.index, cost)
        for cost in explanation.costs
        if cost._distances()
    ]
    limited.sort(key=lambda entry: entry[:2])
    rows = [
        (
            cost.name,
            f"{cost.value:.6g}",
            f"{cost.predicted:.6g}",
            *range_ends(explanation, cost.range),
        )
        for _, _, cost in limited[:MAX_ROWS]
        if cost.range is not None
    ]
    title = f"cost ranges: {explanation.ranges.method or 'none'}"
    return html_table(title, ("cost", "decision", "predicted", "stays from", "to"), rows)


def range_ends(explanation: Explanation, ends: RangeEnds) -> tuple[str, str]:
    """Return both ends; those that the decision may stay beyond are marked."""
    has_marks = explanation.ranges.method == "solves"
    lower = "≤ " if has_marks and not ends.lower_is_exact else ""
    upper = "≥ " if has_marks and not ends.upper_is_exact else ""
    return (
        "any" if ends.lower is None else f"{lower}{ends.lower:.6g}",
        "any" if ends.upper is None else f"{upper}{ends.upper:.6g}",
    )


def alternatives_table(explanation: Explanation) -> str:
    """Return the best other decisions."""
    rows = [
        (
            place,
            f"{ranked.price:.6g}",
            f"{ranked.objective:.6g}",
            _names(ranked.added),
            _names(ranked.removed),
            _changes(ranked.changed),
        )
        for place, ranked in enumerate(explanation.alternatives.decisions, start=2)
    ]
    header = ("rank", "worse by", "objective", "adds", "drops", "changes")
    return html_table("other decisions", header, rows)


def choices_table(explanation: Explanation) -> str:
    """Return what forced and forbidden choices cost."""
    rows = [
        (
            f"{'force' if effect.is_forced else 'forbid'} {effect.name}",
            effect.answer.replace("_", " "),
            "" if effect.price is None else f"{effect.price:.6g}",
            _names(effect.added),
            _names(effect.removed),
            _changes(effect.changed),
        )
        for effect in explanation.choices
    ]
    header = ("choice", "answer", "costs", "adds", "drops", "changes")
    return html_table("choices", header, rows)


def regret_table(split: RegretSplit) -> str:
    """Return the shares of the costs in the regret."""
    rows = [
        (
            share.name,
            f"{share.share:.6g}",
            f"{share.predicted:.6g}",
            f"{share.true_cost:.6g}",
            f"{share.value:.6g}",
            f"{share.best_value:.6g}",
        )
        for share in split.shares[:MAX_ROWS]
    ]
    title = f"regret {split.regret:.6g} = shares - gap {split.gap:.6g}"
    if split.reason is not None:
        title += f" ({split.reason})"
    header = ("cost", "share", "predicted", "true", "decision", "in hindsight")
    return html_table(title, header, rows)


def features_table(explanation: Explanation) -> str:
    """Return the effects of features."""
    changes = {True: "yes", False: "no", None: "not known"}
    rows = [
        (
            effect.feature,
            "per item" if effect.value is None else f"{effect.value:.6g}",
            f"{effect.reference:.6g}",
            f"{effect.objective_effect:.6g}",
            changes[effect.changes_decision],
        )
        for effect in explanation.features.features[:MAX_ROWS]
    ]
    header = ("feature", "value", "compared with", "effect", "changes the decision")
    return html_table(f"features: {explanation.features.method}", header, rows)


def _names(names: tuple[str, ...]) -> str:
    """Return names in a cell: the first ones and the number of the others."""
    more = len(names) - MAX_ROWS
    shown = ", ".join(names[:MAX_ROWS])
    return f"{shown} and {more} more" if more > 0 else shown or "none"


def _changes(changed: tuple[ChangedValue, ...]) -> str:
    """Return changed values in a cell."""
    return _names(
        tuple(f"{one.name} from {one.value:.6g} to {one.other_value:.6g}" for one in changed)
    )
