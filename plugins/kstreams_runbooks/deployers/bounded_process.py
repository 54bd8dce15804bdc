"""Runs a program with limits of time and output, and with a declared environment."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

# The largest description of a topology has some 100 KB, and a fleet of 1,000 instances prints 400 KB.
MOST_OUTPUT = 4 * 2**20
# How much of the end of stderr is kept: an error repeats its last line.
_KEPT = 4_096
_TO_END_S = 5.0
_BLOCK = 65_536
# How long the end of a program may go unnoticed if a process that it started holds its output open.
_LOOK_S = 0.05
# The most that a pipe may still hold when the program has ended: 1 MiB.
_BLOCKS_AFTER = 32

_sinks: list["subprocess.Popen[bytes]"] = []


@dataclass(frozen=True, slots=True)
class Finished:
    """How the program ended: a negative code is a signal. `err` is the end of what it wrote to stderr."""

    code: int
    out: bytes
    err: bytes


class NotDone(Exception):
    """The program was ended at its time limit; `err` is the end of what it wrote to stderr."""

    def __init__(self, err: bytes) -> None:
        super().__init__()
        self.err = err


class TooMuch(Exception):
    """The program was ended because it printed more than MOST_OUTPUT."""


def run_bounded(
    words: Sequence[str], environment: Mapping[str, str], timeout_s: float, *, only_looks: bool
) -> Finished:
    """Run the program to its end and read its output meanwhile. OSError and ValueError if it cannot be run.

    At a limit it gets SIGTERM and, five seconds later, SIGKILL. With `only_looks` the signals go to its whole process
    group. Otherwise they go to the program alone, because a process that it started may be the instance. That process
    continues, also if it inherited the program's stdout or stderr; what it writes there is discarded.
    """
    _sinks[:] = [one for one in _sinks if one.poll() is None]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        # A signal that asks the task to stop must not end a script in the middle of its work.
        start_new_session=True,
    )
    reading = _Reading(process)
    try:
        if not reading.to_the_end(time.monotonic() + timeout_s):
            _end(process, group=only_looks)
            raise NotDone(bytes(reading.err))
        return Finished(process.returncode, bytes(reading.out), bytes(reading.err))
    except TooMuch:
        _end(process, group=only_looks)
        raise
    finally:
        reading.close(keep_open=not only_looks)


@dataclass(slots=True)
class _Reading:
    process: "subprocess.Popen[bytes]"
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    _open: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def __post_init__(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._open.register(stream, selectors.EVENT_READ, stream)

    def to_the_end(self, until: float) -> bool:
        """Read until the program has ended, whether or not its output is still open; False if it is late."""
        while self.process.poll() is None:
            if (left := until - time.monotonic()) <= 0:
                return False
            if not self._open.get_map():
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(left)
                continue
            for key, _ in self._open.select(min(left, _LOOK_S)):
                self._read(key.data)
        for _ in range(_BLOCKS_AFTER):
            for key, _events in self._open.select(0):
                self._read(key.data)
        return True

    def _read(self, stream: IO[bytes]) -> None:
        block = os.read(stream.fileno(), _BLOCK)
        if not block:
            self._open.unregister(stream)
        elif stream is self.process.stdout:
            self.out += block
            if len(self.out) > MOST_OUTPUT:
                raise TooMuch
        else:
            self.err += block
            del self.err[:-_KEPT]

    def close(self, *, keep_open: bool) -> None:
        held = [key.fileobj for key in self._open.get_map().values()]
        self._open.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                if keep_open and stream in held:
                    _throw_away(stream)
                stream.close()


def _throw_away(stream: IO[bytes]) -> None:
    """Let a separate process read the rest. If the pipe closed, a write would end any process that has no handler."""
    os.set_blocking(stream.fileno(), True)
    with suppress(OSError):
        _sinks.append(
            subprocess.Popen(
                ["cat"], stdin=stream, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
        )


def _end(process: "subprocess.Popen[bytes]", *, group: bool) -> None:
    _signal(process, signal.SIGTERM, group=group)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_TO_END_S)
    _signal(process, signal.SIGKILL, group=group)
    process.wait()


def _signal(process: "subprocess.Popen[bytes]", number: int, *, group: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
