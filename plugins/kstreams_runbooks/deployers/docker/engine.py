"""The Docker Engine's API, and its errors as sentences that a person can read.

Docker Engine API: containers, images, networks. A socket or TLS; plain TCP is refused by the declaration.
"""

import os
import pwd
import ssl
import struct
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import docker
import docker.errors
import docker.tls
import docker.utils
import requests.exceptions
import urllib3.exceptions

from kstreams_runbooks.deployers.docker.client import client
from kstreams_runbooks.deployers.docker.inspected import Container, Listed, container_of, image_of, listed
from kstreams_runbooks.errors import BadInput, LoginRefused, Refused, RunbookError, Unreachable, WriteRefused
from kstreams_runbooks.fleet.deployers.docker import EngineTls
from kstreams_runbooks.model.web_address import REFUSED_LOGIN
from kstreams_runbooks.wire.http import NoAnswer, why_refused
from kstreams_runbooks.wording import outside

# A reading is one of many, and an engine that creates or starts a container may be busy with its disk.
_READ_S, _WRITE_S = 10, 60
# The newest version whose answers this package knows: every later engine still speaks it (Engine API, version history).
_NEWEST = "1.44"
# A stack trace and what a client logs after it, as it closes.
_LAST_LINES = 200
_NOT_FOUND, _CONFLICT, _NOT_MODIFIED = 404, 409, 304

# The library passes on what the libraries below it raise while a log is read.
_FAILED = (
    docker.errors.DockerException,
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,
    OSError,
)

_T = TypeVar("_T")


