"""What is kept for every caller is the same whoever came first: under any mode of torch's, and after it."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass, replace
from functools import _lru_cache_wrapper
from itertools import product
from typing import Any, get_args, get_origin, get_type_hints

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import attention
from attention import Config, attend, blocks, scaled_dot_product_attention
from attention.inputs import INPUTS
from attention.maps import picture, tiles
from attention.maps.blocks import differences
from attention.masks import MASKS
from attention.operations.positions import POSITIONS
from attention.published import case
from attention.recorded import shipped
from attention.runtime.tensor_cache import IdleTensors
from attention.sources import chunks, generated
from attention.steps import values
from attention.story import head as story
from attention.timing.interference_probe import yardstick
from attention.training import shipped as trainings
from attention.training.recipe import Recipe
from attention.ui.results import training
from attention.wire import cells, difference_cells, matrix_cells

SMALL = Config(tokens=6, d_model=8, heads=2, text="a b c")
CPU = torch.device("cpu")
RECIPE = Recipe(task="sort", layers=1, d_model=8, heads=2, steps=20)
COURSE = trainings.course("reverse")
KEPT: dict[str, tuple[Any, tuple]] = {
    "until": (blocks.until, (5, 7, CPU)),
    "falling": (attend._falling, (5, 7, CPU, torch.float32)),
    "edges": (attend._edges, (torch.float32, CPU)),
    "cells": (cells._ups, (cells.PLAIN,)),
    "matrices": (matrix_cells._ups, (-3,)),
    "sides": (difference_cells._borders, ()),
    "order": (tiles._tile_order, (0, 64, 2)),
    "differences": (differences, (MASKS["window"], 9, 3)),
    "counts": (picture._log_counts, (MASKS["window"], 9, 3)),
    "gate": (generated._last_gate_map, (8, 2, 1)),
    "forget gate": (generated.forget_map, (8, 2, 1)),
    "retained": (chunks._retained, (Config(tokens=5, heads=2, d_model=8, forgetting="on"),)),
    "story": (story._arrays, ()),
    "projections": (generated.projections, ("independent", 8, 4, 1)),
    "identity": (generated.projections, ("identity", 8, 4, 1)),
    "constructed": (generated.roles, (16, 2, 8, 1, 8, 1)),
    "projected": (generated._last, (SMALL,)),
    "case": (case._last, (SMALL, 6, 6)),
    "recording": (shipped.recording, ("two-layers",)),
    "training": (trainings.course, ("majority",)),
    "trained": (trainings.recording, ("majority", -1)),
    "untrained": (training._initial_course, (RECIPE,)),
    "picture": (training._picture, (COURSE.recipe, COURSE.nearest_frame(-1), COURSE.nearest_frame(0))),
    "usual": (training._usual, (COURSE,)),
    "without heads": (training._probe_heads, (COURSE, ((0, 1),), "zero")),
    "said": (training._forward_sequence, (COURSE, (0, 1, 2, 3), (), "zero")),
}


@contextmanager
def another_dtype() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def called_in(context: Callable) -> Callable[[Callable], object]:
    def within(call: Callable) -> object:
        with context():
            return call()

    return within


def mapped_calls(transform: Callable) -> Callable[[Callable], object]:
    """A call in a function that is mapped, differentiated or traced."""

    def within(call: Callable) -> object:
        def body(x: Tensor) -> Tensor:
            call()
            return x.sum()

        return transform(body)(torch.ones(2, 2))

    return within


MODES: dict[str, Callable[[Callable], object]] = {
    "fake": called_in(FakeTensorMode),
    "meta": called_in(lambda: torch.device("meta")),
    "inference": called_in(torch.inference_mode),
    "dtype": called_in(another_dtype),
    "vmap": mapped_calls(torch.vmap),
    "grad": mapped_calls(torch.func.grad),
    "functionalize": mapped_calls(torch.func.functionalize),
    "traced": mapped_calls(make_fx),
    "traced fake": mapped_calls(lambda body: make_fx(body, tracing_mode="fake")),
}


def tensors(found: object) -> list[Tensor]:
    """All that a kept thing is made of."""
    if isinstance(found, Tensor):
        return [found]
    parts = (
        found
        if isinstance(found, tuple)
        else list(found.values())
        if isinstance(found, dict)
        else [getattr(found, f.name) for f in fields(found)]
        if _is_frozen_result(found)
        else []
    )
    return [tensor for part in parts for tensor in tensors(part)]


def _is_frozen_result(found: object) -> bool:
    return is_dataclass(found) and not isinstance(found, (Config, type))


@contextmanager
def naming(case: object) -> Iterator[None]:
    """A failure within it names the case."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in the case of {case}")
        raise


def clear_caches() -> None:
    for cached, _ in KEPT.values():
        cached.cache_clear()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_made_in_a_mode_is_of_use_after_it(mode):
    for name, (make, given) in KEPT.items():
        with naming(name):
            clear_caches()
            expected = tensors(make(*given))
            clear_caches()
            MODES[mode](lambda make=make, given=given: make(*given))
            found = tensors(make(*given))
            assert len(found) == len(expected) >= 1
            for one, other in zip(found, expected, strict=True):
                assert type(one) is Tensor and one.device == CPU and one.is_inference() == other.is_inference()
                torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("mode", MODES)
