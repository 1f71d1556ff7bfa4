"""What the Masks page asks."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attention.analysis.blind_rows import Finding
from attention.analysis.blind_rows import audit as every_path
from attention.analysis.mask_effect import hidden
from attention.analysis.mask_gallery import Exhibit, of_table
from attention.analysis.mask_gallery import exhibit as one_mask
from attention.analysis.mask_gallery import gallery as every_mask
from attention.brought.nearest_mask import Nearest
from attention.brought.nearest_mask import nearest as nearest_rule
from attention.config import Config
from attention.machine.lanes import Work
from attention.sources.origins import has_own_mask, mask_name, square
from attention.ui.compute.heads import traced, traced_by_rule
from attention.ui.compute.owner import KEPT, PASSES


@KEPT
def gallery(tokens: int, span: int, layers: int, keys: int) -> Work[list[Exhibit]]:
    """Every mask at this length and span, with its reach; `keys`: those of another sequence, 0 of the same."""
    return PASSES.submit(every_mask, tokens, span, layers, keys)


@KEPT
def exhibit(config: Config, layers: int) -> Work[Exhibit]:
    """The mask in use, as the gallery shows the others; give `config.tensors`."""
    sizes = config.tokens, config.span, layers, other(config)
    if has_own_mask(config.source):
        return PASSES.submit(lambda: one_mask(mask_name(config), of_table(_table(config)), *sizes))
    return PASSES.submit(one_mask, mask_name(config), config.rule, *sizes)


@KEPT
def nearest(config: Config) -> Work[Nearest]:
    """The rule that is nearest to the mask that a source has of its own; give `config.tensors`."""
    return PASSES.submit(lambda: nearest_rule(_table(config)))


def _table(config: Config) -> Tensor:
    return square(config, config.tokens, config.columns)


def other(config: Config) -> int:
    """How many keys of another sequence there are; 0 where a sequence looks at itself."""
    return config.columns if config.crosses else 0


@KEPT
def lost(config: Config, base: Config) -> Work[Tensor]:
    """The weight that each query of each head has under a baseline on keys that the mask hides; give `.tensors` of both."""
    return PASSES.after(traced_by_rule(base), lambda before: hidden(before, _table(config)))


@KEPT
def gained(config: Config, base: Config) -> Work[Tensor]:
    """The weight that each query of each head has on keys that the baseline hides; give `.tensors` of both."""
    return traced(config, lambda after: hidden(after, base.rule.square(base.tokens, base.columns, base.span)))


@KEPT
def audit(config: Config, head: int) -> Work[list[Finding]]:
    """What each path gives to rows that see nothing, for one head; give `config.tensors`."""
    return traced(config, lambda found: every_path(replace(found, config=replace(config, head=head))))
