"""The sentences below a chart of timings: what its names mean, what is missing, and why its lines are as they are."""

from __future__ import annotations

from attention.charts import line_ends
from attention.timing import chart_findings, comparison, cpu_gpu_summary, line_choice, line_names, setting_finding
from attention.timing.cpu_gpu_settings import BREAK_EVEN
from attention.timing.recordings import Timing
from attention.ui.text import timing as text

MOST = 2  # sentences below a chart; the others are in its help


def notes(chart: str, shown: list[Timing], selected: list[Timing]) -> tuple[list[str], list[str]]:
    """Returns the sentences below a chart, the most important first, and those for its help.

    `shown`: the timings of the lines that are drawn; `selected`: all that the user selected.
    """
    loose = [timing for timing in comparison.with_times(shown) if not timing.settled]
    found = [
        _medians(shown) if chart != "memory" else "",
        setting_finding.settings_of_cpu(selected) if chart in ("time", "speed-up") else "",
        setting_finding.alike_masks(shown) if chart == "time" else "",
        _flat(shown) if chart == "time" else "",
        setting_finding.alike_kernel(shown) if chart == "time" else "",
        text.N_BY_N if chart == "memory" and not any(timing.queries for timing in shown) else "",
        *_names(chart, shown),
        *(_limits(shown) if chart == "roofline" else []),
        chart_findings.missing_times(shown) if chart in ("time", "roofline") else "",
        _left_out(shown, selected) if chart == BREAK_EVEN else "",
        text.AT_MOST.get(chart, "") if loose and all(timing.quickest for timing in loose) else "",
        text.WITHOUT_COPY if chart == "time" and any(timing.to_device for timing in shown) else "",
    ]
    said = [line_names.of_keys(sentence, shown) for sentence in found if sentence]
    return said[:MOST], said[MOST:]


def _medians(shown: list[Timing]) -> str:
    """Whose times are medians, if those of other machines are minimums."""
    timed = comparison.with_times(shown)
    known = {timing.origin for timing in timed if timing.is_minimum}
    lacking = dict.fromkeys(line_names.machine_in_sentence(timing) for timing in timed if timing.origin not in known)
    return text.MEDIANS.format(machine=text.AND.join(lacking)) if lacking and known else ""


def _left_out(shown: list[Timing], selected: list[Timing]) -> str:
    """The lengths at which only one of the two machines of a break-even was timed."""
    alike = [
        timing for timing in comparison.with_times(selected) if comparison.kind(timing) == comparison.kind(shown[0])
    ]
    lengths = sorted({timing.length for timing in alike} - {timing.length for timing in shown})
    return text.LEFT_OUT.format(lengths=cpu_gpu_summary.name_lengths(lengths)) if lengths else ""


def _names(chart: str, shown: list[Timing]) -> list[str]:
    """What the names of lines mean; if some are pale, that they have none."""
    if len(line_choice.named_lines(shown, chart, line_ends.MOST)) < len(shown):
        return [text.PALE_LINES]
    names = {timing.implementation for timing in shown}
    known = [text.GLOSS.format(name=name, gloss=gloss) for name, gloss in line_names.GLOSSES.items() if name in names]
    return [text.GLOSSES.format(glosses="; ".join(known))] if known else []


def _limits(shown: list[Timing]) -> list[str]:
    """What the axis of a roofline is, where lengths are on it, and why times are above a limit."""
    above = comparison.with_times(shown)
    machines = dict.fromkeys(
        line_names.machine_in_sentence(timing) for timing in above if comparison.exceeds_memory(timing)
    )
    found = [text.ABOVE_LIMIT.format(machine=text.AND.join(machines))] if machines else []
    if chart_findings.is_of_one_intensity(shown):
        return [*found, text.ONE_INTENSITY]
    ends = chart_findings.rising_lengths(shown)
    bounds = [comparison.roofline_bound(timing) for timing in above]
    if bounds and all(bound == timing.peak_operations for bound, timing in zip(bounds, above, strict=True) if bound):
        found.append(text.ARITHMETIC)
    return [*found, text.PER_BYTE, *([text.BY_LENGTH.format(first=ends[0], last=ends[1])] if ends else [])]


def _flat(shown: list[Timing]) -> str:
    """That times hardly depend on the length and why, unless the headline says it."""
    flat = line_names.of_keys(chart_findings.flat_times(shown), shown)
    return flat if flat != chart_findings.time_finding(shown) else ""
