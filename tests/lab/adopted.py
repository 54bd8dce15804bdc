"""The copier that comes in front of the orders application: its names, and its routes."""

from collections.abc import Mapping
from typing import Final

COPIER: Final = "orders-control"
INSTANCES: Final = ("orders-control-1",)
# From each input of the application to its control topic.
ROUTES: Final[Mapping[str, str]] = {"orders": "orders-control", "customers": "customers-control"}
# The application's own settings, once it reads its control topics.
SETTINGS: Final[Mapping[str, str]] = {f"topic.{one}": control for one, control in ROUTES.items()}