class Engine:
    """One engine. If it is not `writable`, every call that changes a container is WriteRefused, for every caller.

    Unreachable if it does not answer, Refused with its own words if it answers and cannot.
    """

    def __init__(self, url: str, tls: EngineTls | None, *, writable: bool) -> None:
        self.address = outside(url, 200)
        self._url, self._tls, self._writable = url, tls, writable
        self._made: Any = None

    @property
    def command(self) -> tuple[str, ...]:
        """The first words of a command for this engine."""
        return ("docker", "--host", self._url)

    def containers(self) -> tuple[Listed, ...]:
        """Every container of the engine, up or not."""
        return self._typed(listed, self._read(lambda api: api.containers(all=True)))

    def container(self, name: str) -> Container | None:
        """A container by name or id, None if there is none."""
        answer = self._read(lambda api: api.inspect_container(name), absent=True)
        found = None if answer is None else self._typed(container_of, answer)
        # The engine finds a container by the beginning of its id too.
        return found if found and name in {found.name, found.id} else None

    def image(self, reference: str) -> Mapping[str, Any] | None:
        """An image on the engine, by reference or id, None if there is none: `Id`, `Config`."""
        answer = self._read(lambda api: api.inspect_image(reference), absent=True)
        return None if answer is None else self._typed(image_of, answer, f"image {outside(reference, 200)}: ")

    def status_of(self, container: Container, path: str) -> Mapping[str, Any] | None:
        """Mode and time of a path in a container, None if there is none."""

        def head(api: Any) -> Any:
            answer = api.head(api._url("/containers/{0}/archive", container.id), params={"path": path}, timeout=_READ_S)  # noqa: SLF001
            api._raise_for_status(answer)  # noqa: SLF001 - the library reads it with the whole content only
            return docker.utils.decode_json_header(answer.headers["X-Docker-Container-Path-Stat"])

        answer: Mapping[str, Any] | None = self._read(head, absent=True)
        if answer is not None and not isinstance(answer, dict):
            raise self._strange(f"status of {outside(path, 200)} is not an object")
        return answer

    def create(self, name: str, body: Mapping[str, Any], connect: Mapping[str, Mapping[str, Any]]) -> None:
        """Create a container, connected to these networks too; it is removed again if that fails."""
        self._write("create", name, lambda api: api.create_container_from_config(dict(body), name))
        try:
            for network, endpoint in connect.items():
                self._write("connect", name, partial(_connect, name=name, network=network, endpoint=endpoint))
        except RunbookError:
            self.remove(name)
            raise

    def rename(self, old: str, new: str) -> None:
        """Give a container another name."""
        self._write("rename", old, lambda api: api.rename(old, new))

    def start(self, name: str) -> None:
        """Start a container; nothing happens to one that runs."""
        self._write("start", name, lambda api: api.start(name))

    def signal(self, container: Container) -> None:
        """Ask its first process to stop, with the signal that it declares; nothing if it has ended meanwhile."""
        self._write("stop", container.name, lambda api: api.kill(container.id, container.stop_signal), fine=_CONFLICT)

    def stop(self, container: Container, limit_s: float) -> None:
        """Stop a container that the engine is about to start again."""
        self._write(
            "stop", container.name, lambda api: api.stop(container.id, timeout=int(limit_s)), fine=_NOT_MODIFIED
        )

    def remove(self, name: str) -> None:
        """Remove a container that does not run, and keep its volumes; nothing if there is none."""
        self._write("remove", name, lambda api: api.remove_container(name, v=False, force=False), fine=_NOT_FOUND)

    def last_lines(self, container: Container) -> str:
        """The end of what it wrote to its log; empty if its log cannot be read."""
        try:
            return bytes(self._read(lambda api: api.logs(container.id, tail=_LAST_LINES))).decode("utf-8", "replace")
        except RunbookError:
            return ""

    def asked(self, about: str, call: Callable[[Any], _T]) -> _T:
        """A call on the engine's API that changes no container but one of the caller's own."""
        return self._call(about, _WRITE_S, call)

    def _read(self, call: Callable[[Any], Any], *, absent: bool = False) -> Any:
        try:
            return self._call("", _READ_S, call)
        except _Answered as error:
            if absent and error.status == _NOT_FOUND:
                return None
            raise

    def _write(self, verb: str, name: str, call: Callable[[Any], Any], *, fine: int = 0) -> None:
        if not self._writable:
            raise WriteRefused(f"{verb} {name} is refused: this client of docker only reads ({self.address})")
        try:
            self._call(f"{verb} {name}: ", _WRITE_S, call)
        except _Answered as error:
            if error.status != fine:
                raise

    def _call(self, about: str, limit_s: int, call: Callable[[Any], _T]) -> _T:
        try:
            api = self._client()
            api.timeout = limit_s
            return call(api)
        except docker.errors.APIError as error:
            why = outside(error.explanation or error, 300)
            if error.status_code in REFUSED_LOGIN:
                raise LoginRefused(
                    f"docker engine: {about}HTTP {error.status_code}: {why}; the login is not accepted: correct "
                    f"deployer.tls, or what the engine allows it ({self.address})"
                ) from None
            raise _Answered(f"docker engine: {about}{why} ({self.address})", error.status_code or 0) from None
        except docker.errors.TLSParameterError:
            absent = next((str(file) for file in self._tls_files if not file.is_file()), "a file")
            raise BadInput(
                f"docker engine: {outside(absent, 200)} is not a file; correct deployer.tls ({self.address})"
            ) from None
        except NoAnswer as error:
            raise Unreachable(f"docker engine: {about}{error}; correct deployer.url ({self.address})") from None
        except requests.exceptions.InvalidJSONError as error:
            raise self._strange(outside(error, 100)) from None
        except _FAILED as error:
            raise Unreachable(f"docker engine: {about}{self._why(error, limit_s)} ({self.address})") from None
        except (ValueError, KeyError) as error:
            raise self._strange(outside(error, 100)) from None
        except RecursionError:
            raise self._strange("it is nested too deeply") from None
        except (TypeError, AttributeError, LookupError, struct.error):
            # The library takes the shape of an answer for granted.
            raise self._strange("it has another shape") from None

    def _client(self) -> Any:
        if self._made is None:
            tls = self._tls and docker.tls.TLSConfig(
                client_cert=(str(self._tls.certificate), str(self._tls.key)), ca_cert=str(self._tls.ca), verify=True
            )

            theirs = str(client(self._url, tls, _NEWEST, _READ_S).version(api_version=False)["ApiVersion"])
            spoken = theirs if docker.utils.version_lt(theirs, _NEWEST) else _NEWEST
            self._made = client(self._url, tls, spoken, _READ_S)
        return self._made

    def _why(self, error: BaseException, limit_s: int) -> str:
        causes = tuple(_causes(error))
        at = Path(self._url.removeprefix("unix://")) if self._url.startswith("unix://") else None
        for cause in causes:
            if isinstance(cause, PermissionError):
                return self._not_permitted(at)
            if isinstance(cause, FileNotFoundError):
                return "its socket does not exist; start the engine, or correct deployer.url"
            if isinstance(cause, ConnectionRefusedError):
                return "it does not listen at its address; start the engine, or correct deployer.url"
            if isinstance(cause, ssl.SSLError):
                said = why_refused(cause) if isinstance(cause, ssl.SSLCertVerificationError) else cause.reason or cause
                why = outside(said, 200)
                return f"its certificate or ours is not accepted ({why}); correct deployer.tls"
            if isinstance(cause, TimeoutError | requests.exceptions.Timeout):
                return f"no answer within {limit_s} s; look at the engine"
        if any(isinstance(cause, requests.exceptions.SSLError) for cause in causes):
            # Not of OpenSSL: the library below refuses a key before it is read.
            return self._key_refused(outside(causes[-1], 200))
        return f"{outside(causes[-1], 300)}; start the engine, or correct deployer.url"

    def _key_refused(self, said: str) -> str:
        if self._tls is None or "encrypted" not in said:
            return f"{said}; correct deployer.tls"
        key = outside(self._tls.key, 200)
        return f"our key {key} is encrypted, and no runbook has its password; declare one without in deployer.tls"

    def _not_permitted(self, socket: Path | None) -> str:
        user = pwd.getpwuid(os.geteuid()).pw_name if _has_name() else f"user {os.geteuid()}"
        if socket is not None:
            return (
                f"{user} may not use its socket ({_owner(socket)}); add the user to that group, and start the process "
                "again"
            )
        closed = next((str(file) for file in self._tls_files if not os.access(file, os.R_OK)), "a file")
        return f"{user} may not read {outside(closed, 200)} of deployer.tls; give the user the right to read it"

    @property
    def _tls_files(self) -> tuple[Path, ...]:
        return (self._tls.ca, self._tls.certificate, self._tls.key) if self._tls else ()

    def _typed(self, typed: Callable[[Any], _T], answer: Any, about: str = "") -> _T:
        try:
            return typed(answer)
        except ValueError as error:
            raise self._strange(f"{about}{error}") from None

    def _strange(self, why: str) -> Unreachable:
        return Unreachable(
            f"docker engine: the answer is not a docker engine's: {why}; correct deployer.url ({self.address})"
        )


class _Answered(Refused):
    """The engine answered with an error; `status` is that of HTTP."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


def _connect(api: Any, name: str, network: str, endpoint: Mapping[str, Any]) -> None:
    url = api._url("/networks/{0}/connect", network)  # noqa: SLF001 - the library has no call for a whole endpoint
    api._raise_for_status(api._post_json(url, data={"Container": name, "EndpointConfig": dict(endpoint)}))  # noqa: SLF001


def _causes(error: BaseException) -> list[BaseException]:
    """The error and everything that it wraps, as arguments or as causes: that of the socket is several levels in."""
    found: list[BaseException] = []
    left: list[Any] = [error]
    while left:
        one = left.pop(0)
        if isinstance(one, BaseException) and one not in found:
            found.append(one)
            left += [*one.args, one.__cause__, one.__context__, getattr(one, "reason", None)]
    return found


def _has_name() -> bool:
    try:
        return bool(pwd.getpwuid(os.geteuid()))
    except KeyError:
        return False


def _owner(socket: Path) -> str:
    """The group that may use the socket."""
    try:
        return f"group {socket.group()}"
    except (OSError, KeyError):
        return "its group"
