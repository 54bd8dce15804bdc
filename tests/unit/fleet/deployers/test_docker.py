"""What a fleet entry may declare of containers; one sentence for anything else."""

from typing import Any

import pytest
from kstreams_runbooks.fleet.deployers.docker import DockerSettings
from pydantic import ValidationError

ENTRY: dict[str, Any] = {
    "kind": "docker",
    "instances": [{"name": "o1", "metrics": "http://o1:8778"}, {"name": "o2", "metrics": "http://o2:8778"}],
    "image": "registry/orders:{artifact}",
    "releases": {"3.4.1": "17", "4.3.1": "18"},
    "state": "/state",
    "variable_prefix": "STREAMS_",
}
TLS = {"ca": "/tls/ca.pem", "certificate": "/tls/cert.pem", "key": "/tls/key.pem"}


def test_the_shortest_entry() -> None:
    """A container is named as its instance, and the engine is that of this machine."""
    made = DockerSettings.model_validate(ENTRY)
    assert [one.container for one in made.instances] == ["o1", "o2"]
    assert made.images == {"3.4.1": "registry/orders:17", "4.3.1": "registry/orders:18"}
    assert (made.url, made.describes_settings) == ("unix:///var/run/docker.sock", False)
    assert DockerSettings.model_validate(ENTRY | {"topology": ["/describe"]}).describes_settings
    filed = ENTRY | {"variable_prefix": None, "settings_file": "/conf/x.properties", "topology": ["/describe"]}
    assert not DockerSettings.model_validate(filed).describes_settings
    assert DockerSettings.model_validate(filed | {"topology": ["/d", "{settings_file}"]}).describes_settings


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"url": "tcp://engine:2376"}, "has no tls, and without it every client of the engine is root"),
        ({"url": "unix:///run/docker.sock", "tls": TLS}, "has tls for a socket; remove it"),
        ({"url": "ssh://engine"}, "must begin with unix:// or tcp://"),
        ({"url": "tcp://me:secret@engine:2376", "tls": TLS}, "must be tcp://host:port alone"),
        ({"url": "https://engine:2376", "tls": TLS}, "must begin with unix:// or tcp://"),
        ({"url": "tcp://engine", "tls": TLS}, "names no port; an engine with TLS is usually at tcp://host:2376"),
        ({"url": "tcp://[::1]:", "tls": TLS}, "names no port"),
        ({"url": "unix://"}, "names no socket"),
        ({"image": "registry/orders:latest"}, "has neither {release} nor {artifact}"),
        ({"image": "orders:{tag}"}, "has the placeholder {tag}"),
        ({"releases": {"3.4.1": "17", "4.3.1": "17"}}, "names registry/orders:17 twice"),
        ({"variable_prefix": None}, "needs variable_prefix or settings_file, and not both"),
        ({"settings_file": "/conf/x"}, "needs variable_prefix or settings_file, and not both"),
        ({"variable_prefix": "9"}, "should match pattern"),
        ({"once_file": "once"}, "has once_file or directory without settings_file"),
        (
            {"variable_prefix": None, "settings_file": "/conf/x", "once_file": "x"},
            "has one name for once_file and settings_file",
        ),
        ({"settable": ["num.stream.threads", "num-stream-threads"]}, "names STREAMS_NUM_STREAM_THREADS twice"),
        ({"settable": ["Upgrade.From"]}, "names STREAMS_UPGRADE_FROM twice"),
        ({"state": "state"}, "must be an absolute path in the container"),
        ({"state": "/a/../b"}, "must be an absolute path in the container"),
        (
            {"instances": [{"name": "o1.next", "metrics": "http://o1:1"}]},
            "ends with .next or .before, which are the names of the containers of a change",
        ),
        (
            {
                "instances": [
                    {"name": "o1", "metrics": "http://o1:1", "container": "c"},
                    {"name": "o2", "metrics": "http://o2:1", "container": "c"},
                ]
            },
            "has container c twice",
        ),
        (
            {
                "instances": [
                    {"name": "o1", "metrics": "http://o1:1", "state_dir": "/srv/o/state"},
                    {"name": "o2", "metrics": "http://o2:1", "state_dir": "/srv/o/state/2"},
                ]
            },
            "has overlapping state_dir",
        ),
    ],
)
def test_a_bad_entry(change: dict[str, Any], why: str) -> None:
    """Object, what was expected, and a way out."""
    with pytest.raises(ValidationError) as no:
        DockerSettings.model_validate(ENTRY | change)
    assert why in str(no.value)
