"""When a process was started, and whether it still exists, on this machine."""

import os
import sys
import time

import psutil


def started_at_ms(pid: int) -> int | None:
    """Start of a local process in Unix ms, exact to 10 ms on Linux; None if there is no such process.

    psutil adds the kernel's boot time, which is a whole second, so its absolute time is off by up to one. The age of
    the process is exact: it is counted in clock ticks since boot.
    """
    try:
        created = psutil.Process(pid).create_time()
    except psutil.Error:
        return None
    if not sys.platform.startswith("linux"):
        return int(created * 1000)
    since_boot = created - psutil.boot_time()
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot
    return int((time.time() - age) * 1000)


def family(pid: int) -> tuple[psutil.Process, ...]:
    """A local process and everything it started; empty if it is gone already."""
    try:
        process = psutil.Process(pid)
        return (process, *process.children(recursive=True))
    except psutil.Error:
        return ()


def alive(processes: tuple[psutil.Process, ...]) -> list[int]:
    """Process ids of those that still run, or that this user may not inspect; a zombie has stopped."""
    return [process.pid for process in processes if process.pid != os.getpid() and _runs(process)]


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        # Nothing shows that the process has gone.
        return True
