"""The outputs of a model computed in other ways, which must be the same but for rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.interventions.forward import Forward, take_outputs

PADDING = 3  # tokens before the text
KERNELS = "eager", "sdpa"


class SkippedError(Exception):
    """This model can't compute its outputs in this way; the message is the reason."""


@dataclass(frozen=True)
class Variant:
    """Another way to compute the outputs. `change`: the largest difference of each token's output, None if it was skipped.

    Differences up to `tolerance` are rounding. `skipped`: why it was not computed.
    """

    name: str
    change: Float[Tensor, " n"] | None
    tolerance: float
    skipped: str = ""

    @property
    def differs(self) -> bool:
        """Whether an output differs by more than rounding, or is not a number."""
        return self.change is not None and not bool((self.change <= self.tolerance).all())

    def __str__(self) -> str:
        if self.change is None:
            return f"{self.name}: not compared. {self.skipped}"
        worst = int(self.change.nan_to_num(torch.inf).argmax())
        verdict = "DIFFERENT" if self.differs else "same"
        largest = f"largest difference {self.change[worst]:.3g} at output {worst}"
        return f"{self.name}: {verdict} ({largest}, tolerance {self.tolerance:.3g})"


def other_kernel(forward: Forward, ids: Int[Tensor, " n"]) -> Float[Tensor, "n v"]:
    """With the eager implementation of transformers instead of SDPA, or the other way round."""
    model = forward.model
    used = getattr(getattr(model, "config", None), "_attn_implementation", None)
    if used is None or not hasattr(model, "set_attn_implementation"):
        raise SkippedError("It is not a model of transformers that has several implementations.")
    other = KERNELS[used == KERNELS[0]]
    try:
        model.set_attn_implementation(other)
        if model.config._attn_implementation != other:
            raise SkippedError(f"It can't be switched from {used} to {other}.")
        return forward.outputs(ids[None])[0]
    except (ValueError, ImportError, NotImplementedError) as error:
        raise SkippedError(f"It has no {other} implementation.") from error
    finally:
        model.set_attn_implementation(used)


def run_cached(forward: Forward, ids: Int[Tensor, " n"]) -> Float[Tensor, "n v"]:
    """Token by token, with a cache of keys and values."""
    if not forward.takes("past_key_values"):
        raise SkippedError("Its forward has no argument past_key_values.")
    memory, rows = None, []
    for token in ids:
        result = forward(token[None, None], past_key_values=memory, use_cache=True)
        memory = getattr(result, "past_key_values", None)
        if memory is None:
            raise SkippedError("It returns no cache of keys and values.")
        rows.append(take_outputs(result, token[None, None])[0])
    return torch.cat(rows)


def pad_left(forward: Forward, ids: Int[Tensor, " n"]) -> Float[Tensor, "n v"]:
    """With padding on the left, an attention mask, and positions that don't count it, as `generate` gives them."""
    mask_name = "decoder_attention_mask" if forward.ids_name == "decoder_input_ids" else "attention_mask"
    if not forward.takes(mask_name):
        raise SkippedError(f"Its forward has no argument {mask_name}.")
    filler = getattr(getattr(forward.model, "config", None), "pad_token_id", None) or 0
    whole = torch.cat([ids.new_full((PADDING,), filler), ids])[None]
    mask = (torch.arange(whole.shape[1], device=ids.device) >= PADDING).long()[None]
    more = {mask_name: mask}
    if "position_ids" in forward.named_parameters:
        more["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
    return forward.outputs(whole, **more)[0, PADDING:]


VARIANTS: dict[str, Callable[[Forward, Int[Tensor, " n"]], Float[Tensor, "n v"]]] = {
    "the other kernel": other_kernel,
    "cached": run_cached,
    "padded left": pad_left,
}


def compare_outputs(
    forward: Forward, ids: Int[Tensor, " n"], base: Float[Tensor, "n v"], tolerance: float, name: str
) -> Variant:
    """Compares one way of computing the outputs with the `base`."""
    try:
        found = VARIANTS[name](forward, ids)
    except SkippedError as reason:
        return Variant(name, None, tolerance, str(reason))
    except Exception as error:  # a model may fail in any way, and the other checks are still of use
        first = next(iter(str(error).splitlines()), "")[:200]
        return Variant(name, None, tolerance, f"It failed with {type(error).__name__}: {first}")
    return Variant(name, difference(found, base), tolerance)


def difference(one: Float[Tensor, "*b n v"], other: Float[Tensor, "*#b n v"]) -> Float[Tensor, "*b n"]:
    """The largest difference of each output in float64; what is infinite in both, as masked logits are, is the same."""
    apart = (one.double() - other.double()).abs()
    return apart.masked_fill(one == other, 0).amax(-1)
