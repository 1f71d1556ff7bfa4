"""What each head of a model attends to over 200 short texts, as one text rarely shows what a head does.

The texts are in `short_texts.txt`, one a line, made for this purpose. The surveys of MiniLM and SmolLM2 ship;
`python -m attention.analysis.head_survey` makes them again. To survey another model, call `survey_heads`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.analysis.head_roles import roles
from attention.models.loading import Model
from attention.models.packages import ModelError
from attention.models.parts import Part, square, weights
from attention.models.run import run
from attention.summary import summarize

HERE = Path(__file__).parent
TEXTS = HERE / "short_texts.txt"
FARTHEST = 12  # tokens; larger distances are counted together
KINDS = (
    "first",
    "previous",
    "same",
    "mark",
    "punctuation",
    "subword",
    "other",
)  # of the key with a row's largest weight
GROUPS = ("strongest", "middle", "weakest")  # deciles of the texts, by how strongly a head picks out a token
EACH = 3  # texts that are kept of each of these deciles
SHIPPED = {"MiniLM (a BERT, 6 layers)": "minilm", "SmolLM2-135M-Instruct (a Llama, 30 layers)": "smollm2"}
SCALE = 255  # weights are kept as bytes
JOINED = ", "  # between the two kinds of keys in the name of a role


class Example(NamedTuple):
    """A text as a head reads it: its tokens, the position of the query, and the weights of that query on all tokens."""

    tokens: tuple[str, ...]
    query: int
    weights: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class HeadSurvey:
    """What each head (h) of each layer (l) attends to over many texts.

    `distances`: the mean share of the weight by distance, query minus key, from -FARTHEST to FARTHEST; those at the ends include
    all that are farther. `kinds`: the share of queries whose largest weight is on a token of each of KINDS; the first kind that
    fits counts. `names`, `counts`: in how many texts the head has each role. `texts`, `queries`, `rows`: examples of each of
    GROUPS, with weights in bytes. `tokens`: those of all texts.
    """

    tokens: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    distances: Float[np.ndarray, "l h d"]
    kinds: Float[np.ndarray, "l h s"]
    counts: Int[np.ndarray, "l h r"]
    texts: Int[np.ndarray, "l h x"]
    queries: Int[np.ndarray, "l h x"]
    rows: Int[np.ndarray, "l h x n"]

    @property
    def bytes(self) -> int:
        """Bytes that its numbers take in memory."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def __repr__(self) -> str:
        return summarize(self, texts=len(self.tokens), layers=len(self.kinds), heads=self.kinds.shape[1])

    def role_counts(self, layer: int, head: int) -> list[tuple[str, int]]:
        """Returns the roles of a head with the number of texts in which it has each, the most frequent first."""
        found = zip(self.names, self.counts[layer, head].tolist(), strict=True)
        return sorted(((name, many) for name, many in found if many), key=lambda each: -each[1])

    def count(self, layer: int, head: int, role: str) -> int:
        """Returns in how many texts a head has a role, alone or with another: “first token, next” counts for “first token”."""
        wanted = set(role.split(JOINED))
        return sum(many for name, many in self.role_counts(layer, head) if wanted <= set(name.split(JOINED)))

    def examples(self, layer: int, head: int) -> dict[str, list[Example]]:
        """Returns texts from the strongest, middle and weakest tenth of all texts, each with one query."""
        found = []
        for at in range(len(GROUPS) * EACH):
            tokens = self.tokens[self.texts[layer, head, at]]
            row = self.rows[layer, head, at, : len(tokens)] / SCALE
            found.append(Example(tokens, int(self.queries[layer, head, at]), tuple(row.tolist())))
        return {name: found[EACH * at : EACH * (at + 1)] for at, name in enumerate(GROUPS)}


def short_texts() -> list[str]:
    """Returns the texts."""
    return TEXTS.read_text("utf-8").splitlines()


def survey_heads(
    model: Model, texts: Sequence[str] | None = None, progress: Callable[[float], object] = lambda share: None
) -> HeadSurvey:
    """Runs a model on each text and returns what its heads attend to.

    Args:
        model: one that reads texts and has one kind of self-attention, as encoders and decoders have.
        texts: at least 10; default: those that ship.
        progress: called with the share that is done; an exception that it raises ends the work.

    Raises:
        ModelError: if the model can't be run, or has several parts or a part without pairs of queries and keys.
    """
    texts = short_texts() if texts is None else list(texts)
    net, parts = replace(model, language_model=None), []
    for done, text in enumerate(texts, 1):
        found = run(net, text, "", None, lambda share: None).parts
        if len(found) != 1 or next(iter(found.values())).stack.q is None:
            raise ModelError("Heads are surveyed in models with one kind of self-attention, with queries and keys.")
        parts.append(_summarize_part(next(iter(found.values()))))
        progress(done / len(texts))
    return _join(parts)


@dataclass(frozen=True, eq=False)
class _TextSummary:
    """What the heads do on one text. `peaks`: each query's largest weight on a token that is neither the first nor itself."""

    tokens: tuple[str, ...]
    distances: Float[Tensor, "l h d"]
    kinds: Float[Tensor, "l h s"]
    roles: tuple[tuple[str, ...], ...]
    strength: Float[Tensor, "l h"]
    queries: Int[Tensor, "l h"]
    rows: Float[Tensor, "l h n"]


