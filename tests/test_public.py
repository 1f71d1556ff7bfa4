"""What is promised to the outside: names, signatures and meanings that notebooks, tests and benchmarks call."""

from __future__ import annotations

import inspect
import re
from concurrent.futures import Executor, Future
from pathlib import Path
from pkgutil import resolve_name

import pytest
import torch
from torch import nn

import attention
from attention import codec, heads, masks, published, timing
from attention.notebook.display import Shown
from attention.notebook.inputs import Told, stacks_of
from attention.summary import describe
from attention.timing.recordings import shipped_recordings

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]

SIGNATURES = {
    attention.scaled_dot_product_attention: (
        "(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False, *, "
        "softcap=None, out=None)"
    ),
    attention.MultiHeadAttention: "(d_model, heads, kv_heads=None, bias=True)",
    attention.MultiHeadAttention.forward: "(self, query, key=None, value=None, mask=None)",
    attention.head_maps: (
        "(query, key, mask='causal', span=4, scale=None, side=512, pool='mean', rows=None, cols=None)"
    ),
    codec.from_query: "(mapping)",
    codec.to_query: "(config)",
}


def promised_signature(function: object) -> str:
    """The signature without annotations, and without options that are more than what was promised."""
    found = inspect.signature(function)
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda function: function.__qualname__)
def test_signatures_stay(function):
    promised = SIGNATURES[function].removesuffix(")")
    assert promised_signature(function).startswith(promised), (
        "more options may follow; what was promised stays where it is"
    )


@pytest.mark.parametrize(
    "thing",
    [
        *SIGNATURES,
        *(attention.Config, attention.ConfigError, attention.trace, attention.Trace, attention.HeadMaps),
        *(attention.Attention, attention.MultiHeadAttention.from_torch, heads.profile, timing.measure),
    ],
    ids=lambda thing: thing.__qualname__,
)
def test_what_is_public_says_what_it_does(thing):
    assert len(inspect.getdoc(thing) or "") > 20


def test_trace_has_every_step():
    config = attention.Config(tokens=5, heads=2, d_model=8)
    found = attention.trace(config)
    shapes = {"x": (5, 8), "q": (2, 5, 4), "k": (2, 5, 4), "v": (2, 5, 4), "scores": (2, 5, 5), "bias": (2, 5, 5)}
    shapes |= {"weights": (2, 5, 5), "mask": (5, 5), "context": (2, 5, 4), "output": (5, 8)}
    assert {name: tuple(getattr(found, name).shape) for name in shapes} == shapes
    assert found.config == config


def test_maps_have_their_numbers():
    q = torch.randn(2, 40, 4, generator=torch.Generator().manual_seed(0))
    found = attention.head_maps(q, q, side=10)
    assert found.pixels.shape == (2, 10, 10) and found.tile == 4
    assert all(getattr(found, name).shape == (2, 40) for name in ("lse", "entropy", "greatest", "distance"))


def test_the_rest_of_what_is_promised_is_there():
    assert issubclass(attention.ConfigError, ValueError)
    assert masks.MASKS.keys() >= {"full", "causal", "window"}
    assert published.ROWS
    assert {"measure", "Sweep", "Timing"} <= set(timing.__all__)
    assert codec.to_query(attention.Config()) == {}
    assert codec.from_query({}) == (attention.Config(), [])


def public_objects() -> dict[str, object]:
    """An object of each public class, with as many numbers as people have; by what its repr says of it."""
    config, q = attention.Config(tokens=300, heads=4), torch.randn(2, 300, 16)
    layer, words = nn.MultiheadAttention(16, 2, batch_first=True).eval(), [f"word {at}" for at in range(300)]
    with attention.watch(layer) as seen:
        layer(q, q, q)
    parts = stacks_of(q, q, None, Told(tokens=words, title="Mine"))
    return {
        "Config(tokens=300, heads=4)": config,
        "heads=4, tokens=<300: 'The', …, 'and'>, weights=float32 (4, 300, 300), mask=bool (300, 300)": attention.trace(
            config
        ),
        "HeadMaps(heads=2, tokens=300, tile=10, rows=(0, 300)": attention.head_maps(q, q, side=30),
        "Attention(output=float32 (2, 300, 16), weights=float32 (2, 300, 300))": attention.scaled_dot_product_attention(
            q, q, q
        ),
        "Shown(title='Mine', tokens=<300: 'word 0', …, 'word 299'>, heads=float32 (1, 2, 300, 16))": Shown(
            parts, "Mine"
        ),
        "MultiheadAttention: 1 layers seen, 0 not": seen,
        "d_model=16, heads=2, kv_heads=2": attention.MultiHeadAttention(16, 2),
        "Leaks(ok=True, leaks=0, tokens=300": attention.leaks(
            lambda ids: ids[..., None].float(), range(300), vocabulary=300
        ),
        "stopped": attention.Cancelled("stopped"),
        "tokens=1": attention.ConfigError("tokens=1 is too few"),
        "'': Stack(title='Mine'": parts,
        "Call(q=float32 (2, 300, 8)": seen.calls,
    }


def test_objects_print_their_sizes_and_no_numbers():
    found = public_objects()
    classes = {kind for name in attention.__all__ if isinstance(kind := getattr(attention, name), type)}
    assert classes <= {type(value) for value in found.values()}
    for said, value in found.items():
        text = repr(value)
        assert said in text
        assert len(text) <= 450 and "tensor(" not in text, text
        assert "0x" not in text, text


def test_a_config_prints_the_call_that_makes_it():
    config = attention.Config(tokens=9, mask="window", text='a "b"')
    assert eval(repr(config), {"Config": attention.Config}) == config


class Counts(Executor):
    """Counts what it is given, and does none of it."""

    given = 0

    def submit(self, fn, /, *args, **kwargs) -> Future:
        self.given += 1
        found = Future()
        found.set_exception(InterruptedError())
        return found


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_a_long_head_goes_to_a_cluster_in_as_many_parts_as_its_page_says(mask):
    said = re.search(r"its queries in (\d+)\s+parts", (ROOT / "docs" / "CLUSTER.md").read_text())
    assert said is not None
    counts, query = Counts(), torch.zeros(1, 65_536, 64)
    with pytest.raises(InterruptedError):
        attention.head_maps(query, query, mask, executor=counts)
    assert counts.given == int(said[1])


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_what_the_docs_call_is_there(page):
    """Every `attention.….name(` of a page, be it in a sentence or in a program."""
    for name in re.findall(r"\battention(?:\.\w+)+(?=\()", page.read_text("utf-8")):
        assert callable(resolve_name(name)), f"{page.name}: {name}"


def test_lengths_that_were_recorded_are_those_that_the_changelog_says():
    longest = dict[tuple[str, str], int]()
    for each in shipped_recordings():
        if each.source != "epyc-2-cores-2026-11.json":
            continue
        key = each.dtype, each.passes
        longest[key] = max(longest.get(key, 0), 0 if each.error else each.length)
    assert longest.pop(("float32", "forward")) == 16_384 and set(longest.values()) == {4096} and len(longest) == 3
    said = "forward to 16,384 tokens in float32 and to 4,096 in bfloat16, forward + backward to 4,096 in both"
    assert said in " ".join((ROOT / "CHANGELOG.md").read_text("utf-8").split())


def test_a_long_sequence_of_parts_is_described_by_its_length_and_its_ends():
    square = torch.zeros(2, 3)
    assert describe([square] * 40) == "<40: float32 (2, 3), …, float32 (2, 3)>"
    assert describe((1, square)) == "(1, float32 (2, 3))"
