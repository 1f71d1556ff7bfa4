"""Bad input, one line each, with what is shown: links, widgets with forged values, files, and messages that no page sends.

Wherever a text could become markup or an address it is `BAIT`. To add a case, add a line: tests/test_hostile.py says what
holds for all of them.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any
from urllib.parse import quote

from attention.timing.recordings import write_recording
from attention.ui.question_codec import BETWEEN, CustomQuestion, encode
from tests.timings import make_timing

BAIT = "![x](http://evil.example/p.png)<img src=//evil.example/x>"
LONG = "a" * 100_000
NO_QUESTION = "The question in this link can't be read: part of it is missing or was changed."
MASKS = "is not one of: full, causal, window,"


def packed_question(*parts: str) -> str:
    """Fields packed as a question is."""
    deflate = zlib.compressobj(9, wbits=-15)
    data = deflate.compress(BETWEEN.join(parts).encode()) + deflate.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


GOOD = encode(CustomQuestion(BAIT, (BAIT, "b"), "b", BAIT))

# The page, its link, and what a box on it says; "" where all of the link can be had.
LINKS: list[tuple[str, str, str]] = [
    ("", "heads=0", "heads=0 is not a whole number between 1 and 32. The default is 8."),
    ("", "heads=-3", "heads=-3 is not a whole number"),
    ("", "tokens=nan", "tokens='nan' is not a whole number between 2 and 65,536."),
    ("", "temperature=inf", "temperature='inf' is not a number between 0.05 and 20.0."),
    ("softmax", "temperature=NaN", "temperature='NaN' is not a number"),
    ("", "temperature=-1e400", "temperature='-1e400' is not a number"),
    ("", f"tokens={'9' * 5000}", "999… is not a whole number between 2 and 65,536."),
    ("", "tokens=65537", "tokens=65537 is not a whole number between 2 and 65,536."),
    ("layers", "heads=0&speed=9&mask=casual", "Did you mean 'causal'?"),
    ("steps", "tokens=7.5", "tokens='7.5' is not a whole number"),
    ("", "tokens=0x10&seed=1_0", "seed='1_0' is not a whole number"),
    ("", f"heads={quote('٣')}&head={quote('１')}", "heads='٣' is not a whole number"),
    ("", "heads=3&heads=5&heads=x", "heads='x' is not a whole number"),
    ("", "heads=x&heads=4", ""),
    ("", "heads=", "heads='' is not a whole number"),
    ("", "mask=a%00b", r"mask='ax00b'"),
    ("masks", f"mask={quote(BAIT)}", MASKS),
    ("masks", "mask=__class__&second=os.system", "second='os.system' is not one of:"),
    ("", f"text={quote(BAIT)}", ""),
    ("", "text=%E2%80%AEevil", "is not printable text of at most 2,000 characters."),
    ("", "text=a%ED%A0%80b", ""),
    ("", f"text={LONG}", "is not printable text of at most 2,000 characters."),
    ("", "text=%00%07%1B", "is not printable text"),
    ("", f"{quote(BAIT)}=1", "is not a setting of this app; it was ignored."),
    ("", f"{LONG}=1", "… is not a setting of this app; it was ignored."),
    ("", "&".join(f"k{i}={i}" for i in range(500)), "… and 480 more"),
    ("", "%zz=%&&&=&=;", "'%zz' is not a setting of this app; it was ignored."),
    ("", "v=99", "v='99' is not an edition of the defaults"),
    ("", "rows=700-800", "700-800 reaches beyond 18 tokens (counted from 0): rows moved to 16-17."),
    ("", "rows=9-3&cols=0-0", "9-3 names the last before the first: rows moved to 3-9."),
    ("", f"rows={quote('٣-٤')}", "is not a first and a last token, as in 100-611, or nothing for all."),
    ("", "heads=8&kv_heads=3", "3 kv_heads don't divide 8 heads: kv_heads moved to 4."),
    ("implementations", "heads=5&d_model=512", "5 heads don't divide a d_model of 512: d_model moved to 510."),
    ("", "heads=2&head=9&query=99", "there is no query 99 among 18 tokens (counted from 0): query moved to 17."),
    ("masks", "tokens=65536&d_model=2048", "are over the limit of 33,554,432 channels: tokens moved to 16384."),
    ("", "source=../../etc/passwd", "source='../../etc/passwd' is not one of: generated,"),
    ("", "source=recorded:nothing", "source='recorded:nothing' is not one of:"),
    ("", "source=recorded:two-layers&tokens=7&heads=9", "tokens=7: the source recorded:two-layers decides that;"),
    ("", "source=trained:sort&training_step=77", "training_step moved to"),
    ("implementations", f"implementation={quote(BAIT)}", "is not printable text of at most 40 characters."),
    ("implementations", "implementation=os.system", "implementation='os.system' is not one of:"),
    ("find_the_bug", "bug=os.system", "bug='os.system' is not one of:"),
    ("", "layer_map=__class__", "layer_map='__class__' is not one of:"),
    ("", "predict=mask;drop", "predict='mask;drop' is not one of: none, mask,"),
    ("", f"ask={GOOD}", ""),
    ("softmax", f"ask={GOOD[:-6]}", NO_QUESTION),
    ("masks", f"ask={packed_question('1', '9', '1', 'Why?', '', 'a', 'b')}", NO_QUESTION),
    (
        "steps",
        f"ask={packed_question('1', '1', '1', 'Why?' + chr(0x202E), '', 'a', 'b')}",
        "marks that change the writing direction",
    ),
    ("", f"ask={packed_question(' ' * 3_000_000)[:2999]}", NO_QUESTION),
    ("", f"ask={packed_question(' ' * 1_500_000)}", NO_QUESTION),
    ("", f"ask={quote('<b>')}", "ask='<b>' is not a question as this app packs it"),
    ("timing", "ask=AAAA", NO_QUESTION),
    ("timing", "lengths=1e9", "lengths='1e9' is not a whole number between 2 and 1,048,576."),
    ("timing", "lengths=", "Lengths (tokens) has no value; it needs one."),
    ("timing", "lengths=64,64,nan", "lengths='nan' is not a whole number"),
    ("timing", f"lengths={','.join(map(str, range(2, 3000)))}&heads=1,2,3", "; 5,000 are allowed. Choose fewer values"),
    ("timing", f"devices=file:///etc/passwd&implementations={quote(BAIT)}", "is not a device of torch, like cpu or"),
    ("timing", "devices=cuda:9", ""),
    ("timing", "seconds=7000", "seconds=7000 exceeds the limit of this server: set to 120."),
    ("timing", "gpus=%3Cb%3E&bus=x", "gpus='<b>' is not one of: A100,"),
    ("training", "task=rm%20-rf", "task='rm -rf' is not one of: induction,"),
    ("training", "steps=1000000000&rate=inf", "rate='inf' is not a number between 0.0001 and 1.0."),
    ("training", "heads=3&d_model=64&head=23", "d_model=64: it is a multiple of heads=3, at most 256."),
    ("examples", "about=everything&heads=3", "about='everything' is not one of: all, learn,"),
    ("examples", f"about={quote(BAIT)}", "is not one of: all, learn,"),
]

# Those whose settings say it; of the others the page shortens or escapes what is said.
NOTED = [case for case in LINKS if case[1] != "mask=a%00b" and case[2] != "… and 480 more"]

TEXT, NUMBER, ONE, SOME = "string_value", "double_value", "double_array_value", "string_array_value"
JSON, EVENT = "json_value", "json_trigger_value"
DEEP = "[" * 100_000 + "]" * 100_000


def pin(name: str, **said: Any) -> dict[str, str]:
    """What a component says by a name."""
    return {JSON: json.dumps({name: said})}


# The page, its link, the key of a widget, what it says, and what a box on the page says then.
WIDGETS: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("", "", "temperature", {TEXT: "hot"}, ""),
    ("", "", "temperature", {ONE: [float("nan")]}, ""),
    ("", "", "temperature", {ONE: [1.0, 2.0, 3.0]}, ""),
    ("", "", "temperature", {ONE: [1e308]}, ""),
    ("", "", "heads", {TEXT: "8"}, ""),
    ("", "", "heads", {ONE: [2.5]}, ""),
    ("", "", "d_model", {ONE: [250.0]}, "8 heads don't divide a d_model of 250: d_model moved to 248."),
    ("", "", "seed", {NUMBER: float("nan")}, ""),
    ("", "", "seed", {NUMBER: 1e300}, ""),
    ("", "", "seed", {NUMBER: -5}, ""),
    ("", "", "seed", {JSON: DEEP}, ""),
    ("", "", "seed", {"int_value": 2**62}, ""),
    ("", "", "mask", {TEXT: BAIT}, MASKS),
    ("", "", "mask", {TEXT: "casual"}, "Did you mean 'causal'?"),
    ("", "", "mask", {SOME: ["causal", "full"]}, ""),
    ("", "", "mask", {"bytes_value": b"\x80\x04"}, ""),
    ("", "", "tokens", {SOME: ["99", BAIT]}, ""),
    ("", "", "tokens", {SOME: [LONG]}, ""),
    ("", "", "text", {TEXT: LONG}, "It is part of the link, so only the first"),
    ("", "", "text", {TEXT: "a\u202eb\x00"}, "Invisible control characters were removed from your text"),
    ("", "", "text", {"bool_value": True}, ""),
    ("", "", "no such widget", {TEXT: "x"}, ""),
    ("", "", "$$ID-00000000000000000000000000000000-seed", {NUMBER: 3}, ""),
    ("", "", "grid", {JSON: "{"}, ""),
    ("", "", "grid", {JSON: DEEP}, ""),
    ("", "", "grid", {JSON: '{"pin": 7}'}, ""),
    ("", "", "grid", {JSON: '{"pin": {"head": Infinity, "query": NaN}}'}, "head=inf is not a whole number between 0"),
    ("", "", "grid", pin("pin", head="x", query=[1]), "head='x' is not a whole number between 0 and 127."),
    ("", "", "grid", pin("pin", head=10**300, query=BAIT), "is not a whole number between -1 and 65,535."),
    ("", "", "grid", pin("pin", head={"a": 1}, mask="full"), ""),
    ("", "", "grid", pin("pin", head=31), "there is no head 31 among 8 (counted from 0): head moved to 7."),
    ("", "source=recorded:two-layers&layer_map=entropy", "layers", {TEXT: '{"selection": 5}'}, ""),
    (
        "",
        "source=recorded:two-layers&layer_map=entropy",
        "layers",
        {TEXT: '{"selection": {"cell": [{"layer": "x"}]}}'},
        "layer='x' is not",
    ),
    ("", "source=recorded:two-layers&layer_map=entropy", "layers", {TEXT: '{"selection": {"cell": "ab"}}'}, ""),
    ("", "rows=2-9", "focus", {TEXT: '{"selection": {"box": [{"x": [1]}]}}'}, ""),
    ("", "rows=2-9", "focus", {TEXT: '{"selection": {"box": [{"x": [NaN, 1e999], "y": ["a", {}]}]}}'}, ""),
    ("", "rows=2-9", "focus", {TEXT: '{"selection": {"box": {"x": 1}}}'}, ""),
    ("", "row_as=lines", "lines", {JSON: '{"pin": {"query": "999999"}}'}, "query='999999' is not a whole number"),
    ("masks", "", "gallery__events", {EVENT: '[{"event": "choice", "value": {"mask": 5}}]'}, "mask=5 is not one of:"),
    ("masks", "", "gallery__events", {EVENT: '{"event": {}, "value": 5}'}, ""),
    ("masks", "", "mask_detail", {SOME: [BAIT]}, ""),
    ("steps", "", "matrices", pin("turn", step="rm", steps=3), "step='rm' is not one of:"),
    ("steps", "", "matrices", pin("pin", head=-1, query="0"), "head=-1 is not a whole number"),
    ("softmax", "", "head", {TEXT: BAIT}, "is not a whole number between 0 and 127."),
    ("softmax", "", "query", {TEXT: "0 gone"}, ""),
    ("", f"ask={GOOD}", "guess", {TEXT: BAIT}, ""),
    ("find_the_bug", "", "guess at", {TEXT: BAIT}, ""),
    ("find_the_bug", "", "series_bug", {SOME: [BAIT]}, ""),
    (
        "timing",
        "v=3&picture=lines",
        "sweep_lengths",
        {SOME: ["64", BAIT]},
        "is not a whole number between 2 and 1,048,576.",
    ),
    ("timing", "v=3&picture=lines", "sweep_lengths", {SOME: []}, "Lengths (tokens) has no value; it needs one."),
    ("timing", "", "sweep_implementations", {SOME: ["os.system"]}, "implementations='os.system' is not one of:"),
    ("timing", "", "sweep_seconds", {ONE: [float("inf")]}, ""),
    ("timing", "", "timing_chart", {SOME: ["no such chart"]}, ""),
    ("timing", "", "sweep_picture", {SOME: ["<b>"]}, ""),
    ("training", "", "train_task", {TEXT: BAIT}, "is not one of: induction, reverse,"),
    ("training", "", "train_off", {SOME: ["9.9", "x.y", "0"]}, ""),  # Streamlit drops what is no pill
    ("training", "", "typed induction", {TEXT: BAIT + " a b " * 500}, "Unknown tokens"),
    ("training", "", "grid", pin("pin", head="x", query=2**70), "is not a whole number"),
    ("examples", "", "about", {TEXT: BAIT}, "is not one of: all, learn,"),
]

ROW = json.loads(write_recording([make_timing()]))["timings"][0]


def recording(**fields: Any) -> bytes:
    """A recording of one timing, with other fields."""
    return json.dumps({"format": "attention timings 1", "timings": [ROW | fields]}).encode()


# The name of a file, what it holds, and what a box says of it.
FILES: list[tuple[str, bytes, str]] = [
    ("empty.json", b"", "The file is not JSON"),
    ("picture.json", b"\x89PNG\r\n\x1a\n" + b"\0" * 99, "The file is not JSON"),
    ("pickle.json", b"\x80\x04\x95cposix\nsystem\n(S'id'\ntR.", "The file is not JSON"),
    ("archive.json", b"PK\x03\x04" + b"\0" * 99, "The file is not JSON"),
    ("page.json", b"<script src=http://evil.example></script>", "The file is not JSON"),
    ("half.json", recording()[:300], "The file is not JSON"),
    ("deep.json", DEEP.encode(), "The file has too many brackets within each other"),
    ("list.json", b"[]", "This is not a recording: \"format\" is not 'attention timings 1'."),
    ("none.json", b'{"format": "attention timings 1", "timings": []}', "The recording has no timings."),
    ("large.json", b"[" + b" " * 8_000_000 + b"]", "The file has 8,000,002 bytes; 4,500,000 are allowed."),
    ("nan.json", recording(median=float("nan")), "timings[0].median=nan is not between"),
    ("digits.json", b'{"a": ' + b"9" * 5000 + b"}", "The file is not JSON"),
    ("bait.json", recording(device_name=BAIT), "is not a name: letters, digits, spaces"),
    ("twice.json", b'{"format": "x", "format": "y"}', "The file has 'format' twice in one object"),
    ("more.json", recording(speed=1), "timings[0].'speed' is not a field of a timing."),
    (f"{BAIT}.json", b"[]", "This is not a recording"),
    ("../../etc/passwd.json", b"[]", "This is not a recording"),
    ("wrong.exe", recording(), ""),
]
