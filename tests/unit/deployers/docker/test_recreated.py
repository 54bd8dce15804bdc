"""How a container is created again: what it was given stays, what its image had is the new image's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kstreams_runbooks.deployers.docker.recreated import creation, own_config, taken_for_the_images

ID = "0123456789abcdef" * 4
OLD = {
    "Env": ["PATH=/bin", "JAVA=17"],
    "Cmd": ["run"],
    "Entrypoint": ["/entry"],
    "Labels": {"built": "1"},
    "User": "app",
}
NEW = {
    "Env": ["PATH=/bin", "JAVA=21"],
    "Cmd": ["start"],
    "Entrypoint": ["/new"],
    "Labels": {"built": "2"},
    "User": "java",
}


def inspected(config: dict[str, Any], **given_: Any) -> dict[str, Any]:
    """As the engine reports a container, as far as it matters here."""
    host = {"NetworkMode": "shop", "Links": None} | given_.pop("HostConfig", {})
    networks = {
        "shop": {"Aliases": ["orders", ID[:12]], "IPAMConfig": {"IPv4Address": "10.9.0.5"}, "IPAddress": "10.9.0.5"},
        "other": {"Aliases": None, "MacAddress": "02:42:0a:09:00:05"},
    }
    found = {"Id": ID, "Config": {"Image": "orders:1", "Hostname": ID[:12], **config}, "HostConfig": host}
    return found | {"NetworkSettings": {"Networks": given_.pop("Networks", networks)}} | given_


def test_what_the_image_had_is_left_to_the_new_one() -> None:
    """Variables, command, labels and user of the old image go; those of the container stay."""
    config = {
        "Env": ["PATH=/bin", "JAVA=17", "OURS=1"],
        "Cmd": ["run"],
        "Entrypoint": ["/entry"],
        "User": "app",
        "Labels": {"built": "1", "team": "orders"},
    }
    body = creation(inspected(config), OLD, "orders:2", {"S_A": "1"}, frozenset({"S_A", "S_B"})).body
    assert (body["Image"], body["Env"], body["Labels"]) == ("orders:2", ["OURS=1", "S_A=1"], {"team": "orders"})
    assert not {"Cmd", "Entrypoint", "User"} & body.keys()
    assert body["Hostname"] == "", "the engine gives it the beginning of the new id"


def test_labels_of_compose_are_the_containers_own() -> None:
    """Compose 2 gives them to the image that it builds as well; without them it would start another container."""
    service = {"com.docker.compose.service": "orders-1"}
    old, new = OLD | {"Labels": service}, NEW | {"Labels": {"com.docker.compose.service": "image-of-2"}}
    own = own_config({"Labels": service | {"team": "orders"}}, old)
    assert own["Labels"] == service | {"team": "orders"}
    assert [*taken_for_the_images(own, new | {"Labels": service})] == []


def test_an_entrypoint_of_its_own_keeps_its_command() -> None:
    """With one the engine ignores the image's command, also one that is equal."""
    own = own_config({"Entrypoint": ["/ours"], "Cmd": ["run"]}, OLD)
    assert (own["Entrypoint"], own["Cmd"]) == (["/ours"], ["run"])
    own = own_config({"Entrypoint": ["/entry"], "Cmd": ["other"]}, OLD)
    assert ("Entrypoint" in own, own["Cmd"]) == (False, ["other"])


def test_variables_of_a_runbook_are_exactly_those_of_the_target() -> None:
    """One that is unset is gone, and any other variable stays."""
    config = {"Env": ["S_A=old", "S_B=old", "S_C=ours"]}
    body = creation(inspected(config), {}, "orders:2", {"S_A": "new=1"}, frozenset({"S_A", "S_B"})).body
    assert body["Env"] == ["S_C=ours", "S_A=new=1"]


def test_networks_are_those_that_it_was_given() -> None:
    """The first one at its creation, the others after it; addresses that the engine assigned are not kept."""
    made = creation(inspected({}), {}, "orders:2", {}, frozenset())
    assert made.body["NetworkingConfig"]["EndpointsConfig"] == {
        "shop": {
            "IPAMConfig": {"IPv4Address": "10.9.0.5"},
            "Links": None,
            "Aliases": ["orders"],
            "DriverOpts": None,
        }
    }
    assert made.connect == {"other": {"IPAMConfig": None, "Links": None, "Aliases": None, "DriverOpts": None}}


@pytest.mark.parametrize("mode", ["host", "container:abc", "none"])
def test_the_engines_own_networks(mode: str) -> None:
    """A container in the network of the machine or of another container has no host name of its own."""
    networks = {mode: {"Aliases": None}} if mode != "container:abc" else {}
    found = inspected({"Hostname": "machine"}, HostConfig={"NetworkMode": mode}, Networks=networks)
    made = creation(found, {}, "orders:2", {}, frozenset())
    assert made.connect == {}
    assert made.body["Hostname"] == ("machine" if mode == "none" else "")


def test_links_are_written_as_they_are_given() -> None:
    """The engine shows them in another form than it takes."""
    found = inspected({}, HostConfig={"Links": ["/broker:/orders-1/kafka"]})
    assert creation(found, {}, "orders:2", {}, frozenset()).body["HostConfig"]["Links"] == ["broker:kafka"]


def test_what_the_way_back_would_drop_is_named() -> None:
    """An entry of the container that the new image has too, with the same value."""
    own = own_config({"Env": ["JAVA=21", "OURS=1"], "Labels": {"built": "2"}, "User": "java", "Cmd": ["start"]}, OLD)
    own.pop("Entrypoint", None)
    assert [*taken_for_the_images(own, NEW)] == ["variable JAVA", "Labels built", "User", "Cmd"]
    assert [*taken_for_the_images(own_config(OLD, OLD), NEW)] == []


_NAMES = st.sampled_from(["A", "B", "C"])
_VALUES = st.sampled_from(["1", "2"])
_ENV = st.dictionaries(_NAMES, _VALUES).map(lambda found: [f"{name}={value}" for name, value in sorted(found.items())])
_WORDS = st.sampled_from([None, ["run"], ["start"]])
_IMAGE = st.fixed_dictionaries(
    {
        "Env": _ENV,
        "Labels": st.dictionaries(_NAMES, _VALUES),
        "User": st.sampled_from(["", "app"]),
        "Cmd": _WORDS,
        "Entrypoint": _WORDS,
    }
)


def joined(own: dict[str, Any], image: dict[str, Any]) -> dict[str, Any]:
    """What the engine makes of a request and an image (moby, daemon/commit.go, merge)."""
    env = {one.partition("=")[0]: one for one in [*(image["Env"] or []), *(own.get("Env") or [])]}
    entry, cmd = own.get("Entrypoint"), own.get("Cmd")
    if not entry:
        cmd = cmd or image["Cmd"]
        entry = entry if entry is not None else image["Entrypoint"]
    return {
        "Env": sorted(env.values()),
        "Labels": {**image["Labels"], **(own.get("Labels") or {})},
        "User": own.get("User") or image["User"],
        "Cmd": cmd,
        "Entrypoint": entry,
    }


@given(_IMAGE, _IMAGE, _IMAGE)
def test_there_and_back_is_where_it_was(given_: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> None:
    """For every container that an image and a request can make, unless it is refused for what the way back drops."""
    before = joined(given_, old)
    own = own_config(before, old)
    if [*taken_for_the_images(own, new)]:
        return
    between = joined(own, new)
    assert joined(own_config(between, new), old) == before
