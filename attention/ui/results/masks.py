"""Results of the Masks page."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attention.analysis.fully_masked_rows import Finding
from attention.analysis.fully_masked_rows import audit as every_path
from attention.analysis.mask_difference import MaskDifference, mask_difference
from attention.analysis.mask_effect import hidden_weight
from attention.analysis.mask_gallery import Exhibit, of_table
from attention.analysis.mask_gallery import exhibit as one_mask
from attention.analysis.mask_gallery import gallery as every_mask
from attention.charts import heatmap
from attention.config import Config
from attention.imported.nearest_mask import Nearest
from attention.imported.nearest_mask import nearest as nearest_rule
from attention.masks import Rule
from attention.runtime.executors import Task
from attention.sources.providers import has_own_mask, mask_name, square
from attention.ui.results.heads import after_trace, traced_by_rule
from attention.ui.results.shared import FORWARD, RESULTS


@RESULTS
def gallery(tokens: int, span: int, layers: int, keys: int) -> Task[list[Exhibit]]:
    """Every mask at this length and span, with its reach. `keys`: keys of another sequence, 0 for self-attention."""
    return FORWARD.submit(every_mask, tokens, span, layers, keys)


@RESULTS
def exhibit(config: Config, layers: int) -> Task[Exhibit]:
    """The mask in use, in the form of the gallery."""
    sizes = config.tokens, config.span, layers, other(config)
    return FORWARD.submit(lambda: one_mask(mask_name(config), _rule(config), *sizes))


@RESULTS
def difference(a: Config, b: Config) -> Task[MaskDifference]:
    """Which pairs the masks in use of two configs of equal sizes both keep, and which one of them keeps alone."""
    sizes, spans = (a.tokens, a.n_keys), (a.span, b.span)
    return FORWARD.submit(lambda: mask_difference(_rule(a), _rule(b), spans, sizes, heatmap.PIXELS))


@RESULTS
def nearest(config: Config) -> Task[Nearest]:
    """The rule nearest to a source's own mask."""
    return FORWARD.submit(lambda: nearest_rule(_table(config)))


def _rule(config: Config) -> Rule:
    """The mask in use as a rule: the source's own, or the one that is set."""
    return of_table(_table(config)) if has_own_mask(config.source) else config.rule


def _table(config: Config) -> Tensor:
    return square(config, config.tokens, config.n_keys)


def other(config: Config) -> int:
    """The number of keys of another sequence; 0 for self-attention."""
    return config.n_keys if config.is_cross else 0


@RESULTS
def lost_weight(config: Config, base: Config) -> Task[Tensor]:
    """The weight that each query of each head has under the baseline on keys that the mask hides."""
    return FORWARD.then(traced_by_rule(base), lambda before: hidden_weight(before, _table(config)))


@RESULTS
def gained_weight(config: Config, base: Config) -> Task[Tensor]:
    """The weight that each query of each head has on keys that the baseline hides."""
    return after_trace(
        config, lambda after: hidden_weight(after, base.rule.square(base.tokens, base.n_keys, base.span))
    )


@RESULTS
def audit(config: Config, head: int) -> Task[list[Finding]]:
    """What each path returns for fully masked rows, for one head."""
    return after_trace(config, lambda found: every_path(replace(found, config=replace(config, head=head))))
