"""Your data: attention from the user's own file, as a source of every page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from attention.codec import to_query
from attention.components.copy_link import copy_link
from attention.config import Config
from attention.fitting import layers
from attention.imported import detect, sample
from attention.imported.reading_knobs import Reading
from attention.imported.registry import Upload, entry_name
from attention.pinned import Sides, pin
from attention.recorded.file import RecordingError
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
from attention.ui.views import code, heads_parts, pinned_sides, snippets, your_data_files

FILE, TOKENS = "your file", "your tokens"  # keys of the two fields
EXAMPLE = Config.of(f"recorded:{sample.OF}", layer=1)  # its first head finds what followed the same word before
SIDE = 140  # pixels of its map
NAME = 20  # characters of the name of another file
KNOWN = {
    "GPT-2": (12, 12, 12, 64),
    "Llama-3-8B": (32, 32, 8, 128),
}  # layers, heads, key-value heads, channels per head


def view(how: Reading) -> None:
    """Draws the fields for files, how they were read and what was found, the open uploads, and how to save such a file."""
    given = your_data_files.named_files()
    if page.arrives():
        _lead()
    draw_heading("your_data", _finding(), help=text.HELP)
    if present.is_embedded():
        return
    if new := not uploads.holdings():
        if settings().uploads:
            _sample()
        _saving(expanded=True)
    if not settings().uploads:
        st.info(text.CLOSED, icon=":material/lock:")
        taken = your_data_files.current_file(None, None, how)
    else:
        taken = _fields(how)
    shown = [*([taken] if taken else []), *given]
    for each in shown:
        _show_reading(each, first=each is shown[0])
    if settings().uploads:
        _sizes()
    _open()
    if not new:
        _saving(expanded=False)
    terms.draw("your_data")


def _finding() -> str:
    """What can be opened, or what is open."""
    many = len(uploads.holdings())
    if not many:
        return text.FINDING
    return text.OPEN.format(files=text.FILES_OPEN.get(many, text.FILES_OPEN_MORE).format(count=many))


def _lead() -> None:
    """Goes to Heads if files were named at the start (`attention.show`) and all could be read: the user wants to see them."""
    visit = page.visit_state()
    there = [each for each in [visit.taken, *(visit.given or [])] if each]
    if there and not any(each.problem for each in there):
        page.leave_for("heads", to_query(Config.of(there[0].source)))


def _fields(how: Reading) -> Taken | None:
    """Draws the two fields; returns the result for the file in them, or for the last one."""
    draw_section(text.UPLOAD)
    left, right = st.columns([3, 2], gap="medium")
    largest = max(1, int(min(settings().uploads, 64)))
    with left:
        file = st.file_uploader(
            text.FILE,
            list(detect.ARRAYS),
            key=FILE,
            max_upload_size=largest,
        )
    with right:
        tokens = st.file_uploader(
            text.TOKENS,
            list(detect.TOKENS),
            key=TOKENS,
            max_upload_size=4,
            help=text.TOKENS_HELP,
        )
    return your_data_files.current_file(file, tokens, how)


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


def _sample() -> None:
    """Draws an example for users without a file: one button opens it, the other downloads it; and a map of it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
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
        with suppress(RecordingError):  # without the recording there is no picture
            heads_parts.thumbnail(EXAMPLE, SIDE, text.MAP)


def _show_reading(taken: Taken, first: bool) -> None:
    """Draws how a file was read and what was found, or why it cannot be shown; and links to pages, `first`: one as a button."""
    if taken.problem and taken.found:
        st.warning(escape(taken.problem), icon=":material/info:")
    elif taken.problem:
        which = escape(taken.file.name) if taken.file else text.THIS_FILE
        st.error(text.PROBLEM.format(file=which, problem=escape(taken.problem)), icon=":material/error:")
        if taken.source:
            st.caption(text.STAYS)
    found = taken.found
    if found is None:
        return
    for sentence in found.found:
        st.warning(escape(sentence), icon=":material/info:")
    with st.container(border=True):
        st.markdown(text.READING.format(name=escape(found.stack.title), what=escape(found.stack.what)))
        st.markdown("\n".join(f"- {escape(sentence)}" for sentence in found.said))
        if len(found.parts) > 1:
            names = ", ".join(f"{at}: {escape(name)}" for at, name in enumerate(found.parts))
            st.caption(text.PARTS.format(parts=names))
        _ways(taken.source, first)


def _ways(source: str, first: bool) -> None:
    """Draws links to the pages that show it; if a link asked for a source of the same name, its query is used."""
    wanted = page.visit_state().wanted
    query = to_query(Config.of(source))
    if wanted and entry_name(wanted["source"]) == entry_name(source):
        query = {**wanted, "source": source}
    with st.container(horizontal=True):
        with st.container(key="begin" if first else None, width="content"):
            next_step.page_link("heads", text.LINKS["heads"], query, ":material/grid_view:")
        if has_scores(source):
            next_step.page_link("softmax", text.LINKS["softmax"], query, ":material/bar_chart:")
            next_step.page_link("steps", text.LINKS["steps"], query, ":material/account_tree:")
        next_step.page_link("masks", text.LINKS["masks"], query, ":material/grid_on:")
        next_step.page_link("layers", text.LINKS["layers"], query, ":material/layers:")
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


def _open() -> None:
    """Draws the uploads that are open in this visit, with their sizes and a button that closes each."""
    holdings = uploads.holdings()
    if not holdings:
        return
    draw_section(text.OPEN_FILES)
    for holding in holdings:
        with st.container(horizontal=True, vertical_alignment="center", key=f"row {holding.source}"):
            st.markdown(_summary_text(holding), width="stretch")
            next_step.page_link("heads", text.TO_HEADS, to_query(Config.of(holding.source)), ":material/grid_view:")
            st.button(text.CLOSE, key=f"close {holding.source}", on_click=_close_source, args=(holding.source,))


def _close_source(source: str) -> None:
    uploads.close(source)
    your_data_files.forget_file(source)


def _summary_text(holding: Upload) -> str:
    sizes = holding.shape
    tokens = text.SUMMARY_CROSS if sizes.keys else text.SUMMARY_TOKENS
    return text.SUMMARY.format(
        name=escape(entry_name(holding.source)),  # two recordings of one model have one title
        parts=text.SUMMARY_VECTORS if {"q", "k"} <= sizes.has else text.SUMMARY_WEIGHTS,
        layers=text.SUMMARY_LAYERS[sizes.layers > 1].format(count=sizes.layers),
        heads=text.SUMMARY_HEADS[sizes.heads > 1].format(count=sizes.heads),
        tokens=tokens.format(tokens=sizes.tokens, keys=sizes.keys),
        size=quantity(holding.stack.bytes, "B"),
    )


def _saving(expanded: bool) -> None:
    """Draws programs that save such a file, by library."""
    with st.expander(text.SAVE, icon=":material/code:", expanded=expanded):
        for tab, (library, source) in zip(st.tabs(list(snippets.SNIPPETS)), snippets.SNIPPETS.items(), strict=True):
            with tab:
                code.show_source(source)
                copy_link(f"copy {library}", text.COPY, copies=source)
