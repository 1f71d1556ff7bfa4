"""Your data: attention from the user's own file, as a source of every page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.codec import to_query
from attention.components.copy_link import copy_link
from attention.config import Config
from attention.fitting import layers
from attention.imported import detect, sample
from attention.imported.reading_knobs import Reading
from attention.imported.registry import entry_name
from attention.pinned import Sides, pin
from attention.serving.settings import settings
from attention.sources.providers import has_scores
from attention.tables.rows import quantity
from attention.ui import next_step, results
from attention.ui.heading import draw_heading, draw_section
from attention.ui.markdown import escape
from attention.ui.session import page, present, uploads
from attention.ui.session.visit_state import Taken
from attention.ui.text import terms
from attention.ui.text import your_data as text
from attention.ui.views import code, pinned_sides, snippets, your_data_files, your_data_heads
from attention.ui.views.your_data_heads import Heads, draw_maps, sizes_text

FILE, TOKENS = "your file", "your tokens"  # keys of the two fields
EXAMPLE = Config.of(f"recorded:{sample.OF}")
NAME = 20  # characters of the name of another file
KNOWN = {
    "GPT-2": (12, 12, 12, 64),
    "Llama-3-8B": (32, 32, 8, 128),
}  # layers, heads, key-value heads, channels per head


def view(how: Reading) -> None:
    """Draws three steps from a model to its heads; once a file is open, its first heads and how it was read."""
    given = your_data_files.named_files()
    if page.arrives():
        _lead()
    # the fields are drawn below what they open
    file, tokens = (page.widgets().get(name) if settings().uploads else None for name in (FILE, TOKENS))
    taken = your_data_files.current_file(file, tokens, how)
    shown = [*([taken] if taken else []), *given]
    sources = [each.source for each in shown if each.found] or [each.source for each in uploads.holdings()]
    heads = your_data_heads.first_heads(Config.of(sources[0])) if sources else []
    draw_heading("your_data", _finding(taken, heads), help=text.HELP)
    if present.is_embedded():
        return
    with st.container():  # also if empty: fields below that move are drawn again, and lose a file chosen meanwhile
        for each in shown:
            _show_problem(each)
        if tokens and not file and not taken:
            st.info(text.TOKENS_ALONE, icon=":material/info:")
    if not sources:
        _steps()
    else:
        for each in shown:
            _show_file(each, heads if each.source == sources[0] else [])
        if settings().uploads:
            draw_section(text.ANOTHER)
            _fields(*st.columns([3, 2], gap="medium"))
        your_data_heads.draw_files()
        with st.expander(text.SAVE, icon=":material/code:"):
            _snippets()
    terms.draw("your_data")


def _finding(taken: Taken | None, heads: Heads) -> str:
    """What can be opened, or what is open; of a file with warnings, nothing else before them."""
    holdings = uploads.holdings()
    if not holdings:
        return text.FINDING if settings().uploads else text.CLOSED
    if len(holdings) == 1:
        opened = text.OPENED.format(**sizes_text(holdings[0].shape))
        if taken and taken.found and taken.found.found:
            return f"{opened} {text.CHECK_FIRST}"
        return f"{opened} {your_data_heads.finding(heads) or text.SEE_HEADS}"
    return text.OPEN.format(count=len(holdings))


def _lead() -> None:
    """Goes to Heads if files were named at the start (`attention.show`) and all could be read: the user wants to see them."""
    visit = page.visit_state()
    there = [each for each in [visit.taken, *(visit.given or [])] if each]
    if there and not any(each.problem for each in there):
        page.leave_for("heads", to_query(Config.of(there[0].source)))


def _steps() -> None:
    """Draws the way from a model to its heads: the code that saves a file, the fields that open it, and what one will see."""
    if not settings().uploads:
        draw_section(text.SAVE)
        _snippets()
        return
    _example()
    left, see = st.columns([2, 1], gap="small")
    with left.container(border=True):
        draw_section(text.STEP.format(number=1, title=text.SAVE))
        _snippets()
    with left.container(border=True):
        draw_section(text.STEP.format(number=2, title=text.UPLOAD))
        _fields(*st.columns(2, gap="medium"))
    with see.container(border=True, height="stretch"):
        draw_section(text.STEP.format(number=3, title=text.SEE))
        your_data_heads.draw_example(EXAMPLE)


def _fields(left: DeltaGenerator, right: DeltaGenerator) -> None:
    """Draws the two fields for files, and which files can be opened; `current_file` takes up what is in them."""
    left.file_uploader(
        text.FILE, list(detect.ARRAYS), key=FILE, max_upload_size=max(1, int(min(settings().uploads, 64)))
    )
    right.file_uploader(text.TOKENS, list(detect.TOKENS), key=TOKENS, max_upload_size=4, help=text.TOKENS_HELP)
    _sizes()


def _sizes() -> None:
    """Draws which files can be opened."""
    largest, unpacked = max(1, int(min(settings().uploads, 64))), results.uploads.most()
    fits = _limits(min(largest * 2**20, unpacked))
    size = quantity(unpacked, "B")
    sizes = text.SIZES.format(largest=largest, unpacked=size, fits=fits, shared=text.SHARED)
    st.caption(text.SAFE, help=sizes)


def _limits(size: int) -> str:
    """The number of tokens of known models that fit into `size` bytes."""
    counts = {name: results.uploads.most_tokens(size, *sizes) for name, sizes in KNOWN.items()}
    said = (
        text.FITS_MODEL.format(tokens=whole, model=name, weights=weights) for name, (whole, weights) in counts.items()
    )
    return text.FITS.format(models=" or ".join(said))


def _example() -> None:
    """Draws an example for users without a file: one button opens it, the other downloads it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.TRY,
            icon=":material/play_arrow:",
            key="try",
            type="primary",
            on_click=your_data_files.open_example,
            help=text.TRY_HELP,
        )
        st.download_button(
            text.EXAMPLE,
            sample.sample_file,
            sample.NAME,
            on_click="ignore",
            icon=":material/download:",
            key="sample",
            help=text.EXAMPLE_HELP,
            type="tertiary",
        )


