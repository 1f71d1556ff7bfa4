"""The settings that the owner of a host makes by environment variables; they are read only here.

Each field of `Settings` is a variable of its name: `measure_seconds` is `ATTENTION_MEASURE_SECONDS`, and `class_`, as Python
keeps the word for itself, is `ATTENTION_CLASS`; `READ` says how its text is parsed. docs/HOSTING.md has the table for owners.
Invalid values are refused at the start, since an owner who sets a limit relies on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any

PREFIX = "ATTENTION_"
ON = ("on", "1", "yes", "true", "enabled")
OFF = ("off", "0", "no", "false", "disabled", "none", "never")
LEAST, LONGEST = 2.0, 7200.0  # range of seconds of a sweep that an owner may allow, as a slider needs one
SMALLEST = 600.0  # MB, most of which the libraries take
AS_THEY_ARE = ("open", "dask", "models")  # fields whose text is case-sensitive
LAST_PORT = 65_535
SHOWN = 80  # number of characters of an invalid value that a message repeats
ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:\d{1,5})?")
SITES = re.compile(r"https?://(\*\.)?[a-z0-9.-]+(:(\d{1,5}|\*))?")  # as in a policy: any port, all subdomains
HUB = re.compile(r"(?!.*(--|\.\.))\w[\w.-]*(/\w[\w.-]*)?", re.ASCII)  # a model's name on the hub
HOST = re.compile(r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*")


class SettingsError(ValueError):
    """A variable has an invalid name or value; the message names it, its value and what is allowed."""


@dataclass(frozen=True)
class Settings:
    """The settings of this host."""

    measure: bool = True  # whether visitors may measure
    measure_seconds: float = 120.0  # time limit of a sweep
    frames: tuple[str, ...] = ("self",)  # which sites may show the app in a frame: "self", and origins
    hosts: tuple[str, ...] = ()  # allowed host names; (): any
    origins: tuple[str, ...] = ()  # origins of pages that may connect, in addition to its own
    originless: bool = True  # whether programs that send no origin may connect
    uploads: float = 64.0  # limit in MB of all files of one visitor
    torch_files: bool = True  # whether visitors may open .pt files
    memory: float = 0.0  # MB that the server may use; 0: what its control group or the machine has
    metrics: bool = False  # whether Streamlit's counters are public
    models: tuple[tuple[str, str], ...] | None = ()  # besides installed ones, by name: a folder or hub name; None: none
    models_free: bool | None = None  # whether visitors may load any model of the hub; None: only from this machine
    models_size: float = 2000.0  # limit in MB of the memory of a model
    surveys: bool = True  # whether what heads do over many texts is kept as a file, once it was computed
    open: tuple[str, ...] = ()  # files that are open for every visitor, on a private machine
    dask: str = ""  # the scheduler of a cluster that draws long maps
    class_: bool = False  # whether visitors may open rooms, in which a class answers questions


def settings(given: Mapping[str, str] | None = None) -> Settings:
    """Reads the settings from the environment; raises SettingsError, which names the variable, if a value is invalid."""
    given = os.environ if given is None else given
    names = {variable(field.name): field.name for field in fields(Settings)}
    said = {name: text.strip() for name, text in given.items() if name.startswith(PREFIX)}
    for name in said.keys() - names.keys():
        near = get_close_matches(name, names, 1)
        raise SettingsError(f"There is no setting {name}." + f" Did you mean {near[0]}?" * bool(near))
    return Settings(**{names[name]: _parse_setting(name, names[name], text) for name, text in said.items() if text})


def variable(field: str) -> str:
    """The variable of a field."""
    return f"{PREFIX}{field.removesuffix('_').upper()}"


def _parse_setting(name: str, field: str, text: str) -> Any:
    read, allowed = READ[field]
    try:
        return read(text if field in AS_THEY_ARE else text.casefold())
    except ValueError as error:
        raise SettingsError(f"{name}={text[:SHOWN]!r} is not {allowed}.") from error


def switch(text: str) -> bool:
    """On or off."""
    if text not in (*ON, *OFF):
        raise ValueError(text)
    return text in ON


def number(low: float, high: float, unit: str) -> Callable[[str], float]:
    """A parser of a number between two bounds, with or without its unit."""

    def parse_number(text: str) -> float:
        found = float(text.removesuffix(unit))
        if not low <= found <= high:
            raise ValueError(text)
        return found

    return parse_number


def megabytes(text: str) -> float:
    """A number of MB, or 0 if the text is off."""
    return 0.0 if text in OFF else number(0, 10_000, "mb")(text)


def names(form: re.Pattern[str], *words: str) -> Callable[[str], tuple[str, ...]]:
    """A parser of names of a form, with valid ports, or these words, separated by spaces or commas."""

    def parse_names(text: str) -> tuple[str, ...]:
        found = tuple(text.replace(",", " ").split())
        if not all(name in words or form.fullmatch(name) for name in found):
            raise ValueError(text)
        if any(int(port) > LAST_PORT for port in re.findall(r":(\d+)", text)):
            raise ValueError(text)
        return found

    return parse_names


def hosts(text: str) -> tuple[str, ...]:
    """Names of hosts; () if any is allowed."""
    return () if text == "any" else names(HOST)(text)


def frames(text: str) -> tuple[str, ...]:
    """Origins and "self"; () if the text is off."""
    return () if text in OFF else names(SITES, "self")(text)


def address(text: str) -> str:
    """The address of a scheduler."""
    if not re.fullmatch(r"(tcp|tls|ws|wss)://\S+:\d+", text):
        raise ValueError(text)
    return text


def models(text: str) -> tuple[tuple[str, str], ...] | None:
    """Display names and places of models, separated by semicolons or lines; None if the text is off."""
    if text.casefold() in OFF:
        return None
    entries = [] if text.casefold() == "installed" else re.split(r"[;\n]+", text)
    return tuple(_model(entry) for entry in entries if entry.strip())


def _model(entry: str) -> tuple[str, str]:
    """Parses `name = place`, or a place alone; raises ValueError if that is neither a folder nor a name on the hub."""
    name, _, where = (part.strip() for part in entry.rpartition("="))
    if not (PurePath(where).is_absolute() or HUB.fullmatch(where)):
        raise ValueError(entry)
    return name or (PurePath(where).name if PurePath(where).is_absolute() else where), where


def anywhere(text: str) -> bool | None:
    """On, off, or None if it depends on who can reach this server."""
    return None if text == "local" else switch(text)


def files(text: str) -> tuple[str, ...]:
    """Paths of files."""
    return tuple(text.split(os.pathsep))


def there(said: Settings) -> Settings:
    """Returns its argument; raises SettingsError if a file or folder is missing. For the start: a disk may change."""
    folders = [where for _, where in said.models or () if PurePath(where).is_absolute()]
    for name, paths, is_there, what in (
        ("MODELS", folders, Path.is_dir, "folder"),
        ("OPEN", said.open, Path.is_file, "file"),
    ):
        for path in paths:
            if not is_there(Path(path)):
                raise SettingsError(f"{PREFIX}{name} names {path[:SHOWN]!r}, which is not an existing {what}.")
    return said


def environment(**said: str) -> dict[str, str]:
    """The environment for a server started from here, with these fields set and without the settings of this process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return kept | {variable(name): text for name, text in said.items()}


