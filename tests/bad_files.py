"""Files that are not what they say, each with the sentence that the page shows: `BAD`. And mutants of good ones."""

from __future__ import annotations

import io
import json
import pickle
import random
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice

import numpy as np
import torch

from attention.array_files import safe_file
from attention.array_files.limits import DataError
from attention.imported import detect, token_file
from attention.imported.reading import Reading, read_stack
from attention.imported.registry import register
from attention.timing import recordings
from attention.timing.recordings import write_recording
from tests import example_uploads
from tests.timings import make_timing


def npz(**arrays: np.ndarray) -> bytes:
    """A good .npz of these arrays."""
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)  # pyright: ignore[reportArgumentType]  arrays by name
    return memory.getvalue()


def npy(array: np.ndarray, pickled: bool = False) -> bytes:
    """A good .npy."""
    memory = io.BytesIO()
    np.save(memory, array, allow_pickle=pickled)
    return memory.getvalue()


def npy_with_header(header: str, body: bytes = b"", version: int = 1) -> bytes:
    """A .npy with such a header."""
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header.encode() + body


def safe(header: object, body: bytes = b"", length: int | None = None) -> bytes:
    """A .safetensors with such a header."""
    packed = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(packed) if length is None else length) + packed + body


def entry(kind: str = "F32", shape: object = (1, 2, 2), ends: object = (0, 16)) -> dict:
    """What a header says of an array."""
    return {"dtype": kind, "shape": shape, "data_offsets": ends}


def pt(value: object) -> bytes:
    """What torch.save makes of something."""
    memory = io.BytesIO()
    torch.save(value, memory)
    return memory.getvalue()


def zip_bytes(*members: tuple[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", kind) as parts:
        for name, data in members:
            parts.writestr(name, data)
    return memory.getvalue()


def bomb() -> bytes:
    """A small zip that unpacks to 300 MB, made without these."""
    memory = io.BytesIO()
    shape = "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 1024, 256), }"
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as parts, parts.open("weights.npy", "w") as member:
        member.write(npy_with_header(shape))
        for _ in range(300):
            member.write(bytes(2**20))
    return memory.getvalue()


def lying() -> bytes:
    """A zip whose member is larger than its directory says."""
    data = bytearray(npz(weights=np.zeros((2, 500, 500), np.float32)))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 100)
    return bytes(data)


def texts(kind: str, many: int, size: int, there: int | None = None) -> bytes:
    """A .npy that says it has so many texts of a kind, each of so many bytes."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({many},), }}"
    return npy_with_header(header, bytes(many * size if there is None else there))


def zip64(many: int = 100_000, moved: int = 0) -> bytes:
    """A small .npz with an end in 64 bits before its end, which says that there are many more files; and their list."""
    data = npz(weights=W)
    at = data.rfind(b"PK\x05\x06")
    start = struct.unpack_from("<L", data, at + 16)[0]
    listed = (b"PK\x01\x02" + bytes(42)) * many
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, many, many, len(listed), start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start + len(listed) + moved, 1)
    return data[:start] + listed + long + locator + data[at:]


def names(many: int) -> bytes:
    """A JSON object of so many names and one more, which comes twice."""
    return b'{%s,"z":0,"z":0}' % b",".join(b'"%x":0' % at for at in range(many))


def itself() -> list:
    """A list that has itself in it."""
    found: list = []
    found.append(found)
    return found


def laughs() -> list:
    """Lists of lists, a million in the end."""
    found: list = [torch.ones(1).tolist()]
    for _ in range(6):
        found = [found] * 10
    return found


def storage_of(size: int | None) -> tuple[tuple[str, bytes], ...]:
    """What a .pt has in its zip, its one storage cut to so many bytes or left out."""
    with zipfile.ZipFile(io.BytesIO(pt(torch.ones(9)))) as parts:
        found = {name: parts.read(name) for name in parts.namelist()}
    held = {name: data[:size] if name.endswith("/data/0") else data for name, data in found.items()}
    return tuple((name, data) for name, data in held.items() if size is not None or not name.endswith("/data/0"))


def weights_after_dropout() -> np.ndarray:
    """Weights after dropout."""
    made = torch.nn.functional.dropout(
        torch.softmax(torch.randn(1, 2, 40, 40, generator=torch.manual_seed(0)) * 3, -1), 0.1
    )
    return np.asarray(made.numpy())


class Payload:
    """Runs a command where it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        import os

        return os.system, ("touch /tmp/attention-lab-was-here",)


W = np.asarray(torch.softmax(torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(0)), -1).numpy())
Q = np.asarray(torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(1)).numpy())


