"""The images of the declared releases on the engine, and which of them a container has."""

from collections.abc import Mapping
from typing import Any

from kstreams_runbooks.deployers.docker.engine import Engine
from kstreams_runbooks.deployers.docker.inspected import Container
from kstreams_runbooks.model.readings.readings import Missing
from kstreams_runbooks.wording import outside


class Images:
    """One look at the engine's images; each is read once."""

    def __init__(self, engine: Engine, references: Mapping[str, str]) -> None:
        self._engine, self._references = engine, references
        self._read: dict[str, Mapping[str, Any] | None] = {}

    def config(self, reference: str) -> Mapping[str, Any] | None:
        """Config of an image, by reference or id; None if it is not on the engine."""
        found = self._image(reference)
        return None if found is None else found.get("Config") or {}

    def release_of(self, container: Container) -> str | Missing:
        """The release whose image a container has; Missing if it is none of them, or one that has changed since."""
        by_name = [release for release, reference in self._references.items() if reference == container.image]
        if by_name:
            now = self._id(by_name[0])
            if now is None or now == container.image_id:
                return by_name[0]
            return Missing(
                f"{container.name}: image {outside(container.image, 200)} was {container.image_id[:19]} when the "
                f"container was created, and is {now[:19]} now; give each build a tag of its own, or create the "
                "container again"
            )
        by_id = [release for release in self._references if self._id(release) == container.image_id]
        if len(by_id) == 1:
            return by_id[0]
        whose = f"releases {', '.join(by_id)} alike" if by_id else "no declared release"
        return Missing(
            f"{container.name}: image {outside(container.image, 200)} is that of {whose} (declared: "
            f"{', '.join(outside(one, 200) for one in self._references.values())}); correct `image` or `releases`"
        )

    def _id(self, release: str) -> str | None:
        found = self._image(self._references[release])
        return None if found is None else str(found["Id"])

    def _image(self, reference: str) -> Mapping[str, Any] | None:
        if reference not in self._read:
            self._read[reference] = self._engine.image(reference)
        return self._read[reference]
