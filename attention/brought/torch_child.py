"""The process in which a .pt is read, and which ends with it: a program of its own that imports nothing of this package.

    python -I torch_child.py MOST ARRAYS AXES < file.pt > arrays

It is not trusted by whoever starts it: what it prints is read as a .safetensors of a stranger is. `torch.load` with
`weights_only=True` refuses code, and was broken before (CVE-2025-32434); hence the process, without a way to take more memory or
time than it may, to write a file or to start another process. Where it fails, it prints a sentence to standard error.
"""

import io
import json
import pathlib
import resource
import struct
import sys

ASIDE = 2**27  # bytes beside what the file has and unpacks to
SECONDS = 20  # of its processor
TYPES = {
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "bool": "BOOL",
    "int8": "I8",
    "uint8": "U8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
}
PLAIN = (str, int, float, bool, type(None))


class Refused(Exception):  # noqa: N818  it is what is done
    """What the file has can't be shown; the message says why."""


def main(most: int, arrays: int, axes: int) -> int:
    """Reads standard input and prints its tensors; 1 where that fails."""
    data = sys.stdin.buffer.read()
    torch = limited(len(data), most)
    try:
        tensors, said = found(torch, data, arrays, axes, most)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    except MemoryError:
        print("It takes more memory than it may.", file=sys.stderr)
        return 1
    except Exception:
        print(
            "It is no file of tensors alone. Whole models and other objects are not read: save tensors, as in "
            "torch.save({'q': q, 'k': k}, path).",
            file=sys.stderr,
        )
        return 1
    written(tensors, said)
    return 0


def limited(size: int, most: int):
    """torch, in a process that from now on may do little."""
    import torch

    torch.set_num_threads(1)
    status = pathlib.Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    taken = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData")), 2**32)
    bound(resource.RLIMIT_DATA, taken + 2 * size + 3 * most + ASIDE)
    bound(resource.RLIMIT_CPU, SECONDS)
    bound(resource.RLIMIT_FSIZE, 0)
    bound(resource.RLIMIT_NPROC, 0)
    bound(resource.RLIMIT_CORE, 0)
    return torch


def bound(what: int, most: int) -> None:
    """No more than that, nor than before."""
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def found(torch, data: bytes, arrays: int, axes: int, most: int):
    """The tensors of a file by their names, and what it says in words."""
    loaded = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    tensors, said, left = {}, {}, [(loaded, "")]
    while left:
        value, name = left.pop()
        if len(tensors) + len(left) > 4 * arrays:
            raise Refused(f"There are more than {arrays:,} arrays in it.")
        if isinstance(value, torch.Tensor):
            tensors[name or "tensor"] = value
        elif isinstance(value, dict):
            left += [(part, joined(name, key)) for key, part in reversed(list(value.items())[: 4 * arrays])]
        elif isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
            said[name or "tokens"] = json.dumps(list(value)[:70_000])
        elif isinstance(value, (list, tuple)):
            left += [(part, joined(name, at)) for at, part in reversed(list(enumerate(value[: 4 * arrays])))]
        elif isinstance(value, PLAIN):
            said[name or "said"] = value if isinstance(value, str) else json.dumps(value)
    checked(torch, tensors, arrays, axes, most)
    return tensors, {name: text for name, text in said.items() if len(text) < 2**17}


def joined(name: str, key: object) -> str:
    """The name of a part of something that has one."""
    if not isinstance(key, (str, int)):
        raise Refused("A name in it is neither a text nor a whole number.")
    return f"{name}.{key}" if name else str(key)


def checked(torch, tensors: dict, arrays: int, axes: int, most: int) -> None:
    """Raises Refused unless they are few, plain, and small once each has memory of its own."""
    if not tensors:
        raise Refused("There is no tensor in it.")
    if len(tensors) > arrays:
        raise Refused(f"There are {len(tensors):,} tensors in it; {arrays:,} are read at the most.")
    size = 0
    for name, tensor in tensors.items():
        kind = str(tensor.dtype).removeprefix("torch.")
        if tensor.layout is not torch.strided or tensor.is_meta or tensor.is_quantized:
            raise Refused(f"{name[:60]!r} is no dense tensor.")
        if kind not in TYPES or tensor.ndim > axes:
            raise Refused(
                f"{name[:60]!r} is of type {kind} and has {tensor.ndim} axes: numbers of at most {axes} axes are read."
            )
        size += tensor.numel() * tensor.element_size()
    if size > most:
        raise Refused(f"Its tensors have {size:,} bytes; {most:,} are read at the most here.")


def written(tensors: dict, said: dict) -> None:
    """Prints them as a .safetensors has them."""
    header, end = {"__metadata__": said}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        kind = TYPES[str(tensor.dtype).removeprefix("torch.")]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [end, end + size]}
        end += size
    packed = json.dumps(header).encode()
    sys.stdout.buffer.write(struct.pack("<Q", len(packed)) + packed)
    for tensor in tensors.values():
        flat = tensor.detach().contiguous().reshape(-1).view(dtype=sys.modules["torch"].uint8)
        sys.stdout.buffer.write(flat.numpy().data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
