"""Mutators: each takes bytes and a random generator, and gives other bytes."""

import json
import re

NUMBERS = ["NaN", "nan", "-nan", "inf", "-inf", "Infinity", "1e308", "-1.7976931348623157e308", "1e309", "1e-320", "5e-324",
           "-0", "0", "-1", "1", "2", "3", "99999999999999999999", "9007199254740993", "18446744073709551615", "4294967296",
           "2147483648", "-9223372036854775808", "0x10", "1_000", "1,5", "", "?", "1e", "e5", ".", "-", "+1", "٣", "１",
           "1e999999999", "0" * 400, "1" + "0" * 300, "NULL", "N/A", "true", "1e16", "1e17", "1e-17", "0.1", "1.5", "-5"]
LETTERS = ["\0", "\x1b[31m", "\x1b]0;x\x07", "\ufeff", "\u202e", "💥", "\x7f", "\x85", "\u2028", "\t", "\r", "\"", "'", ",",
           ":", ";", "@", "%", "{", "}", "#", "\\", "é", "\x0c", "<script>", "&amp;", "=1+1", " ", "a" * 5000]
WORDS = re.compile(rb"[^\s,:;=(){}\[\]\"']+")
DIGITS = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def odd_number(rng):
    return rng.choice(NUMBERS)


def flip(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def set_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 2, 16))):
        if data:
            data[rng.randrange(len(data))] = rng.choice((0, 0xFF, 0x7F, 0x80, 10, 13, 32, 44, rng.randrange(256)))
    return bytes(data)


def truncate(data, rng):
    return data[:rng.randrange(len(data) + 1)]


def behead(data, rng):
    return data[rng.randrange(min(len(data), 200) + 1):]


def span(data, rng):
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + rng.choice((1, 2, 7, 50, 400)))


def cut(data, rng):
    begin, end = span(data, rng)
    return data[:begin] + data[end:]


def double(data, rng):
    begin, end = span(data, rng)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 3, 100)) + data[end:]


def insert(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(LETTERS).encode("utf-8") + data[at:]


def lines(data, rng):
    rows = data.split(b"\n")
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    action = rng.randrange(7)
    if action == 0:
        del rows[i]
    elif action == 1:
        rows.insert(j, rows[i])
    elif action == 2:
        rows[i], rows[j] = rows[j], rows[i]
    elif action == 3:
        rows[i:i + 1] = rows[i:i + 1] * rng.choice((2, 50, 2000))
    elif action == 4:
        rows[i:i + 2] = [b"".join(rows[i:i + 2])]
    elif action == 5:
        rows.insert(i, b"")
    else:
        rows = rows[:i]
    return b"\n".join(rows)


def replace_match(pattern, data, rng, make):
    found = list(pattern.finditer(data[:20000]))
    if not found:
        return data
    match = rng.choice(found)
    return data[:match.start()] + make(match.group()) + data[match.end():]


def number(data, rng):
    return replace_match(DIGITS, data, rng, lambda old: odd_number(rng).encode())


def word(data, rng):
    return replace_match(WORDS, data, rng, lambda old: rng.choice((odd_number(rng), *LETTERS)).encode())


def head(data, rng):
    """The same for the first lines, where counts and names stand."""
    part = data[:300]
    return rng.choice((number, word, cut, double))(part, rng) + data[300:]


def line_ends(data, rng):
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\0", b"")))


def encoding(data, rng):
    text = data.decode("utf-8", "replace")
    return rng.choice((text.encode("utf-16"), text.encode("utf-16-le"), b"\xef\xbb\xbf" + data, text.encode("utf-32"), b"",
                       b"\0" * 100, b"\n" * 5000, data + b"\0" * 5000, data + b"\x1a", data * 2, data.upper(), data.lower()))


def bytes_of(rng, count):
    return rng.randbytes(count)


def noise(data, rng):
    return bytes_of(rng, rng.choice((1, 10, 1000))) + rng.choice((b"", data))


TEXT = [flip, set_bytes, truncate, behead, cut, double, insert, lines, lines, number, number, number, word, word, head, head,
        line_ends, encoding, noise]
BINARY = [flip, flip, set_bytes, set_bytes, truncate, behead, cut, double, insert, noise]


def some(data, rng, mutators):
    """One to three of the mutators, one after another; never above two megabytes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(mutators)(data, rng)[:1 << 21]
    return data


ODD = [None, True, False, 0, -1, 1, 2, 1e308, -1e308, 5e-324, 1e16, 1e-16, 0.5, 1.5, 9007199254740992, 18446744073709551615,
       -9223372036854775808, 10**30, 99999999999, "", "auto", "none", "nan", "inf", "Infinity", "\0", "\x1b[31m", "x" * 2000, [], {}, [[]], [None],
       [1, 2, 3], {"a": 1}, "flat_rbf", "gak", "published", [0] * 1000]


def paths(value, path=()):
    """All places of a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(min(len(value), 30)):
            yield from paths(value[i], (*path, i))


def change_json(value, rng):
    """Changes one place of a JSON value: another value, nothing, a further key, a copy of another place."""
    value = json.loads(json.dumps(value))
    where = [p for p in paths(value) if p]
    if not where:
        return rng.choice(ODD)
    path = rng.choice(where)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    key, old = path[-1], holder[path[-1]]
    action = rng.randrange(10)
    if action == 0:
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[rng.choice(("x", "", "kernel", "step", "\x1b[31m", key + "_"))] = rng.choice(ODD)
    elif action == 2:
        holder[key] = read_at(value, rng.choice(where))
    elif action == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        holder[key] = rng.choice((old + 1, old - 1, -old, old * 2, old * 1e9, old / 1e9, 0))
    elif action == 4 and isinstance(old, list):
        holder[key] = rng.choice((old + old, old[:-1], old[::-1], old * 50, old[1:]))
    elif action == 5 and isinstance(old, str):
        holder[key] = rng.choice((old + "x", old[:-1], old.upper(), old[:len(old) // 2], old * 2))
    else:
        holder[key] = rng.choice(ODD)
    return json.loads(json.dumps(value))


def read_at(value, path):
    for key in path:
        value = value[key]
    return value


def json_text(data, rng):
    """JSON by its values, by its text, or nested deeper than a stack."""
    action = rng.randrange(12)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return some(data, rng, TEXT)
    if action == 0:
        depth = rng.choice((100, 1000, 200000))
        return b"[" * depth + b"]" * depth * rng.randrange(2)
    if action == 1:
        return b'{"a":' * 50000
    if action <= 4:
        return some(data, rng, TEXT)
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = change_json(value, rng)
    return json.dumps(value).encode()
