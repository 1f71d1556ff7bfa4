"""Questions written by users: text, options, right answer, and the string by which a link carries them.

The string is the value of the knob `ask`: fields joined by a separator, deflated, in base64url. This hides the answer from
readers of the link but does not protect it: anybody can decode it. To add a field, extend `CustomQuestion` and `Draft`, and
give `FORMAT` a new number for questions that are encoded from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from attention.knobs import KNOBS
from attention.packed_text import pack_text, unpack_text
from attention.settings import ConfigError
from attention.summary import readable

QUESTION, OPTION, OPTIONS, WHY = 300, 80, 6, 400  # characters, characters per option, options, characters
PACKED = int(KNOBS["ask"].high or 0)  # characters of an encoded question
LARGEST = 8192  # bytes of a decoded question
NO_RIGHT = -1
FORMAT, BETWEEN = "1", "\x1e"
HIDDEN = {"0": False, "1": True}
BROKEN = "The question in this link can't be read: part of it is missing or was changed. Ask for the link again."


@dataclass(frozen=True)
class CustomQuestion:
    """A question: its text, the options (none: it is open), the right one (None: none is), why, and if it hides pictures.

    Raises ConfigError if the text or an option is empty, or a text is too long or can't be displayed. Every text is one line.
    """

    text: str
    options: tuple[str, ...] = ()
    right: str | None = None
    why: str = ""
    hides: bool = True

    def __post_init__(self) -> None:
        if not self.text:
            raise ConfigError("The question is empty. Write a question.")
        _check("The question", self.text, QUESTION)
        for number, option in enumerate(self.options, 1):
            _check(f"Answer {number}", option, OPTION)
        _check("The explanation", self.why, WHY)
        _check_options(self.options)
        if self.right is not None and self.right not in self.options:
            raise ConfigError("The right answer is not one of the answers. Choose it again.")


@dataclass(frozen=True)
class Draft:
    """A question as it is being written, which need not be valid yet: `right` is the index of an answer, or NO_RIGHT."""

    text: str = ""
    answers: tuple[str, ...] = ("",) * OPTIONS
    right: int = NO_RIGHT
    why: str = ""
    hides: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """The answers, without empty ones."""
        return tuple(filter(None, map(_line, self.answers)))

    @property
    def is_started(self) -> bool:
        """Whether any text has been written."""
        return bool(self.text.strip() or self.options or self.why.strip())

    @property
    def right_option(self) -> str | None:
        """The right answer; None if none is marked, or an empty one."""
        return (_line(self.answers[self.right]) or None) if 0 <= self.right < len(self.answers) else None

    def to_question(self) -> CustomQuestion:
        """The question; raises ConfigError if the draft is not a valid one yet."""
        return CustomQuestion(_line(self.text), self.options, self.right_option, _line(self.why), self.hides)

    @classmethod
    def of(cls, asked: CustomQuestion) -> Draft:
        """The draft of a question."""
        right = NO_RIGHT if asked.right is None else asked.options.index(asked.right)
        return cls(asked.text, (*asked.options, *("",) * (OPTIONS - len(asked.options))), right, asked.why, asked.hides)


def encode(asked: CustomQuestion) -> str:
    """Encodes a question in letters, digits, - and _; raises ConfigError if the result is too long."""
    right = str(asked.options.index(asked.right) + 1) if asked.right is not None else "0"
    parts = (FORMAT, right, str(int(asked.hides)), asked.text, asked.why, *asked.options)
    code = pack_text(BETWEEN.join(parts))
    if len(code) > PACKED:
        raise ConfigError(
            f"Encoded for a link, the question has {len(code):,} characters; at most {PACKED:,} fit. Shorten it "
            f"by about {1 - PACKED / len(code):.0%}."
        )
    return code


@lru_cache(maxsize=64)  # called several times per picture
def decode(code: str) -> CustomQuestion:
    """Decodes a question; raises ConfigError on any other text."""
    parts = _parts(code)
    if len(parts) < 5 or parts[0] != FORMAT or parts[2] not in HIDDEN:
        raise ConfigError(BROKEN)
    _, right, hides, text, why, *options = parts
    if not (right.isascii() and right.isdecimal() and len(right) == 1 and int(right) <= len(options)):
        raise ConfigError(BROKEN)
    chosen = options[int(right) - 1] if int(right) else None
    return CustomQuestion(text, tuple(options), chosen, why, HIDDEN[hides])


def _parts(code: str) -> list[str]:
    """The fields of an encoded question; raises ConfigError if they would exceed `LARGEST` bytes."""
    try:
        return unpack_text(code, LARGEST).split(BETWEEN)
    except ValueError as error:
        raise ConfigError(BROKEN) from error


def _line(text: str) -> str:
    return " ".join(text.split())


def _check(what: str, text: str, longest: int) -> None:
    """Raises ConfigError unless a text is one line, can be displayed, and has at most `longest` characters."""
    if len(text) > longest:
        raise ConfigError(
            f"{what} has {len(text):,} characters; at most {longest} fit. Shorten it by {len(text) - longest:,}."
        )
    if not readable(text) or text != _line(text):
        raise ConfigError(
            f"{what} has characters that can't be shown: control characters, or marks that change the writing direction. "
            "Type it again without copying them."
        )


def _check_options(options: tuple[str, ...]) -> None:
    if len(options) == 1:
        raise ConfigError("A choice needs two answers or more. Add one, or leave the field empty for an open question.")
    if len(options) > OPTIONS:
        raise ConfigError(f"There are {len(options):,} answers; at most {OPTIONS} fit.")
    if not all(options):
        raise ConfigError("An answer is empty.")
    if len(set(options)) < len(options):
        raise ConfigError("An answer occurs twice. Write each once.")
