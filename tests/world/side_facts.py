"""The facts of one side of a pair, as topology-facts.jar reads them with the settings of a trial."""

from pathlib import Path

from kstreams_runbooks.properties import dump
from lab.settings import CHECKOUT
from lab.topology_facts import jar, java
from lab.trial import Trial

_SIDE_FACTS = CHECKOUT / "tests" / "integration" / "java" / "SideFacts.java"


def side_facts(trial: Trial, side: str) -> Path:
    """A file with the facts of one side of the pair of a trial, as its library has them."""
    settings = trial.directory / "facts.properties"
    given = {"bootstrap.servers": trial.bootstrap, "application.id": trial.application_id, **trial.settings}
    settings.write_text(dump(given), encoding="latin-1")
    ran = java(f"{trial.classes}:{jar()}", str(_SIDE_FACTS), trial.pair, side, str(settings))
    assert ran.returncode == 0, ran.stderr
    file = trial.directory / "facts.yaml"
    file.write_text(ran.stdout, "utf-8")
    return file
