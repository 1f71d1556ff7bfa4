"""Every family of models in every way to run it: what `show` and `watch` draw is one full pass without a cache, to 1e-5.

docs/MODELS.md has the cells as a table; `python -m tests.test_model_families` writes it.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.imported.layer_weights import layer
from attention.imported.stack import Stack
from attention.notebook.inputs import Told, stacks_of
from attention.notebook.picture import picture
from attention.tracing.parts import CROSS, DECODER, ENCODER
from attention.tracing.watched import watch
from attention.wire.cells import weights as decoded
from tests.drawings import header
from tests.model_families import ENCODERS, FAMILIES, IMAGES, NARROW, TWO_SIDES, WIDE, WINDOWED, WORDS, family
from tests.samples import sample

CLOSE, DRAWN = 1e-5, 1 / 2048  # largest differences: of weights, and relatively of those that are drawn, in 16 bits
PROMPT, NEW, BEAMS = 3, 4, 3
MODES = {
    "forward": {},
    "dynamic": {},
    "sliding": {},
    "static": {"cache_implementation": "static"},
    "beams": {"num_beams": BEAMS, "num_return_sequences": BEAMS},
}
HEADINGS = {
    "forward": "one pass",
    "dynamic": "dynamic cache",
    "sliding": "past a sliding window",
    "static": "static cache",
    "beams": "beam search",
}
STATIC = {
    "MPT": "it keeps no cache",
    "Falcon with ALiBi": "transformers raises ValueError",
    "GPT-Neo": "transformers counts its windows from the end of the cache, so that the model computes something else",
}
EAGER = {
    "Falcon with ALiBi": "with eager attention; by SDPA transformers scales the bias otherwise, for another output"
}
MARKS = "<!-- families: begin -->\n", "<!-- families: end -->\n"
PAGE = Path(__file__).parents[1] / "docs" / "MODELS.md"
Layers = dict[str, dict[int, Tensor]]  # weights (h q k) by part and number of the layer


def missing(name: str, mode: str) -> str:
    """Why there is no such cell; "" if there is one."""
    if name in ENCODERS and mode != "forward":
        return "does not generate"
    if mode == "sliding" and name not in WINDOWED:
        return "has no window"
    return STATIC.get(name, "") if mode == "static" else ""


CELLS = [(name, mode) for name in FAMILIES for mode in MODES if not missing(name, mode)]
KINDS = ("BERT", "GPT-2", "Falcon with ALiBi", "Llama", "Gemma 2", "Qwen3-Next", "T5", "ViT")  # one family of each kind
every_cell = pytest.mark.parametrize(("name", "mode"), sample(CELLS, lambda name, _: name in KINDS))
GENERATING = ("GPT-2", "Gemma 2", "T5")  # outputs of all modes are read alike for every family
every_output = pytest.mark.parametrize(
    ("name", "mode"), sample(CELLS, lambda name, mode: name in KINDS and (mode == "forward" or name in GENERATING))
)


def ids(count: int, seed: int = 0) -> Tensor:
    return torch.randint(3, WORDS, (1, count), generator=torch.Generator().manual_seed(seed))


def inputs_of(name: str) -> dict[str, Tensor]:
    """What one pass takes."""
    if name in IMAGES:
        return {"pixel_values": torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(1))}
    return {"input_ids": ids(7), **({"decoder_input_ids": ids(5, 1)} if name in TWO_SIDES else {})}


def model_of(name: str, mode: str, implementation: str | None = "eager") -> Any:
    return family(name, WIDE if mode == "dynamic" else NARROW, implementation)


def run(model: Any, name: str, mode: str, **options: Any) -> Any:
    if mode == "forward":
        return model(**inputs_of(name), **options)
    more = {"max_new_tokens": NEW, "min_new_tokens": NEW, "do_sample": False, "return_dict_in_generate": True}
    return model.generate(ids(PROMPT), **more, **MODES[mode], **options)


def expected_layers(name: str, mode: str, out: Any) -> Iterator[Layers]:
    """One full eager pass without a cache for every sequence that was returned."""
    model = model_of(name, mode)
    if mode == "forward":
        yield layers_by_name(model, run(model, name, mode, output_attentions=True))
        return
    for sequence in out.sequences[:, :-1]:  # the last token is written, and read by nobody
        side = "decoder_input_ids" if name in TWO_SIDES else "input_ids"
        inputs = {side: sequence[None], **({"input_ids": ids(PROMPT)} if name in TWO_SIDES else {})}
        yield layers_by_name(model, model(**inputs, use_cache=False, output_attentions=True))


def layers_by_name(model: Any, out: Any) -> Layers:
    parts = {"encoder_attentions": ENCODER, "decoder_attentions": DECODER, "cross_attentions": CROSS, "attentions": ""}
    kinds = getattr(model.config, "layer_types", None) or []
    numbers = [at for at, kind in enumerate(kinds) if kind != "linear_attention"] or list(range(99))
    return {
        part: {number: weights[0] for number, weights in zip(numbers, out[key], strict=False)}
        for key, part in parts.items()
        if out.get(key)
    }


def layers_of(stacks: Mapping[str, Stack]) -> Layers:
    """The layers of stacks; each is drawn as it is, and nothing with weight is drawn as masked."""
    found: Layers = {}
    messages = iter(picture(stacks).layers)
    for name, stack in stacks.items():
        kind = next((part for part in (CROSS, DECODER, ENCODER) if name.startswith(part)), "")
        part = stack.weights if stack.q is None else stack.q
        assert part is not None
        for at, number in enumerate(stack.numbers or range(len(part))):
            weights, mask = layer(stack, at)
            cells = codes(next(messages), weights.shape)
            assert torch.equal(cells.isnan(), ~mask.expand_as(cells)) and not weights[cells.isnan()].any()
            torch.testing.assert_close(cells.nan_to_num(), weights, rtol=DRAWN, atol=1e-8)
            assert number not in found.setdefault(kind, {})
            found[kind][number] = weights
    return found


def codes(packed: bytes, shape: torch.Size) -> Tensor:
    """The weights in a message, masked ones as NaN."""
    data = gzip.decompress(packed)
    said = header(data)
    assert (said["heads"], said["rows"], said["columns"], said["tile"]) == (*shape, 1)
    start = len(data) - 2 * shape.numel() - 4 * said["sights"][0] * said["sights"][1]
    return decoded(torch.frombuffer(bytearray(data[start:]), dtype=torch.uint16, count=shape.numel()).view(shape))


def agree(found: Layers, truth: Layers) -> None:
    assert {part: list(layers) for part, layers in found.items()} == {
        part: list(layers) for part, layers in truth.items()
    }
    for part, layers in truth.items():
        for number, weights in layers.items():
            torch.testing.assert_close(found[part][number], weights.float(), rtol=0, atol=CLOSE)


def renumber_layers(truth: Layers) -> Layers:
    """With layers counted as they are given: an output doesn't say which layers its weights are of."""
    return {part: dict(enumerate(layers.values())) for part, layers in truth.items()}


