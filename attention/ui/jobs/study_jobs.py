"""Jobs that change a language model while it runs: heads off, attribution, patching (attention/interventions)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int
from PIL import Image
from torch import Tensor

from attention.interventions import ablation, attribution, patching
from attention.interventions.predictions import Predictions, texts_together
from attention.interventions.projections import Head, UnsupportedError
from attention.interventions.stream import Stream
from attention.models.catalogue import Offer
from attention.models.inputs import model_inputs
from attention.models.linear_hooks import Following, each_value, follow_model
from attention.models.loading import Model
from attention.models.packages import ModelError
from attention.models.words import find_token, logit_bytes, token_text
from attention.ui.jobs.model_jobs import LoadedModelJob
from attention.ui.text import jobs as words

SHOWN = 12  # tokens whose probabilities are compared
COPIES = 4  # of the logits at a time


class Study(NamedTuple):
    """What is changed in a model on a text: as `model_jobs.Ask`, and the heads that are off, how, and what is measured.

    `at`: the position after which the tokens `answer` and `against` are compared; "": the two most probable ones.
    """

    offer: Offer
    text: str
    second: str
    picture: bytes
    most: int
    download: bool
    heads: tuple[Head, ...]
    how: str
    other: str
    answer: str
    against: str
    at: int


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of a study: the ids and labels of the text, those of the other one, and the two that are compared."""

    ids: Int[Tensor, " n"]
    labels: tuple[str, ...]
    other: Int[Tensor, " m"] | None
    answer: int
    against: int
    names: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Switched:
    """The effect of heads that are off: the result, its tokens, and texts and probabilities (before, after) of some."""

    found: ablation.Ablation
    tokens: Tokens
    chances: tuple[tuple[str, float, float], ...]


@dataclass(eq=False)
class StudyJob(LoadedModelJob):
    """A study of a language model; each kind implements `study`."""

    settings: Study

    def use(self, model: Model, text: str, second: str, image: Image.Image | None) -> None:
        """Runs the study; raises ModelError if the model can't be changed in this way."""
        if model.language_model is None or model.fills:
            raise ModelError(words.NO_NEXT_TOKEN)
        given = model_inputs(model, text, second, image)
        if not self._reserve((COPIES + texts_together(len(given.reads))) * logit_bytes(model, given)):
            raise ModelError(words.MEMORY_OF_STUDY)
        ids, settings = given.tensors["input_ids"][0], self.settings
        other = None
        if settings.how == "resample":
            other = model_inputs(model, settings.other, "", None).tensors["input_ids"][0]
        try:
            self.study(model, ids, given.reads.texts, other)
        except (UnsupportedError, ValueError) as error:
            raise ModelError(str(error)) from error

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Computes the result; ValueError is shown to the user."""
        raise NotImplementedError

    def _tokens(
        self,
        model: Model,
        ids: Int[Tensor, " n"],
        labels: tuple[str, ...],
        other: Int[Tensor, " m"] | None,
        row: Float[Tensor, " v"],
    ) -> Tokens:
        """The tokens that are compared, by the logits with all heads."""
        answer = find_token(model, self.settings.answer, row, 0)
        rest = row.clone()
        rest[answer] = -torch.inf
        against = find_token(model, self.settings.against, rest, 0)
        names = token_text(model.tokenizer, answer), token_text(model.tokenizer, against)
        return Tokens(ids, labels, other, answer, against, names)


@dataclass(eq=False)
class SwitchJob(StudyJob):
    """Some heads are switched off together. `found`: the effect. `before`: what the model predicts with all heads."""

    before: Predictions | None = field(default=None, kw_only=True)
    found: Switched | None = field(default=None, init=False)

    kind: ClassVar[str] = "heads off"

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Runs the model without some heads, and with all unless that is known."""
        of = self.settings
        at = min(of.at, len(ids) - 1)
        found = ablation.ablate_heads(model.language_model, ids, of.heads, of.how, other, at, self.before)
        tokens = self._tokens(model, ids, labels, other, found.logits[0])
        chances = found.probabilities
        best = chances.amax(0).topk(min(SHOWN, chances.shape[1])).indices.tolist()
        listed = dict.fromkeys([tokens.answer, tokens.against, *best])
        rows = tuple((token_text(model.tokenizer, each), *chances[:, each].tolist()) for each in listed)
        self.found = Switched(found, tokens, rows)