def at(place: tuple[int, ...], value: float, array: np.ndarray = W) -> np.ndarray:
    """The array with another number in one place."""
    found = array.copy()
    found[place] = value
    return found


BIG = 10 * 2**30
MOST = 44_000_000  # bytes of arrays that a host reads which says that it has 690 MB
SMALL = 2**17  # bytes of a seed
TAKEN = 50_000_000  # bytes that a mutant may take beside its own
DIGITS = re.compile(rb"\d+")
BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "empty": ("x.npz", lambda: b"", "It is empty."),
    "text": ("x.docx", lambda: b"hello", "This kind of file is not supported. Supported: .safetensors, .npz"),
    "picture as npz": ("x.npz", lambda: b"\x89PNG\r\n\x1a\n" + bytes(50), "It does not start like a .npz file"),
    "wrong magic": ("x.npy", lambda: b"\x93NUMPX" + bytes(50), "It does not start like a .npy file"),
    "markup": ("<script>x</script>", lambda: b"<html><script>alert(1)</script>", "This kind of file is not supported."),
    # .npy
    "npy truncated": ("x.npy", lambda: npy(W)[:-9], "'array' has 600 bytes by its shape; there are 591."),
    "npy longer": ("x.npy", lambda: npy(W) + b"123", "'array' has 600 bytes by its shape; there are 603."),
    "npy no header": ("x.npy", lambda: npy(W)[:9], "'array' is not an .npy file: it does not start like one."),
    "npy version": ("x.npy", lambda: npy_with_header("{}", version=9), "'array' is of version 9 of .npy; 1 to 3 are read."),
    "npy object": ("x.npy", lambda: npy(np.array([{}, []], object), pickled=True), "'array' holds Python objects"),
    "npy payload": ("x.npy", lambda: npy(np.array([Payload()], object), pickled=True), "'array' holds Python objects"),
    "npy table": ("x.npy", lambda: npy(np.zeros(3, [("a", "f4")])), "has a header that is none, or of a table"),
    "npy code": ("x.npy", lambda: npy_with_header("__import__('os').system('true')"), "has a header that is none"),
    "npy 10 GB": ("x.npy", lambda: npy_with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({BIG // 4},), }}"), f"'array' is said to have {BIG:,} bytes; 268,435,456 are read at the most."),
    "npy negative": ("x.npy", lambda: npy_with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }"), "has a header that is none"),
    "npy huge sizes": ("x.npy", lambda: npy_with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999, 999999999999999999), }"), "'array' is said to have 3,999,"),
    "npy axes": ("x.npy", lambda: npy_with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({'1,' * 40}), }}", bytes(4)), "'array' has 40 axes; 6 are read at the most."),
    "npy long header": ("x.npy", lambda: npy_with_header("{" + " " * 60_000), "'array' has a header of 60,001 characters; 4,096 are read at the most."),
    "npy complex": ("x.npy", lambda: npy(W.astype(complex)), "'array' is of type '<c16'; numbers of 1 to 8 bytes are read"),
    "npy no numbers": ("x.npy", lambda: npy(np.zeros((0, 4), np.float32)), "'array' is empty: its sizes are (0, 4)."),
    # .npz
    "npz truncated": ("x.npz", lambda: npz(weights=W)[:-30], "The file is cut off: the end of its zip"),
    "npz damaged": ("x.npz", lambda: npz(weights=W).replace(b"PK\x01\x02", b"PK\x09\x09"), "It is damaged: its zip"),
    "zip bomb": ("x.npz", bomb, "It unpacks to 314,572,879 bytes; 268,435,456 are read at the most here."),
    "zip that lies": ("x.npz", lying, "It is damaged: its zip"),
    "npz many": ("x.npz", lambda: zip_bytes(*((f"{i}.npy", b"") for i in range(1500))), "There are 1,500 files in it; 1,040 are read at the most."),
    "npz without": ("x.npz", lambda: zip_bytes(), "It has no arrays."),
    "npz pickle": ("x.npz", lambda: zip_bytes(("q.npy", pickle.dumps(Payload()))), "'q' is not an .npy"),
    "npz object": ("x.npz", lambda: npz(weights=np.array([[1], [2, 3]], object)), "'weights' holds Python objects"),
    "npz bzip2": ("x.npz", lambda: zip_bytes(("q.npy", npy(Q)), kind=zipfile.ZIP_BZIP2), "is encrypted, or packed in a way that NumPy does not use"),
    "npz of no name": ("x.npz", lambda: npz(foo=W, bar=W), "No array is named like weights, or like q and k: found 'foo', 'bar'."),
    "npz climbing": ("x.npz", lambda: zip_bytes(("../../evil", npy(W)), ("<b>x</b>.npy", npy(W))), "found '../../evil', '<b>x</b>'."),
    # .safetensors
    "safe short": ("x.safetensors", lambda: b"123", "It has 3 bytes: that is not a complete .safetensors file."),
    "safe 10 GB header": ("x.safetensors", lambda: safe({}, length=BIG), f"Its header is said to have {BIG:,} bytes; 1,048,576 are read at the most."),
    "safe cut header": ("x.safetensors", lambda: safe({}, length=90), "Its header is said to have 90 bytes; the file ends after 2."),
    "safe no JSON": ("x.safetensors", lambda: safe(b"{nonsense"), "Its header is not JSON"),
    "safe deep JSON": ("x.safetensors", lambda: safe(b"[" * 90_000 + b"]" * 90_000), "Its header has too many brackets within each other."),
    "safe text": ("x.safetensors", lambda: safe("text"), "Its header is not a JSON object"),
    "safe twice": ("x.safetensors", lambda: safe(b'{"q": 1, "q": 2}'), "Its header has 'q' twice in one object."),
    "safe truncated": ("x.safetensors", lambda: safe({"q": entry()}, bytes(9)), "Its arrays are said to have 16 bytes; there are 9 behind the header."),
    "safe 10 GB": ("x.safetensors", lambda: safe({"q": entry(shape=[BIG // 4], ends=[0, BIG])}), f"'q' is said to have {BIG:,} bytes"),
    "safe overlap": ("x.safetensors", lambda: safe({"q": entry(), "k": entry(ends=[8, 24])}, bytes(24)), "'k' overlaps with the array before it: it begins at 8, the one before ends at 16."),
    "safe gap": ("x.safetensors", lambda: safe({"q": entry(), "k": entry(ends=[20, 36])}, bytes(36)), "'k' begins behind a gap"),
    "safe place": ("x.safetensors", lambda: safe({"q": entry(ends=[0, 12])}, bytes(12)), "'q' has 16 bytes by its shape, and 12 by its place."),
    "safe negative": ("x.safetensors", lambda: safe({"q": entry(shape=[-1, -4], ends=[0, 16])}, bytes(16)), "'q' has sizes that are not whole numbers from 0 on."),
    "safe no number": ("x.safetensors", lambda: safe({"q": entry(ends=["0", None])}, bytes(16)), "'q' has data_offsets that are not two whole numbers."),
    "safe type": ("x.safetensors", lambda: safe({"q": entry("F8_E4M3", ends=[0, 4])}, bytes(4)), "'q' is of type 'F8_E4M3'; these are read: F16, BF16"),
    "safe 100,000 axes": ("x.safetensors", lambda: safe({"q": entry(shape=[1] * 100_000, ends=[0, 4])}, bytes(4)), "'q' has 100,000 axes; 6 are read at the most."),
    "safe many": ("x.safetensors", lambda: safe({f"{i}": entry("U8", [1], [i, i + 1]) for i in range(2000)}, bytes(2000)), "There are 2,000 arrays in it; 1,024 are read at the most."),
    "safe words": ("x.safetensors", lambda: safe({"__metadata__": {"tokens": 5}}), "The metadata in its header is not a JSON object of texts."),
    "safe tokens": ("x.safetensors", lambda: safe({"__metadata__": {"tokens": "[1, 2]"}, "weights": entry()}, bytes(16)), "“tokens” is not a list of texts."),
    "safe parameters": ("x.safetensors", lambda: safe({"h.0.q_proj.weight": entry()}, bytes(16)), "It has the parameters of a model, such as 'h.0.q_proj.weight'."),
    # numbers
    "NaN": ("x.npz", lambda: npz(weights=at((1, 2, 3, 4), np.nan)), "weights at layer 1, head 2, query 3, key 4 is nan, not a finite number."),
    "infinite": ("x.npz", lambda: npz(q=at((0, 1, 2, 3), np.inf, Q), k=Q), "q at layer 0, head 1, query 2, channel 3 is inf, not a finite number."),
    "negative": ("x.npz", lambda: npz(weights=at((0, 0, 1, 2), -0.1)), "weights at layer 0, head 0, query 1, key 2 is -0.1, but a weight can't be negative."),
    "scores": ("x.npz", lambda: npz(weights=W * 30), "but a weight can't be over 1"),
    "whole numbers": ("x.npz", lambda: npz(weights=np.ones((2, 3, 3), np.int64)), "weights has numbers of type I64; floating-point types are supported."),
    "one axis": ("x.npz", lambda: npz(weights=np.ones(9, np.float32)), "Weights need 2 axes (queries, keys) to 5"),
    "q alone": ("x.npz", lambda: npz(q=Q), "There is q without k. Queries and keys belong together."),
    "channels apart": ("x.npz", lambda: npz(q=Q, k=Q[..., :3]), "k is of shape (2, 3, 5, 3) and float32; with the others it would be (2, 3, 5, 4)."),
    "ragged layers": ("x.npz", lambda: npz(attn_0=W[0], attn_1=W[0, :2]), "weights of layer 1 is of shape (2, 5, 5); that of layer 0 is (3, 5, 5)."),
    "other layers": ("x.npz", lambda: npz(**{"layers.0.q": Q[0], "layers.1.q": Q[0], "layers.0.k": Q[0]}), "There is q of layers 0, 1, and k of 0."),
    "too many weights": ("x.npz", lambda: npz(weights=np.zeros((64, 600, 600), np.float16)), "64 heads of 600 × 600 weights are more than this app can show weight by weight: at most 500 tokens with so many heads."),
    "mask that adds": ("x.npz", lambda: npz(q=Q, k=Q, mask=np.full((5, 5), 0.5, np.float32)), "mask adds numbers other than 0 and minus infinity to scores"),
    "mask apart": ("x.npz", lambda: npz(q=Q, k=Q, mask=np.ones((4, 5), bool)), "The mask is of shape (4, 5); with the others it would end in (5, 5)."),
    "many masks": ("x.npz", lambda: npz(q=Q, k=Q, mask=np.ones((20_000, 5, 5), bool)), "The mask is of shape (20000, 5, 5); with the others it would end in (5, 5)."),
    "NaN everywhere": ("x.npz", lambda: npz(weights=np.full((1, 13, 1024, 1024), np.nan, np.float16)), "weights is NaN throughout its first head."),
    "scores over 1": ("x.npz", lambda: npz(weights=W * 30), "If these are scores before the softmax, save scores.softmax(-1)."),
    "after dropout": ("x.npz", lambda: npz(weights=weights_after_dropout()), "Rows sum to 1 in the mean and have zeros. If this is dropout, save in evaluation mode"),
    "large queries": ("x.npz", lambda: npz(q=Q * 0 + 3e38, k=Q * 0 + 3e38, v=Q), "q at layer 0, head 0, query 0, channel 0 is 3e+38; products of numbers over 1e+16 overflow"),
    # what a file states, or implies
    "14 million tokens": ("x.npz", lambda: zip_bytes(("weights.npy", npy(W)), ("tokens.npy", texts("|S2", 14_000_000, 2))), "'tokens' has 14,000,000 texts in 28,000,000 bytes; 65,536 and 8,388,608 are read at the most."),
    "long tokens": ("x.npz", lambda: zip_bytes(("weights.npy", npy(W)), ("tokens.npy", texts("<U2000", 2_000, 8_000))), "'tokens' has 2,000 texts in 16,000,000 bytes;"),
    "tokens of nothing": ("x.npz", lambda: zip_bytes(("weights.npy", npy(W)), ("tokens.npy", texts("<U0", 10**17, 0, 0))), "'tokens' is not a list of texts of 1 to 2,000 characters."),
    "safe twice of many": ("x.safetensors", lambda: safe(names(4_000)), "Its header has 'z' twice in one object."),
    "safe many names": ("x.safetensors", lambda: safe(names(90_000)), "Its header has more than 4,096 different names."),
    "safe many brackets": ("x.safetensors", lambda: safe(b"[%s]" % b",".join([b"[]"] * 300_000)), "Its header has more than 163,840 commas and opening brackets."),
    "safe huge sizes": ("x.safetensors", lambda: safe(b'{"q":{"dtype":"F32","shape":[%s],"data_offsets":[0,4]}}' % b",".join([b"9" * 4000] * 6)), "'q' has sizes that are not whole numbers from 0 on."),
    "safe huge offsets": ("x.safetensors", lambda: safe(b'{"q":{"dtype":"F32","shape":[1],"data_offsets":[0,%s]}}' % (b"9" * 4000)), "'q' has data_offsets that are not two whole numbers."),
    "zip64 that differs": ("x.npz", zip64, "It is damaged: its zip has two ends, and they differ about what is in it."),
    "zip64 elsewhere": ("x.npz", lambda: zip64(moved=1), "It is damaged: its zip has an end in 64 bits that is not where it should be."),
    "zip directory": ("x.npz", lambda: zip_bytes(*((f"{i:0250}", b"") for i in range(1000))), "The list of its files has 296,000 bytes; 262,144 are read at the most."),
    # .pt
    "pt payload": ("x.pt", lambda: pt({"q": Payload()}), "It is not a file of tensors only: 'q' is of the kind 'posix.system'. Whole models and other objects are not supported"),
    "pt pickle": ("x.pt", lambda: pickle.dumps(Payload()), "It is a pickle, which is not read, or a file of PyTorch before 1.6"),
    "pt model": ("x.pt", lambda: pt(torch.nn.Linear(2, 2)), "It is not a file of tensors only: 'it' is of the kind 'torch.nn.modules.linear.Linear'."),
    "pt 160 GB": ("x.pt", lambda: pt(torch.zeros(1).expand(200_000, 200_000)), "'tensor' is said to have 160,000,000,000 bytes; 268,435,456 are read at the most."),
    "pt repeated": ("x.pt", lambda: pt(torch.full((1,), 1 / 512).expand(8, 8, 512, 512)), "Its tensors repeat numbers, as after expand: they take 67,108,864 bytes of memory"),
    "pt sparse": ("x.pt", lambda: pt({"q": torch.eye(3).to_sparse()}), "'q' is not a dense tensor of a supported type: F16, BF16"),
    "pt without": ("x.pt", lambda: pt([]), "It has no tensors."),
    "pt truncated": ("x.pt", lambda: pt({"q": torch.ones(2, 2)})[:-60], "The file is cut off: the end of its zip"),
    "pt itself": ("x.pt", lambda: pt({"weights": torch.from_numpy(W), "self": itself()}), "It has lists or dictionaries more than 8 deep, or such as contain themselves."),
    "pt long list": ("x.pt", lambda: pt({"weights": torch.from_numpy(W), "more": "x" * 2**22}), "Its list of tensors has 4,194,"),
    "pt long name": ("x.pt", lambda: pt({"w" * 300: torch.from_numpy(W)}), "A name in it has 300 characters; 200 are allowed."),
    "pt strange name": ("x.pt", lambda: pt({(1, 2): torch.from_numpy(W)}), "A name in it is neither a text nor a whole number."),
    "pt small storage": ("x.pt", lambda: zip_bytes(*storage_of(8)), "'tensor' has more numbers than its file: it is damaged."),
    "pt no storage": ("x.pt", lambda: zip_bytes(*storage_of(None)), "'tensor' has no numbers in it: it is damaged."),
    "pt many tensors": ("x.pt", lambda: pt([torch.ones(1)] * 2000), "There are more than 1,024 tensors in it."),
}  # fmt: skip
TOKENS: dict[str, tuple[str, bytes, str]] = {
    "no JSON": ("x.json", b"{", "It is not JSON: expected a list of texts"),
    "deep JSON": ("x.json", b"[" * 90_000 + b"]" * 90_000, "It has too many brackets within each other"),
    "numbers": ("x.json", b"[1, 2]", "“tokens” is not a list of texts."),
    "no list": ("x.json", b'{"words": []}', "It has no list “tokens”"),
    "not UTF-8": ("x.txt", b"\xff\xfe\x00", "It is not UTF-8 text."),
    "too many": ("x.json", json.dumps(["x"] * 70_000).encode(), "“tokens” has more than 65,536 texts"),
    "many lines": ("x.txt", b"ab\n" * 1_000_000, "It has more than 65,536 lines or words; there can be 65,536 tokens."),
    "many brackets": (
        "x.json",
        b"[%s]" % b",".join([b"[]"] * 300_000),
        "It has more than 163,840 commas and opening brackets: it is not a list of at most 65,536 texts.",
    ),
    "too large": ("x.txt", bytes(5_000_000), "It has 5,000,000 bytes; 4,194,304 of tokens are read at the most,"),
    "too large in JSON": (
        "x.json",
        b" " * 5_000_000,
        "It has 5,000,000 bytes; 4,194,304 of tokens are read at the most,",
    ),
    "too large for its characters": (
        "x.json",
        "é".encode() * 1_100_000,
        "at the most, 2,097,152 where not all are ASCII.",
    ),
    "many names": (
        "x.json",
        names(2_000),
        "It has more than 1,000 different names: it is not a list of at most 65,536 texts.",
    ),
}


@cache
def good() -> tuple[tuple[str, bytes], ...]:
    """Files that are read, of every kind but .pt."""
    q, k = (torch.from_numpy(Q).half() for _ in range(2))
    said = {"tokens": json.dumps(list("abcde")), "mask": "causal", "scale": "0.5"}
    parts = {f"layers.{layer}.{name}": part[layer] for layer in range(2) for name, part in (("q", q), ("k", k))}
    return (
        ("x.npz", npz(weights=W, tokens=np.array(list("abcde")))),
        ("x.npz", npz(q=Q, k=Q, mask=np.tril(np.ones((5, 5), bool)))),
        ("x.npy", npy(np.asfortranarray(W))),
        ("x.safetensors", safe_file.write_safetensors(parts, said)),
        ("x.json", json.dumps(list(example_uploads.OTHERS)).encode()),
        ("x.txt", " ".join(example_uploads.OTHERS).encode()),
    )


@cache
def seeds() -> tuple[tuple[str, bytes], ...]:
    """Good files of every kind."""
    q = torch.from_numpy(Q)
    others = (
        (
            "x.npz",
            zip_bytes(("weights.npy", npy(W)), ("tokens.npy", npy(np.array(list("abcde")))), kind=zipfile.ZIP_STORED),
        ),
        ("x.pt", pt({"weights": torch.from_numpy(W), "tokens": list("abcde"), "more": [1, (2.5, {"x": None})]})),
        ("x.pt", pt([q[:, :, 1:], q.transpose(-1, -2), torch.nn.Parameter(q), torch._neg_view(q)])),  # pyright: ignore[reportPrivateImportUsage]
        ("x.timings", write_recording([make_timing(64), make_timing(128)]).encode()),
    )
    return (*good(), *others)


@cache
def small() -> tuple[tuple[str, bytes], ...]:
    """Bad files of few bytes, also those that unpack to many, and small ones of kinds that are large above."""
    found = [(name, data) for name, make, _ in BAD.values() if len(data := make()) <= SMALL]
    found += [(name, data) for name, data, _ in TOKENS.values() if len(data) <= SMALL]
    return (*found, ("x.npz", zip64(1_000)), ("x.safetensors", safe(names(9_000))), ("x.timings", names(9_000)))


def mutants(seed: int) -> Iterator[tuple[str, bytes]]:
    """Good files and small bad ones with some bytes changed, or some numbers; of zips also what is within them, packed again as it should be."""
    draw = random.Random(seed)
    while True:
        name, data = draw.choice(draw.choice((seeds(), small())))
        changed = draw.choice((changed_bytes, changed_bytes, changed_numbers))
        yield name, within_zip(data, draw, changed) if data[:2] == b"PK" and draw.randrange(2) else changed(data, draw)


def changed_bytes(data: bytes, draw: random.Random) -> bytes:
    """Some bytes changed, cut out, doubled or moved, or parts of another file."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        start = draw.randrange(len(made) or 1)
        stop = min(len(made), start + draw.choice((1, 1, 2, 4, 8, 64)))
        kind = draw.randrange(5)
        if kind == 0:
            made[start:stop] = draw.randbytes(stop - start)
        elif kind == 1:
            del made[start:stop]
        elif kind == 2:
            made[start:start] = made[start:stop]
        elif kind == 3:
            made[start:stop] = draw.choice(seeds())[1][start:stop]
        elif made:
            made[start] ^= 1 << draw.randrange(8)
    return bytes(made)


def changed_numbers(data: bytes, draw: random.Random) -> bytes:
    """A number that stands in it as text, or as four bytes, is another one, large ones among them."""
    number = draw.choice((0, 1, 2, 5, 1000, 2**16, 10**6, 2**24, 2**31, 2**32 - 1, 10**17, 10**400))
    places = [found.span() for found in islice(DIGITS.finditer(data), 200)]
    if places and draw.randrange(4):
        start, stop = draw.choice(places)
        return data[:start] + str(number).encode() + data[stop:]
    at = draw.randrange(max(1, len(data) - 3))
    return data[:at] + struct.pack("<L", number % 2**32) + data[at + 4 :]


def within_zip(data: bytes, draw: random.Random, changed: Callable[[bytes, random.Random], bytes]) -> bytes:
    """A zip one of whose files is changed, where that is not large: the sums over its bytes are right again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            members = [(entry.filename, parts.read(entry)) for entry in parts.infolist() if entry.file_size <= SMALL]
    except (zipfile.BadZipFile, NotImplementedError):
        return changed(data, draw)
    if members:
        at = draw.randrange(len(members))
        members[at] = members[at][0], changed(members[at][1], draw)
    return zip_bytes(*members, kind=draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def try_file(name: str, data: bytes) -> bool:
    """Is a file read, held and let go of, or refused with a sentence? Whatever else comes of it is a fault."""
    try:
        if name.endswith(".timings"):
            recordings.read_recording(data, name)
        elif name.endswith(".json"):
            token_file.read_json(data)
        elif name.endswith(".txt"):
            token_file.read_text(data)
        else:
            register(read_stack(detect.arrays(data, name, MOST), {}, Reading()).stack)
    except (DataError, recordings.RecordingError) as error:
        return not str(error)  # without a sentence it would be no refusal
    return True
