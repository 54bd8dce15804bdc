"""A run that waits with one of the product's triggers and does nothing else."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param


class Wait(BaseOperator):
    """Parks its task with the trigger that the form names."""

    def execute(self, context: Mapping[str, Any]) -> None:
        """Defer."""
        module, _, name = context["params"]["trigger"].rpartition(".")
        trigger = getattr(import_module(module), name)
        self.defer(trigger=trigger(**context["params"]["arguments"]), method_name="ended")

    def ended(self, context: Mapping[str, Any], event: Any = None) -> None:
        """A wait that ends within the measurement is a mistake of it."""
        raise AssertionError(f"{context['run_id']} has ended: {event}")


with DAG("waits", schedule=None, params={"trigger": "", "arguments": Param({}, type="object")}):
    Wait(task_id="wait", retries=0)