@pytest.mark.sampled(8)
@every_output
@torch.no_grad()
def test_show(name, mode):
    out = run(model_of(name, mode), name, mode, output_attentions=True)
    for batch, truth in enumerate(expected_layers(name, mode, out)):
        agree(layers_of(stacks_of(out, None, None, Told(batch=batch))), renumber_layers(truth))


@pytest.mark.parametrize("name", ["Falcon with ALiBi", "GPT-Neo"])
@torch.no_grad()
def test_what_is_missing_cannot_be_had(name):
    with pytest.raises((ValueError, AssertionError)):
        test_show(name, "static")


@pytest.mark.sampled(8)
@every_cell
@torch.no_grad()
@pytest.mark.filterwarnings("ignore:attention.watch can't see:UserWarning")  # linear layers, which have no weights
def test_watch(name, mode):
    model = model_of(name, mode, "eager" if name in EAGER else None)
    for batch in (0, BEAMS - 1) if mode == "beams" else (0,):
        seen = watch(model, batch)
        with seen:
            out = run(model, name, mode)
        found, truth = layers_of(seen.parts()), list(expected_layers(name, mode, out))[batch]
        if batch and name in TWO_SIDES:  # it ran once for all sequences
            assert truth.pop(ENCODER) and all(
                "several sequences" in why or "batch=" in why for why in seen.unseen.values()
            )
        agree(found, truth)


def table() -> str:
    """The cells as Markdown, with the reasons below."""
    notes: dict[str, int] = {}
    lines = [f"| family | {' | '.join(HEADINGS[mode] for mode in MODES)} |", "|---" * (1 + len(MODES)) + "|"]
    for name in FAMILIES:
        cells = [_cell(name, mode, notes) for mode in MODES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", *(f"{number}. {why[0].upper()}{why[1:]}." for why, number in notes.items()), ""]
    return "\n".join(lines)


def _cell(name: str, mode: str, notes: dict[str, int]) -> str:
    def note(why: str) -> str:
        return f"<sup>{notes.setdefault(why, len(notes) + 1)}</sup>"

    if why := missing(name, mode):
        return f"n/a{note(why)}"
    return f"show, watch{note(why)}" if (why := EAGER.get(name)) else "show, watch"


def test_the_page_has_the_table():
    begin, end = MARKS
    assert PAGE.read_text().partition(begin)[2].partition(end)[0] == table()


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(MARKS[0])
    PAGE.write_text(before + MARKS[0] + table() + MARKS[1] + rest.split(MARKS[1])[1])