def test_a_call_is_right_after_one_in_a_mode(mode):
    query = torch.ones(2, 4, 8)
    for options in ({"is_causal": True}, {"attn_mask": torch.ones(4, 4).tril().bool()}, {}):
        with naming(options):
            clear_caches()
            MODES[mode](lambda options=options: call_of_ones(options))
            found = scaled_dot_product_attention(query, query, query, **options)
            expected = torch.nn.functional.scaled_dot_product_attention(query, query, query, **options)
            torch.testing.assert_close(found.output, expected)
            leaf = query.clone().requires_grad_()
            (found.weights.clone() * (leaf @ leaf.mT)).sum().backward()
            assert leaf.grad is not None and leaf.grad.isfinite().all()


def call_of_ones(options: dict[str, Any]) -> None:
    with suppress(Exception):  # some modes are not for this function, and fail as they say
        made = torch.ones(2, 4, 8)
        scaled_dot_product_attention(made, made, made, **options)


def test_fake_tensors_have_the_shapes_of_real_ones():
    """Also once real ones were there, and with nothing left behind for the next."""
    for n, options, inside in product((16, 1024), ({"is_causal": True}, {"mask": True}, {}), (False, True, False)):
        with naming((n, options)), FakeTensorMode() if inside else torch.no_grad():
            query = torch.ones(2, n, 8)
            mask = {"attn_mask": torch.ones(n, n, dtype=torch.bool)} if "mask" in options else options
            found = scaled_dot_product_attention(query, query, query, **mask)
            assert found.output.shape == (2, n, 8) and found.weights.shape == (2, n, n)
            assert (type(found.output) is Tensor) == (not inside)


@pytest.mark.parametrize("options", [{"is_causal": True}, {}], ids=str)
def test_a_call_can_be_exported(options):
    class Module(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return scaled_dot_product_attention(x, x, x, **options).output

    x = torch.randn(2, 16, 8, generator=torch.Generator().manual_seed(0))
    program = torch.export.export(Module(), (x,), strict=False).module()
    torch.testing.assert_close(program(x), Module()(x))


def test_one_link_is_one_picture_whatever_the_default_dtype():
    def picture_tensors(config: Config) -> list[Tensor]:
        found = attention.trace(config)
        return [found.x, found.scores, found.bias, found.weights, found.output]

    for name, positions in product(INPUTS, POSITIONS):
        config = replace(SMALL, input=name, positions=positions)
        expected = picture_tensors(config)
        generated._last.cache_clear()
        with naming((name, positions)), another_dtype():
            torch.testing.assert_close(picture_tensors(config), expected, rtol=0, atol=0)


@pytest.mark.parametrize("projections", ["independent", "identity"])
def test_a_pass_is_one_whatever_the_default_dtype(projections):
    config = replace(SMALL, projections=projections, positions="sinusoidal", keys=5, d_v=3)
    expected = values.values(config)
    generated.projections.cache_clear()
    with another_dtype():
        torch.testing.assert_close(values.values(config), expected, rtol=0, atol=0)


def test_projections_take_gradients_after_a_trace():
    generated.projections.cache_clear()
    attention.trace(SMALL)
    x = torch.ones(1, 8, requires_grad=True)
    (x @ generated.maps(SMALL).query).sum().backward()
    assert x.grad is not None and x.grad.abs().sum() > 0


def test_what_nobody_asks_for_any_more_is_let_go_of():
    now = [0.0]
    idle, (used, given) = IdleTensors(lambda: now[0]), KEPT["until"]
    left, other = KEPT["cells"]
    used(*given)
    left(*other)
    for at in (10.0, 20.0, 30.0):
        now[0] = at
        idle.expire(at - 15)
        used(*given)
    idle.expire(29)
    assert used.cache_info().currsize and not left.cache_info().currsize
    assert left(*other).numel() and left.cache_info().currsize


def test_what_has_to_last_is_never_let_go_of():
    found = yardstick("cpu", 1)
    idle = IdleTensors()
    for _ in range(3):
        idle.expire(math.inf)
    assert yardstick("cpu", 1) is found


def modules() -> Iterator[Any]:
    for module in pkgutil.walk_packages(attention.__path__, "attention."):
        yield importlib.import_module(module.name)


def holds_tensors(hint: Any) -> bool:
    """Does a value of this type hold a tensor, as far as its annotation says?"""
    if getattr(hint, "array_type", None) is Tensor or (isinstance(hint, type) and issubclass(hint, Tensor)):
        return True
    if get_origin(hint) is Callable:
        return False
    inner = get_args(hint)
    if isinstance(hint, type) and not inner and (is_dataclass(hint) or hasattr(hint, "_fields")):
        inner = tuple(get_type_hints(hint).values())
    return any(holds_tensors(part) for part in inner)


def test_every_cache_of_tensors_is_one_of_these():
    """So that the laws above are asked of all."""
    caches = {cache for module in modules() for cache in vars(module).values() if isinstance(cache, _lru_cache_wrapper)}
    holding = {cache for cache in caches if holds_tensors(get_type_hints(cache.__wrapped__).get("return"))}
    assert holding == {make for make, _ in KEPT.values()}