@dataclass(eq=False)
class WaysJob(StudyJob):
    """One head is switched off in every way. `found`: changes of logit difference, probability and mean loss, by way.

    Without the way that needs a longer other text, if that is too short. `before`: what the model predicts with all heads.
    """

    before: Predictions | None = field(default=None, kw_only=True)
    found: dict[str, tuple[float, float, float]] = field(default_factory=dict, init=False)
    tokens: Tokens | None = field(default=None, init=False)

    kind: ClassVar[str] = "one head in every way"

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Runs the model once per way, and with all heads unless that is known."""
        of, found = self.settings, dict[str, tuple[float, float, float]]()
        at, before = min(of.at, len(ids) - 1), self.before
        for done, how in enumerate(ablation.WAYS, 1):
            if how == "resample" and (other is None or len(other) < len(ids)):
                continue
            effect = ablation.ablate_heads(model.language_model, ids, of.heads, how, other, at, before)
            tokens = self.tokens = self._tokens(model, ids, labels, other, effect.logits[0])
            chance = effect.probabilities[:, tokens.answer]
            logit, loss = effect.logit_change(tokens.answer, tokens.against), effect.after.loss - effect.before.loss
            found[how], before = (logit, float(chance[1] - chance[0]), loss), effect.before
            self._on_pass_progress(done / len(ablation.WAYS))
        self.found = found


@dataclass(eq=False)
class EveryHeadJob(StudyJob):
    """Each head is switched off in turn. `found`: what its absence costs; `tokens`: those that are compared."""

    found: ablation.HeadCosts | None = field(default=None, init=False)
    tokens: Tokens | None = field(default=None, init=False)

    kind: ClassVar[str] = "all heads in turn"

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Runs the model once per head."""
        of = self.settings
        at = ablation.place_in(ids, min(of.at, len(ids) - 1))
        row = ablation.run_logits(model.language_model, ids)[at]
        self.tokens = self._tokens(model, ids, labels, other, row)
        self.found = ablation.measure_every_head(
            model.language_model,
            ids,
            self.tokens.answer,
            self.tokens.against,
            of.how,
            other,
            at,
            self._on_pass_progress,
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """What each part adds to the answer, the lens, and what the `head` adds per token (empty if it is not known)."""

    found: attribution.Attribution
    lens: attribution.Lens
    lens_texts: tuple[str, ...]
    sources: tuple[float, ...]
    head: Head
    tokens: Tokens


@dataclass(eq=False)
class PartsJob(StudyJob):
    """Direct logit attribution and the logit lens. `found`: the result, with the tokens of the one head of the settings."""

    found: Parts | None = field(default=None, init=False)

    kind: ClassVar[str] = "logit attribution"

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Runs the model once."""
        with warnings.catch_warnings(), follow_model(model.net, lambda count: None) as seen:
            warnings.simplefilter("ignore")  # layers that are not seen have no tokens
            stream = attribution.read_stream(model.language_model, ids)
        at = ablation.place_in(ids, min(self.settings.at, len(ids) - 1))
        tokens = self._tokens(model, ids, labels, other, stream.logits[at])
        found = attribution.attribute_stream(stream, tokens.answer, tokens.against, at)
        lens = attribution.lens_of(stream, at)
        texts = tuple(token_text(model.tokenizer, each) for each in lens.ids[:, 0].tolist())
        head = self.settings.heads[0] if self.settings.heads else (-1, -1)
        self.found = Parts(found, lens, texts, self._sources(stream, seen, tokens, head, at), head, tokens)

    def _sources(self, stream: Stream, seen: Following, tokens: Tokens, place: Head, at: int) -> tuple[float, ...]:
        """What a head adds per token; empty if there is none, or its weights and values were not seen."""
        layers, calls = sorted(stream.projections), list(seen.calls.values())
        layer, head = place
        if layer not in layers or head >= stream.projections[layer].heads or len(calls) != len(layers):
            return ()
        call = calls[layers.index(layer)]
        weights, values = call.weights()[head], each_value(call)[head]
        answer, against = tokens.answer, tokens.against
        return tuple(attribution.attribute_sources(stream, layer, head, weights, values, answer, against, at).tolist())


@dataclass(eq=False)
class PatchJob(StudyJob):
    """Patching: the text is the clean one, `other` the corrupted one, `how` what is patched. `found`: the result."""

    found: patching.Patching | None = field(default=None, init=False)
    tokens: Tokens | None = field(default=None, init=False)

    kind: ClassVar[str] = "patching"

    def study(
        self, model: Model, ids: Int[Tensor, " n"], labels: tuple[str, ...], other: Int[Tensor, " m"] | None
    ) -> None:
        """Runs the model once per head, or once per layer and position."""
        corrupted = model_inputs(model, self.settings.other, "", None).tensors["input_ids"][0]
        self.tokens = self._tokens(model, ids, labels, corrupted, ablation.run_logits(model.language_model, ids)[-1])
        patch = patching.patch_heads if self.settings.how == "heads" else patching.patch_residual
        tokens, hear = self.tokens, self._on_pass_progress
        self.found = patch(model.language_model, ids, corrupted, tokens.answer, tokens.against, progress=hear)
