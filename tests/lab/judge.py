"""The judge of the traffic, as a test asks it."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab import kafka
from lab.stack import Stack

_LIMIT_S = 300


@dataclass(frozen=True)
class Judgement:
    """Exit code and document of `verify-traffic`."""

    code: int
    document: dict[str, Any]

    def faults(self) -> dict[str, dict[str, int]]:
        """The figures of each output that are not zero."""
        kinds = ("missing", "extra", "duplicate", "out_of_order")
        found = {
            output["output"]: {kind: output[kind] for kind in kinds if output[kind]}
            for output in self.document["outputs"]
        }
        return {name: kinds for name, kinds in found.items() if kinds}

    @property
    def only_late_windows(self) -> bool:
        """Whether nothing is doubtful but windows that may have had late records.

        A reset reads a history that may be longer than the grace; these windows are left out of all figures.
        """
        doubtful = {one["output"] for one in self.document["outputs"] if one["verdict"] != "ok"}
        return not self.faults() and doubtful <= {"windowed"}


def judged(stack: Stack, group: str = "orders", *, topics: Sequence[str] = (), orphan: str | None = None) -> Judgement:
    """Stop the traffic, let the application finish, judge; the fifth output too where its topic is there.

    `topics` are topics of other names, as `role=topic`; the group has left `orphan` unread.
    """
    stack.stop_traffic()
    kafka.wait_drained(stack.lab.bootstrap, group, orphan=orphan)
    done = subprocess.run(
        [str(stack.lab.command), *verify_traffic(stack.lab.bootstrap, topics)],
        env=stack.environment(),
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode in {0, 1, 3}, done.stderr
    return Judgement(done.returncode, json.loads(done.stdout))


def verify_traffic(bootstrap: str, topics: Sequence[str] = ()) -> tuple[str, ...]:
    """The words of `verify-traffic` for the lab's application: a stack makes the topics that its release writes.

    `topics` are topics of other names, as `role=topic`.
    """
    counted = [f"{kafka.COUNTED}={kafka.COUNTED}"] if kafka.exists(bootstrap, kafka.COUNTED) else []
    named = (word for topic in (*counted, *topics) for word in ("--topic", topic))
    return ("verify-traffic", "--bootstrap", bootstrap, "--format", "json", *named)
