"""What a test looks for in the JSON of a plan."""

from collections.abc import Mapping
from typing import Any


def told(plan: Mapping[str, Any], name: str) -> set[str]:
    """The ids of the findings about an object that no other finding covers."""
    return {one["id"] for one in plan["findings"] if one["object"] == name and not one["covered_by"]}
