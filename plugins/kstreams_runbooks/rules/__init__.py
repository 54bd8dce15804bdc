"""Facts that change with a Kafka release, as rows of data with public sources; loaded and checked here."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import TypeAdapter

from kstreams_runbooks.model.versions import UpgradePathRule


def _rows(name: str) -> Any:
    return yaml.safe_load(files(__name__).joinpath(name).read_text(encoding="utf-8"))


@cache
def upgrade_path_rules() -> tuple[UpgradePathRule, ...]:
    """Rows of `upgrade_paths.yaml`, schema-checked; the first row that covers a pair decides."""
    return TypeAdapter(tuple[UpgradePathRule, ...]).validate_python(_rows("upgrade_paths.yaml"))
