"""Model files, taken apart and put together with a right checksum (the rule of `detector/container.rs`)."""

import json
import struct
import zlib

KEY = "varnorm"
NAMES = {"F64": "F64", "U64": "U64"}


def read(data):
    """The header of varnorm, and arrays by name as (type, shape, bytes)."""
    (size,) = struct.unpack("<Q", data[:8])
    layout = json.loads(data[8:8 + size])
    entry = layout.pop("__metadata__")[KEY]
    body = data[8 + size:]
    arrays = {name: (a["dtype"], a["shape"], body[slice(*a["data_offsets"])]) for name, a in layout.items()}
    return json.loads(entry.split(" ", 1)[1]), arrays


def checksum(text, arrays):
    """CRC-32 of the JSON and of every array in order of names, with name, type and shape."""
    crc = zlib.crc32(text.encode())
    for name in sorted(arrays):
        kind, shape, values = arrays[name]
        crc = zlib.crc32(values, zlib.crc32(f"{name} {kind} [{', '.join(map(str, shape))}]".encode(), crc))
    return f"{crc:08x}"


def write(header, arrays):
    """The bytes of a model file."""
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"), ensure_ascii=False)
    layout, at = {"__metadata__": {KEY: f"{checksum(text, arrays)} {text}"}}, 0
    for name in sorted(arrays):
        kind, shape, values = arrays[name]
        layout[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(values)]}
        at += len(values)
    head = json.dumps(layout, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + b"".join(arrays[name][2] for name in sorted(arrays))


def check(data):
    """Fails where the checksum does not fit."""
    (size,) = struct.unpack("<Q", data[:8])
    layout = json.loads(data[8:8 + size])
    said, text = layout["__metadata__"][KEY].split(" ", 1)
    _, arrays = read(data)
    if checksum(text, arrays) != said:
        raise ValueError("the checksum does not fit")
