"""What a person is asked for where a deployer does not act itself: one sentence per wish, complete in itself."""

from collections.abc import Mapping
from typing import Literal

Wish = Literal["deploy", "stop", "start", "clear_state"]


def request_sentence(
    wish: Wish, instance: str, *, release: str = "", artifact: str = "", settings: Mapping[str, str] | None = None
) -> str:
    """The sentence; `artifact` is what the release is called where it is deployed.

    Release, artifact and settings are for `deploy` alone.
    """
    if wish == "stop":
        return f"stop {instance} and leave it stopped"
    if wish == "start":
        return f"start {instance}"
    if wish == "clear_state":
        return f"delete the local state of {instance} while it is stopped (<state.dir>/<application.id>, nothing else)"
    called = f" ({artifact})" if artifact and artifact != release else ""
    given = ", ".join(f"{key}={value}" for key, value in sorted((settings or {}).items()))
    wanted = f"{given} and no other setting of a runbook" if given else "no setting of a runbook"
    # Left behind it would do harm without a word: it is named, whatever else there may be.
    unset = "" if "upgrade.from" in (settings or {}) else " (upgrade.from unset)"
    return f"set {instance} to release {release}{called} with {wanted}{unset}, then restart {instance}"
