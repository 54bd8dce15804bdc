"""What a person is asked for where a deployer does not act itself: one sentence per wish, complete in itself."""

from typing import Literal

from kstreams_runbooks.model.target import Target

Wish = Literal["deploy", "stop", "start", "clear_state"]


def request_sentence(wish: Wish, instance: str, target: Target | None = None, artifact: str = "") -> str:
    """The sentence; `artifact` is what the release is called where it is deployed.

    Target and artifact are for `deploy` alone, which is a ValueError without a target.
    """
    if wish == "stop":
        return f"stop {instance} and leave it stopped"
    if wish == "start":
        return f"start {instance}"
    if wish == "clear_state":
        return f"delete the local state of {instance} while it is stopped (<state.dir>/<application.id>, nothing else)"
    if target is None:
        raise ValueError(f"{wish} {instance}: no target")
    called = f" ({artifact})" if artifact and artifact != target.release else ""
    given = ", ".join(f"{key}={value}" for key, value in target.settings)
    wanted = f"{given} and no other setting of a runbook" if given else "no setting of a runbook"
    # Left behind it would do harm without a word: it is named, whatever else there may be.
    unset = "" if "upgrade.from" in dict(target.settings) else " (upgrade.from unset)"
    return f"set {instance} to release {target.release}{called} with {wanted}{unset}, then restart {instance}"
