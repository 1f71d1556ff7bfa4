"""The headline of the Steps page: what the matrices of a step show, with the numbers of the cell that is framed at first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attention.config import Config
from attention.knobs import DEFAULTS
from attention.number_format import format_percent, format_token, format_weight
from attention.sources.providers import keys, tokens
from attention.sources.spec import lengths, spec_of
from attention.steps.plan import by_name
from attention.steps.step import Step
from attention.steps.values import pairs
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.text import steps as text
from attention.ui.views import questions

PROJECTED, SPLIT, PARAMETERS = ("Q", "K", "V"), ("q", "k", "v"), ("W_q", "W_k", "W_v")


def of_step(config: Config, plan: dict[str, Step], current: str) -> str:
    """A sentence about the matrices of this step; its lesson if the settings or the size of the matrices have no such cell."""
    step, told = plan[current], ""
    if config.softmax == DEFAULTS["softmax"] and "q 2" not in plan and not questions.unsaid(config):
        told = _of_sizes(config, step) or _of_cells(config, plan, step)
    return told or text.STEP.format(step=escape(current), lesson=step.lesson)


def made_of(plan: dict[str, Step], step: str) -> tuple[str, ...]:
    """Queries, keys and values, if this step is the token vectors, an input from which all three are computed; otherwise none."""
    made = tuple(name for name in PROJECTED if name in plan and plan[name].sources[0].name == step)
    return made if len(made) == len(PROJECTED) and not plan[step].sources else ()


def _of_sizes(config: Config, step: Step) -> str:
    """A sentence about the shape of a matrix, or about its masked pairs; "" for another step."""
    rows, columns = (f"{size:,}" for size in step.shape[-2:])
    given = {"rows": rows, "columns": columns}
    if step.name == "x" and made_of(by_name(config), "x"):
        return text.TOKENS.format(**given)
    if step.name in ("x", *PARAMETERS) or (step.name == "W_o" and spec_of(config).mixes):
        return text.SIZES[step.name].format(**given)
    if step.name == "joined" and config.heads > 1:
        return text.SIZES[step.name].format(**given, heads=config.heads, width=f"{lengths(config)['e']:,}")
    if step.name in SPLIT and step.kind == "view":
        return _split(config, step)
    if step.name == "logits":
        masked, whole = int((~pairs(config)).sum()), pairs(config).numel()
        return (text.LOGITS if masked else text.LOGITS_ALL).format(masked=f"{masked:,}", whole=f"{whole:,}")
    return ""


def _split(config: Config, step: Step) -> str:
    """Which columns of all queries, keys or values a head takes."""
    heads, _, width = step.shape
    first = config.head * heads // config.heads * width
    columns = text.COLUMNS[width > 1].format(first=f"{first:,}", last=f"{first + width - 1:,}")
    whole, name = f"{heads * width:,}", step.name
    return text.SPLIT.format(of=name.upper(), whole=whole, head=config.head, columns=columns, words=text.VECTORS[name])


def _of_cells(config: Config, plan: dict[str, Step], step: Step) -> str:
    """A sentence with the number of the cell of the selected query and its first visible key, which the matrices frame."""
    mask, row, own, names = pairs(config), config.query_index, tokens(config).labels, keys(config).labels
    visible = mask[row].nonzero().flatten().tolist()
    if step.name not in text.CELLS or not visible or not (names and own):
        return ""
    key = visible[0]
    query, found = _name(own, row), {}
    if step.name in ("mask", "output"):
        found = {"kept": f"{int(mask.sum()):,}", "whole": f"{mask.numel():,}", "columns": f"{step.shape[-1]:,}"}
    elif step.name in PROJECTED:
        found = _projected(config, step, (query, row) if step.name == "Q" else (_name(names, key), key))
    elif step.name == "context":
        weights, value = _row(config, plan["weights"], row), _row(config, step, row)
        if weights and value:
            most = max(range(len(weights)), key=weights.__getitem__)
            found = {"value": _number(value[0]), "most": _name(names, most), "share": format_percent(weights[most])}
    elif value := _row(config, step, row):
        before = _row(config, plan["scores"], row) if step.name == "scaled" else []
        if before and abs(value[key]) >= abs(before[key]):
            return ""
        said = format_percent if step.name == "weights" else _number
        found = {"value": said(value[key])} | ({"before": _number(before[key])} if before else {})
    fields = {"query": query, "key": _name(names, key), "seen": f"{len(visible):,}"}
    return text.CELLS[step.name].format(**fields, keys=f"{mask.shape[1]:,}", **found) if found else ""


def _projected(config: Config, step: Step, token: tuple[str, int]) -> dict[str, str]:
    """The first number of the selected head in the row of a token, and what it was computed from."""
    heads = config.heads if step.name == "Q" else config.n_kv_heads
    column = config.head * heads // config.heads * (step.shape[-1] // heads)
    if not (row := _row(config, step, token[1])):
        return {}
    source, matrix = (escape(each.name) for each in step.sources)
    words = text.ROLES[step.name.lower()]
    told = {"token": token[0], "source": source, "matrix": matrix, "column": f"{column:,}", "words": words}
    return told | {"value": _number(row[column])}


def _name(labels: Sequence[str], at: int) -> str:
    return escape(format_token(labels[at], at))


def _number(value: float) -> str:
    return format_weight(value).replace("-", "−")


def _row(config: Config, step: Step, row: int) -> list[float]:
    """A row of the selected head, with the digits that the matrices have; none if a cell of theirs stands for several."""
    (found,) = results.steps.matrices(config, (step.name,))
    if found.tiles != (1, 1):
        return []
    codes = found.codes[config.head - found.first if step.by_head else 0, row].tolist()
    return [math.ldexp(code, found.exponent) for code in codes]
