"""The sidebar of Implementations: a control that the selected code ignores is disabled, and its help says why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from attention.codec import to_query
from attention.config import Config
from attention.operations.scale import unscaled
from attention.published import ROWS
from attention.ui.controls import picture
from attention.ui.text import implementations as text

INVERTED = Config(implementation="boolean-mask")  # a mistake that is seen at once: its map is the other triangle


def ignored(config: Config) -> dict[str, tuple[str, str]]:
    """What the selected code has in place of each knob that it ignores, and why."""
    row, found = ROWS[config.implementation], {}
    if row.mask in text.OWN_MASKS:
        reason = text.NO_MASK[row.mask].format(mask=config.rule_name)
        values = {"mask": text.OWN_MASKS[row.mask], "combine": config.combine, "span": str(config.span)}
        found = {name: (value, reason) for name, value in values.items()}
    if row.scale is unscaled:
        found["scale"] = text.OWN_SCALE, text.UNSCALED.format(scale=config.scale)
    return found


def look(config: Config) -> tuple[Any, ...]:
    """Everything that the controls show of a config, as `picture.look` has it, and what the selected code ignores."""
    return *picture.look(config), ignored(config)


PUBLISHED = replace(
    picture.PICTURE,
    draw=partial(picture.draw, ignored=ignored),
    look=look,
    begins=to_query(INVERTED),
    is_example=True,
)
