"""Files that a person, an editor, a broken disk or an attacker may leave where a file is expected."""

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

MEGABYTE = 1024 * 1024

# YAML and JSON alike: JSON is read as YAML where YAML is expected.
TEXTS: Mapping[str, bytes] = {
    "alias bomb": b"a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 10)) for n in range(ord("b"), ord("l"))),
    "alias bomb of one long text": b"a: &a " + b"x" * 900_000 + b"\nb: [" + b", ".join([b"*a"] * 10_000) + b"]\n",
    "self reference": b"a: &a [1, *a]\n",
    "self reference of the whole": b"&a\nb: *a\n",
    "self reference in a key": b"a: &a {? *a : 1}\n",
    "merges of merges": b"m0: &m0 {a: 1, b: 2, c: 3, d: 4}\n"
    + b"".join(b"m%d: &m%d {<<: [%s]}\n" % (n, n, b", ".join([b"*m%d" % (n - 1)] * 20)) for n in range(1, 12)),
    "unknown alias": b"a: *nothing\n",
    "deep flow lists": b"a: " + b"[" * 100_000,
    "deep flow lists, closed": b"a: " + b"[" * 100_000 + b"]" * 100_000,
    "deep flow mappings": b"{a: " * 100_000,
    "deep block lists": b"- " * 100_000 + b"x\n",
    "deep complex keys": b"? " * 100_000 + b"x\n",
    "deep block mappings": b"".join(b" " * n + b"a:\n" for n in range(1_400)),
    "deep JSON": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep JSON lists": b"[" * 100_000 + b"]" * 100_000,
    "key twice": b"owner: a\nowner: b\n",
    "key twice, deep down": b"a:\n  b:\n    - c: {d: 1, d: 2}\n",
    "key twice, as text and as a number": b'a: {1: x, "1": y}\n',
    "key twice, in JSON": b'{"owner": "a", "owner": "b"}',
    "key twice, deep down in JSON": b'{"a": [{"b": {"c": 1, "c": 2}}]}',
    "key that is a list": b"? [a, b]\n: 1\n",
    "two megabytes": b"a: " + b"x" * (2 * MEGABYTE) + b"\n",
    "a hundred thousand values": b"a: [" + b"1, " * 100_000 + b"1]\n",
    "a number that is empty": b'a: !!int ""\n',
    "a decimal that is empty": b'a: !!float ""\n',
    "a number of a sign": b'a: !!int "-"\n',
    "a time that is none": b"a: !!timestamp soon\n",
    "NUL bytes": b"owner: a\x00b\n",
    "NUL in an escape": b'owner: "a\\0b"\n',
    "not UTF-8": b"owner: \xff\xfe\n",
    "UTF-16": "owner: a\n".encode("utf-16"),
    "surrogate": b"owner: \xed\xa0\x80\n",
    "surrogate in an escape": b'owner: "\\ud800"\n',
    "Python object": b"a: !!python/object/apply:os.system [echo]\n",
    "Python name": b"a: !!python/name:os.system\n",
    "tag of its own": b"a: !mine x\n",
    "set": b"a: !!set {x, y}\n",
    "huge number": b"a: " + b"9" * 900_000 + b"\n",
    "huge hexadecimal number": b"a: 0x" + b"f" * 900_000 + b"\n",
    "huge sexagesimal number": b"a: 1" + b":59" * 300_000 + b"\n",
    "a million documents": b"---\n" * 200_000,
    "second document": b"a: 1\n---\nb: 2\n",
    "second document after an end": b"a: 1\n...\nb: 2\n",
    "directives": b"".join(b"%%TAG !a%d! x\n" % n for n in range(60_000)) + b"--- a\n",
    "directives after an end": b"a: 1\n...\n" + b"".join(b"%%TAG !a%d! x\n" % n for n in range(60_000)) + b"--- a\n",
    "anchors": b"".join(b"- &a%d x\n" % n for n in range(80_000)),
    "quote without an end": b'a: "' + b"x\n" * 400_000,
    "date that is none": b"a: 2026-99-99\n",
    "number that is none": b"a: !!int abc\n",
    "control characters": b"owner: a\x1b[2J\n",
    "empty": b"",
    "a list": b"- a\n",
    "a text": b"a\n",
    "null": b"~\n",
}

# Files that are not regular or may not be read: a name and a function that creates the file.
Make = Callable[[Path], object]


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        # The path of a socket is short.
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def _circle(path: Path) -> None:
    path.symlink_to("other")
    path.with_name("other").symlink_to(path.name)


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2_000_000_000)


KINDS: Mapping[str, Make] = {
    "pipe": os.mkfifo,
    "link to a pipe": _link_to_a_pipe,
    "socket": _socket,
    "directory": Path.mkdir,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "silent device": lambda path: path.symlink_to("/dev/tty"),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "links in a circle": _circle,
    "file of two gigabytes": _huge,
}

CASES = (*TEXTS, *KINDS)


def make(case: str, path: Path) -> Path:
    """Put one case at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if case in TEXTS:
        path.write_bytes(TEXTS[case])
    else:
        KINDS[case](path)
    return path