def _summarize_part(part: Part) -> _TextSummary:
    stack, tokens = part.stack, part.queries.texts
    many, mask = len(tokens), square(stack, 0)
    every = torch.stack([weights(stack, at) for at in range(len(stack.q if stack.q is not None else ()))])
    at = torch.arange(many)
    apart = (at[:, None] - at).clamp(-FARTHEST, FARTHEST) + FARTHEST
    distances = torch.zeros(*every.shape[:2], 2 * FARTHEST + 1)
    distances.index_add_(2, apart.flatten(), every.flatten(2) / many)
    kinds = torch.nn.functional.one_hot(_kinds(part), len(KINDS)).float()  # (q k s)
    best = every[:, :, 1:].argmax(-1)  # the first query of a decoder has no choice
    shares = kinds[torch.arange(1, many), best].mean(2)
    open_keys = mask.clone()
    open_keys[:, 0], open_keys[at, at] = False, False
    peaks = (every * open_keys).amax(-1)
    queries = peaks.argmax(-1)
    rows = every.gather(2, queries[..., None, None].expand(-1, -1, 1, many))[:, :, 0]
    named = tuple(tuple(role.name if role else "" for role in roles(layer, mask, tokens)) for layer in every)
    return _TextSummary(tokens, distances, shares, named, peaks.mean(-1), queries, rows)


def _kinds(part: Part) -> Int[Tensor, "q k"]:
    """The kind of each key, seen from each query: the number of the first of KINDS that fits."""
    labels = part.queries
    many, at = len(labels), torch.arange(len(labels))
    pieces = [before == after for before, after in zip((-1, *labels.words), labels.words, strict=False)]
    signs = [not any(each.isalnum() for each in text) for text in labels.texts]
    alike = torch.tensor([[one == other for other in labels.texts] for one in labels.texts])
    found = torch.full((many, many), KINDS.index("other"))
    for name, fits in (
        ("subword", torch.tensor(pieces).expand(many, -1)),
        ("punctuation", torch.tensor(signs).expand(many, -1)),
        ("mark", torch.tensor(labels.special).expand(many, -1)),
        ("same", alike),
        ("previous", at[:, None] - at == 1),
        ("first", (at == 0).expand(many, -1)),
    ):
        found[fits] = KINDS.index(name)
    return found


def _join(reads: Sequence[_TextSummary]) -> HeadSurvey:
    names = tuple(sorted({name for read in reads for layer in read.roles for name in layer if name}))
    counts = [[[layer[head] for layer in (read.roles[at] for read in reads)] for head in range(len(reads[0].roles[0]))]
              for at in range(len(reads[0].roles))]  # fmt: skip
    order = torch.stack([read.strength for read in reads], -1).argsort(dim=-1, descending=True, stable=True)
    chosen = order[..., [*_places(len(reads))]]
    longest = max(len(read.tokens) for read in reads)
    rows = torch.stack([torch.nn.functional.pad(read.rows, (0, longest - len(read.tokens))) for read in reads], 2)
    queries = torch.stack([read.queries for read in reads], 2)
    kept = rows.gather(2, chosen[..., None].expand(*chosen.shape, longest))
    return HeadSurvey(
        tuple(read.tokens for read in reads),
        names,
        torch.stack([read.distances for read in reads]).mean(0).numpy().astype(np.float32),
        torch.stack([read.kinds for read in reads]).mean(0).numpy().astype(np.float32),
        np.array([[[row.count(name) for name in names] for row in layer] for layer in counts]),
        chosen.numpy(),
        queries.gather(2, chosen).numpy(),
        (kept * SCALE).round().long().numpy(),
    )


def _places(texts: int) -> Iterator[int]:
    """The places of the examples in the order of strength: in the middle of the first, the middle and the last tenth."""
    tenth = max(EACH, texts // 10)
    for start in (0, (texts - tenth) // 2, texts - tenth):
        yield from (start + round(at * (tenth - 1) / (EACH - 1)) for at in range(EACH))


def write_survey(survey: HeadSurvey) -> bytes:
    """Returns a survey as the bytes of a file."""
    said = json.dumps({"tokens": survey.tokens, "names": survey.names}).encode()
    arrays: dict[str, Any] = {
        "said": np.frombuffer(said, np.uint8),
        "distances": survey.distances.astype(np.float16),
        "kinds": survey.kinds.astype(np.float16),
        **{name: getattr(survey, name).astype(np.uint8) for name in ("texts", "queries", "rows")},
        "counts": survey.counts.astype(np.uint16),
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def read_survey(data: bytes) -> HeadSurvey:
    """Returns the survey of a file that `write_survey` made."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        found = {name: file[name] for name in file.files}
    said = json.loads(found.pop("said").tobytes())
    floats = {name: found.pop(name).astype(np.float32) for name in ("distances", "kinds")}
    whole = {name: each.astype(np.int64) for name, each in found.items()}
    return HeadSurvey(tuple(map(tuple, said["tokens"])), tuple(said["names"]), **floats, **whole)


@lru_cache(maxsize=len(SHIPPED))
def shipped_survey(model: str) -> HeadSurvey | None:
    """Returns the survey of a model, by its name in the catalogue; None if none ships."""
    if model not in SHIPPED:
        return None
    return read_survey(survey_path(model).read_bytes())


def survey_path(model: str) -> Path:
    """Returns the path of the survey of a model that ships."""
    return HERE / f"survey_{SHIPPED[model]}.npz"


if __name__ == "__main__":
    from attention.models.catalogue import PACKAGE, PACKAGES, Offer
    from attention.models.loading import load

    torch.set_num_threads(1)
    for title in SHIPPED:
        offer = Offer(title, PACKAGES[title][2], PACKAGE)
        data = write_survey(survey_heads(load(offer, 10**9, lambda size: True, lambda said, share: None)))
        survey_path(title).write_bytes(data)
        print(survey_path(title), len(data))