READ: dict[str, tuple[Callable[[str], Any], str]] = {
    "measure": (switch, "on or off"),
    "measure_seconds": (
        number(LEAST, LONGEST, "s"),
        f"a number of seconds between {LEAST:g} and {LONGEST:,.0f}, like 20",
    ),
    "frames": (frames, "self, none or origins, like https://school.example"),
    "hosts": (hosts, "any or names of hosts, like lab.school.example or *.school.example"),
    "origins": (names(ORIGIN), "origins, like https://school.example"),
    "originless": (switch, "on or off"),
    "uploads": (megabytes, "off or a number of MB up to 10,000, like 64"),
    "torch_files": (switch, "on or off"),
    "memory": (number(SMALLEST, 10_000_000, "mb"), f"a number of MB of at least {SMALLEST:g}, like 690"),
    "metrics": (switch, "on or off"),
    "models": (models, "off, installed or a list like BERT = google-bert/bert-base-uncased; Ours = /srv/models/ours"),
    "models_free": (anywhere, "on, off or local"),
    "models_size": (number(1, 10_000_000, "mb"), "a number of MB up to 10,000,000, like 2000"),
    "surveys": (switch, "on or off"),
    "open": (files, f"paths of files, with {os.pathsep} between them"),
    "dask": (address, "the address of a scheduler, like tcp://host:8786"),
    "class_": (switch, "on or off"),
}
