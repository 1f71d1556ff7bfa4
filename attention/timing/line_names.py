"""Short names of lines of timings: within a chart ("SDPA, H100"), and within a sentence ("SDPA on an H100").

`recordings.labels` has the full ones, with the day and the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from textwrap import wrap

from attention.timing import cpu_gpu_summary
from attention.timing.answers import setting_text
from attention.timing.data_sheets import sheet_name
from attention.timing.recordings import Timing, lines
from attention.timing.recordings.labels import axes_text
from attention.timing.recordings.timing import BROWSER

Lines = Mapping[str, list[Timing]]
GLOSSES = {  # implementations that charts begin with, and what they are
    "SDPA": "PyTorch's fused kernel",
    "matmul softmax matmul": "separate steps with stored weights",
    "SDPA math": "PyTorch's separate steps with stored weights",
    "SDPA memory-efficient": "one of SDPA's fused kernels",
    "core with weights": "this app's own code with returned weights",
}


def machine(timing: Timing) -> str:
    """The short name of the machine of a timing, like "H100", "2-core CPU", "this server's CPU" or "your GPU (Acme 9)"."""
    if timing.source == BROWSER:
        return f"your GPU ({timing.device_name})"
    if timing.device == "cpu":
        return (
            "this server's CPU" if not timing.source else re.sub("^an? ", "", cpu_gpu_summary.a_cpu(timing.device_name))
        )
    return sheet_name(timing.device_name) or timing.device_name


def machine_in_sentence(timing: Timing) -> str:
    """The same with its article, like "an H100"."""
    name = machine(timing)
    return name if name.startswith(("this ", "your ")) else cpu_gpu_summary.name_with_article(name)


def namer(found: Lines, of_machine: bool = True, explained: bool = False) -> Callable[[Timing], str]:
    """Returns a function that names the line of a timing within a sentence: "SDPA on an H100, causal mask".

    `explained`: with what the implementation is.
    """
    timings = [timing for line in found.values() for timing in line]

    def name(timing: Timing) -> str:
        on = f" on {machine_in_sentence(timing)}" if of_machine else ""
        how = timing.implementation
        how = f"{GLOSSES[how]} ({how})" if explained and how in GLOSSES else how
        return ", ".join([f"{how}{on}", *filter(None, [setting_text(timing, timings)])])

    return name


def line_names(timings: Iterable[Timing]) -> dict[str, str]:
    """Returns the short name of each line by its label: the implementation, the machine if there are several, and other sizes.

    Two machines with the same short name keep their full ones.
    """
    machines = machine_names(timings := list(timings))
    if len(machines) < 2:
        return names_without_machine(timings)
    return {
        label: ", ".join([line[0].implementation, machines[line[0].origin], *axes_text(line[0], timings)])
        for label, line in lines(timings).items()
    }


def names_without_machine(timings: Iterable[Timing]) -> dict[str, str]:
    """The same without the machine."""
    found = lines(timings := list(timings)).items()
    return {label: ", ".join([line[0].implementation, *axes_text(line[0], timings)]) for label, line in found}


def machine_names(timings: Iterable[Timing]) -> dict[str, str]:
    """Returns the name of each machine by its origin: the short one unless another machine has the same."""
    timings = list(timings)
    short = {timing.origin: machine(timing) for timing in timings}
    now = {timing.origin for timing in timings if not timing.source}
    if len(now) < len(short):
        named = {origin: name.replace("this server's CPU", "this server") for origin, name in short.items()}
        short = {origin: f"{name}, measured" if origin in now else name for origin, name in named.items()}
    found = list(short.values())
    return {origin: name if found.count(name) == 1 else origin for origin, name in short.items()}


def of_keys(sentence: str, timings: Iterable[Timing]) -> str:
    """Returns a sentence in which lengths are those of the keys, if each timing is of a few queries, rather than of the text."""
    if not all(timing.queries for timing in timings):
        return sentence
    return sentence.replace("twice the text", "twice as many keys").replace(" tokens", " keys")


def sources(timings: Iterable[Timing], width: int) -> list[str]:
    """Returns the name, the day and the torch version of each device, in lines of at most `width` letters."""
    names = machine_names(timings := list(timings))
    found = {timing.origin: timing for timing in timings}.items()
    short = {origin: _short_device(each.device_name) for origin, each in found}
    told = {origin: f"{short[origin] if names[origin] != origin else origin}{_when(each)}" for origin, each in found}
    return [line for text in told.values() for line in wrap(text, width, break_on_hyphens=False)]


def _short_device(name: str) -> str:
    """The name of a device without trademarks and the numbers of its model, which the table has."""
    return re.sub(r"\((?:R|TM)\)| Processor\b|, family \d+ model \d+", "", name)


def _when(timing: Timing) -> str:
    if timing.is_from_browser:
        return f", measured in a browser {timing.day}"
    return f", {'recorded' if timing.source else 'measured here'} {timing.day}, torch {timing.torch.partition('+')[0]}"


def origins(timings: Iterable[Timing]) -> list[str]:
    """Returns one sentence per device: the torch version, system and day of its measurement."""
    found = {timing.origin: timing for timing in timings}
    return [
        f"{origin}: WebGPU in {timing.system}, {timing.precision}."
        if timing.is_from_browser
        else f"{origin}: torch {timing.torch} on {timing.system}, {timing.threads} CPU threads, float32 precision "
        f"{timing.precision}, {timing.day}."
        for origin, timing in found.items()
    ]
