"""The notes of a run and its tasks over Airflow's REST API, as the login of a connection: read, written, probed.

A task has no other way to its run's note. All exchanges of one object have to end within one time: a note must not
delay the step that writes it.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from kstreams_runbooks.errors import BadInput, Refused, RunbookError, Unreachable
from kstreams_runbooks.model.web_address import WebAddress
from kstreams_runbooks.wire.http import HttpAnswer, NoAnswer, exchange
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits
from kstreams_runbooks.wire.strict_json import parsed
from kstreams_runbooks.wording import outside

# A healthy Airflow takes 0.2 s for a login, a read and a write; on a machine under load some seconds.
MOST_S = 10.0
_CONNECT_S = 3.0
# No run has it: Airflow answers a write to it with 404 if the login has the right, with 403 if it has not.
_NO_RUN = "kstreams-runbooks-readiness-no-such-run"
# Nothing but the note is changed.
_ONLY_NOTE = "?update_mask=note"
_DENIED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}


class RunNotes:
    """The notes of an Airflow's runs; `connection` is the id of the Airflow connection that the address comes from.

    BadInput if the login is refused or the address is not an Airflow's, Refused if the login lacks the right or the run
    is unknown, Unreachable if Airflow does not answer in time.
    """

    def __init__(self, connection: str, address: WebAddress, most_s: float = MOST_S) -> None:
        self.connection = connection
        self._user, self._password = address.user or "", address.password
        self._address = replace(address, user=None, password="")
        self._most_s, self._until = most_s, time.monotonic() + most_s
        self._token = ""

    def read(self, dag_id: str, run_id: str, task_id: str = "") -> str:
        """The note of a run, or of its task; empty if it has none."""
        answer = self._signed("GET", _path(dag_id, run_id, task_id))
        self._require_right(answer, dag_id, run_id, "read")
        note = self._document(answer).get("note")
        return note if isinstance(note, str) else ""

    def write(self, dag_id: str, run_id: str, text: str, task_id: str = "") -> None:
        """Replace the note of a run, or of its task."""
        answer = self._signed("PATCH", f"{_path(dag_id, run_id, task_id)}{_ONLY_NOTE}", {"note": text})
        self._require_right(answer, dag_id, run_id, "edit")

    def require_right(self, dag_ids: Iterable[str]) -> None:
        """Return if the login may write the notes of these DAGs' runs and tasks; asks about a run that is not there."""
        lacking = []
        for dag_id in dag_ids:
            for task_id in ("", _NO_RUN):
                answer = self._signed("PATCH", f"{_path(dag_id, _NO_RUN, task_id)}{_ONLY_NOTE}", {"note": ""})
                if answer.status == HTTPStatus.FORBIDDEN:
                    lacking.append(dag_id)
                    break
                if answer.status != HTTPStatus.NOT_FOUND:
                    raise self._unexpected(answer)
        if lacking:
            raise self._no_right("edit", ", ".join(lacking))

    def _require_right(self, answer: HttpAnswer, dag_id: str, run_id: str, verb: str) -> None:
        if answer.status == HTTPStatus.FORBIDDEN:
            raise self._no_right(verb, dag_id)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise Refused(
                f"{self._named}: that Airflow has no run {outside(run_id)} of {dag_id}; correct its host if it is "
                "another Airflow's"
            )
        if answer.status != HTTPStatus.OK:
            raise self._unexpected(answer)

    def _signed(self, method: str, path: str, body: Any = None) -> HttpAnswer:
        self._token = self._token or self._signed_in()
        return self._answer(method, path, body, {"Authorization": f"Bearer {self._token}"})

    def _signed_in(self) -> str:
        answer = self._answer("POST", "/auth/token", {"username": self._user, "password": self._password}, {})
        if answer.status in _DENIED:
            raise BadInput(
                f"{self._named}: Airflow refuses the login {outside(self._user)} (HTTP {answer.status}); correct its "
                "login and password"
            )
        if answer.status not in {HTTPStatus.OK, HTTPStatus.CREATED}:
            raise self._unexpected(answer)
        token = self._document(answer).get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
            raise self._unexpected(answer)
        return token

    def _answer(self, method: str, path: str, body: Any, headers: dict[str, str]) -> HttpAnswer:
        left = self._until - time.monotonic()
        if left <= 0:
            raise self._late
        limits = ExchangeLimits(connect_s=min(_CONNECT_S, left), silence_s=left, answer_s=left, body_bytes=MIB)
        sent = b"" if body is None else json.dumps(body).encode()
        content = {"Content-Type": "application/json"} if sent else {}
        path = f"{self._address.path.rstrip('/')}{path}"
        try:
            answer = exchange(method, self._address, path, sent, {**content, **headers}, limits)
        except NoAnswer as error:
            raise (self._late if time.monotonic() >= self._until else self._away(str(error))) from None
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise self._away(f"HTTP {answer.status}")
        return answer

    def _document(self, answer: HttpAnswer) -> dict[str, Any]:
        try:
            found = parsed(answer.body)
        except ValueError:
            raise self._unexpected(answer) from None
        if not isinstance(found, dict):
            raise self._unexpected(answer)
        return found

    @property
    def _named(self) -> str:
        return f"Airflow connection {self.connection}"

    @property
    def _late(self) -> Unreachable:
        return self._away(f"no answer within {self._most_s:g} s")

    def _away(self, why: str) -> Unreachable:
        where = f"{self._address.host}:{self._address.port}"
        return Unreachable(f"{self._named}: Airflow at {where} does not answer ({why}); start it, or correct its host")

    def _no_right(self, verb: str, dag_ids: str) -> Refused:
        return Refused(
            f"{self._named}: {outside(self._user)} may not {verb} runs and tasks of {dag_ids}; give it that right "
            "(docs/security.md)"
        )

    def _unexpected(self, answer: HttpAnswer) -> RunbookError:
        return BadInput(
            f"{self._named}: {self._address.host}:{self._address.port} does not answer as Airflow 3 does (HTTP "
            f"{answer.status}); correct its host"
        )


def _path(dag_id: str, run_id: str, task_id: str = "") -> str:
    run = f"/api/v2/dags/{quote(dag_id, safe='')}/dagRuns/{quote(run_id, safe='')}"
    return f"{run}/taskInstances/{quote(task_id, safe='')}" if task_id else run
