"""The way back from a flush whose new release has run: the same flush, to the state before it."""

import json
from collections.abc import Sequence

from kstreams_runbooks.decide.plans.flush import FLUSH
from kstreams_runbooks.model.runs.plan import DeployedInstance
from kstreams_runbooks.wording import pasted


def flush_back_command(
    application: str, before: DeployedInstance, after: DeployedInstance, form: Sequence[tuple[str, str]]
) -> str:
    """The command that flushes an application from `after` back to `before`; `form` are fields of its first flush.

    It loses none of the records that are only in internal topics of `after`.
    """
    settings: dict[str, str | None] = dict.fromkeys(dict(after.settings).keys() - dict(before.settings).keys())
    settings |= {key: value for key, value in before.settings if dict(after.settings).get(key) != value}
    words = ["kstreams-runbooks", "trigger", FLUSH, "--application", application]
    words += ["--param", f"release={before.release}"]
    words += ["--param", f"settings={json.dumps(settings, sort_keys=True)}"] if settings else []
    words += [word for name, value in form for word in ("--param", f"{name}={value}")]
    return pasted(words)
