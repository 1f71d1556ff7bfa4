"""A model's run in a link: `run=MODEL&run_text=…`, next to the knobs of the picture, and in the packed link of side A."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attention.codec import NEWEST
from attention.knobs import SENTENCE
from attention.models.prompt import PROMPTS, RUN, Prompt
from attention.pinned import pack_link, unpack_link
from attention.settings import ConfigError

CARRIED = ("text", "second", "part", "summary", "tokens", "off", "how", "other")  # of a prompt, next to its model


def prompt_of(query: Mapping[str, str]) -> Prompt:
    """The run of a link that has one."""
    named = {name: query[f"{RUN}_{name}"] for name in CARRIED if f"{RUN}_{name}" in query}
    return PROMPTS.from_query({"text": SENTENCE, **named, "model": query[RUN]})[0].of_run


def other_entries(query: Mapping[str, str]) -> dict[str, str]:
    """The entries of a link that are not those of a run."""
    return {name: value for name, value in query.items() if name != RUN and not name.startswith(f"{RUN}_")}


def pinned_run(query: Mapping[str, str]) -> dict[str, str]:
    """The packed link of side A if it is a run; {} for anything else."""
    try:
        found = unpack_link(query.get("against", ""))
    except ConfigError:
        return {}
    return found if RUN in found else {}


def with_pinned(query: dict[str, str], source: str) -> dict[str, str]:
    """A link whose side A is a run, with the source that this visit has of it."""
    return query | {"against": pack_link(other_entries(pinned_run(query)) | {"source": source})}


def run_entries(prompt: Prompt) -> dict[str, str]:
    """The entries of a link that name a run."""
    differing = PROMPTS.to_query(prompt)
    run = {f"{RUN}_{name}": differing[name] for name in CARRIED if name in differing and name != "text"}
    return {RUN: prompt.model, f"{RUN}_text": prompt.text} | run


def comparison_query(prompt: Prompt, layer: int | None = None) -> dict[str, str]:
    """The link that compares a run without some heads with the run that has all of them, as side A."""
    whole, of_layer = replace(prompt, off="").of_run, {} if layer is None else {"layer": str(layer)}
    return NEWEST | run_entries(prompt.of_run) | of_layer | {"against": pack_link(run_entries(whole) | of_layer)}
