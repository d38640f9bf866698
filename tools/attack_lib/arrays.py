"""Mutators of .npy and .npz files that keep the container right and change what it says."""

import io
import struct
import zipfile

from . import mutate

TYPES = ["<f8", "<f4", ">f8", "<i8", "|u1", "|b1", "<U5", "<c16", "|O", "<M8[ns]", "<f2", "<f16", "<i2", ">i4", "|S8", "|V8", "f8", "", "<f99999999"]


def npy(rng, data=None, shape=None):
    """An array with a header of its own making."""
    shape = shape or rng.choice(((24, 20, 2), (24, 40), (0,), (0, 5, 2), (5, 0, 2), (5, 2, 0), (), (7,), (2, 2, 2, 2), (1, 1, 1), (1, 100000),
                                 (2**31, 2), (2**40, 1, 1), (2**63, 2**63), (99999999999999999999999, 1), (-1, 5), (3, 20000, 1)))
    kind = rng.choice(TYPES)
    order = rng.choice(("False", "True", "False", "maybe"))
    head = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    if rng.random() < 0.2:
        head = mutate.some(head, rng, mutate.TEXT)[:60000]
    count = 1
    for n in shape:
        count *= max(n, 0)
    size = min(count * 8, 1 << 20)
    body = data if data is not None else rng.choice((b"\0" * size, struct.pack("<d", 1.5) * (size // 8), rng.randbytes(min(size, 4000))))
    if rng.random() < 0.3:
        body = body[:rng.randrange(len(body) + 1)]
    version = rng.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    size = struct.pack("<H" if version[0] == 1 else "<I", min(len(head) + 1 + (rng.random() < 0.1) * 900, 60000))
    return b"\x93NUMPY" + version + size + head + b"\n" + body


def npz(data, rng):
    """Members renamed, repeated, left out, changed, bombs, zips within zips."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(item.filename, archive.read(item)) for item in archive.infolist()]
    except Exception:  # an earlier mutator was here: zipfile raises what it likes
        return mutate.some(data, rng, mutate.BINARY)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))) as archive:
        for name, content in members:
            action = rng.randrange(14)
            if action == 0:
                continue
            if action == 1:
                name = rng.choice(("../x.npy", "/etc/x.npy", "x", " ", "\x1b[31m.npy", "lengths.npy", "labels.npy", "values.npy", "a" * 60000))
            elif action == 2:
                content = npy(rng)
            elif action == 3:
                content = mutate.some(content, rng, mutate.BINARY)
            elif action == 4:
                content = data
            elif action == 5 and rng.random() < 0.2:
                count = rng.choice((10**6, 10**8, 3 * 10**8))
                head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count},), }}\n".encode()
                archive.writestr(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * count,
                                 zipfile.ZIP_DEFLATED, 1)
                continue
            elif action == 6:
                content = content[:128] + mutate.some(content[128:], rng, [mutate.set_bytes, mutate.cut, mutate.double])
            archive.writestr(name, content)
    made = out.getvalue()
    return mutate.some(made, rng, mutate.BINARY) if rng.random() < 0.2 else made