def _show_problem(taken: Taken) -> None:
    """Draws why a file cannot be shown, and what to do about it."""
    if taken.problem and taken.found:
        st.warning(escape(taken.problem), icon=":material/info:")
    elif taken.problem:
        which = escape(taken.file.name) if taken.file else text.THIS_FILE
        st.error(text.PROBLEM.format(file=which, problem=escape(taken.problem)), icon=":material/error:")
        if taken.source:
            st.caption(text.STAYS)
        elif taken.problem != text.CLOSED_FILE:
            st.caption(text.WAY_OUT)


def _show_file(taken: Taken, heads: Heads) -> None:
    """Draws links to the pages that show a file, the first as a button if there are `heads`; their maps; how it was read."""
    found = taken.found
    if found is None:
        return
    for sentence in found.found:
        st.warning(escape(sentence), icon=":material/info:")
    _ways(taken.source, bool(heads))
    draw_maps(Config.of(taken.source), heads, linked=True)
    title, what = found.stack.title, found.stack.what
    st.markdown(text.READING.format(name=escape(title), what="" if title in what else escape(what)).rstrip())
    st.caption(f"{' '.join(escape(sentence) for sentence in found.said)} {text.CORRECT}")
    if len(found.parts) > 1:
        names = ", ".join(f"{at}: {escape(name)}" for at, name in enumerate(found.parts))
        st.caption(text.PARTS.format(parts=names))


def _ways(source: str, first: bool) -> None:
    """Draws links to the pages that show it; if a link asked for a source of the same name, its query is used."""
    wanted = page.visit_state().wanted
    query = to_query(Config.of(source))
    if wanted and entry_name(wanted["source"]) == entry_name(source):
        query = {**wanted, "source": source}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="begin" if first else None, width="content"):
            next_step.page_link("heads", text.LINKS["heads"], query, ":material/grid_view:")
        if has_scores(source):
            next_step.page_link("softmax", text.LINKS["softmax"], query, ":material/bar_chart:")
            next_step.page_link("steps", text.LINKS["steps"], query, ":material/account_tree:")
        next_step.page_link("masks", text.LINKS["masks"], query, ":material/grid_on:")
        next_step.page_link("layers", text.LINKS["layers"], next_step.layers_query(query), ":material/layers:")
        if others := [each for each in uploads.sources() if each != source]:
            _compare(source, others[-1])


def _compare(source: str, other: str) -> None:
    """Draws a link to the difference of a source from another one, which was opened before: which heads changed."""
    a, b = Config.of(other), Config.of(source)
    sides = Sides(a, b, False)
    several = len(layers(source)) > 1 and pinned_sides.has_layer_difference(sides)
    name = entry_name(other)
    label = text.COMPARE.format(name=escape(name if len(name) <= NAME else f"{name[: NAME - 1]}…"))
    query = to_query(replace(b, against=pin(a)))
    next_step.page_link("layers" if several else "heads", label, query, ":material/compare_arrows:")


def _snippets() -> None:
    """Draws programs that save such a file, by library."""
    for tab, (library, source) in zip(st.tabs(list(snippets.SNIPPETS)), snippets.SNIPPETS.items(), strict=True):
        with tab:
            code.show_source(source)
            copy_link(f"copy {library}", text.COPY, copies=source)
