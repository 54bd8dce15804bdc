"""A client of Airflow's REST API (`/api/v2`): signs in, retries lost reads, one sentence for every refusal."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from kstreams_runbooks.decide.runs.note import with_line
from kstreams_runbooks.errors import BadInput, Inconclusive, Refused, Unreachable
from kstreams_runbooks.model.runs.ledger import airflow_run
from kstreams_runbooks.terminal.airflow.login import PASSWORD, TOKEN, URL, USER, Login
from kstreams_runbooks.terminal.airflow.shapes import AirflowRun, Dag, Details, Pending, Task, require
from kstreams_runbooks.wording import markdown, outside

_CALL_S = 60.0
# A page of a hundred runs with their conf has about 100 KB.
_LARGEST = 16 * 2**20
_ATTEMPTS = 4
_PAGE = 100
# Another server at Airflow's address may return pages without end.
_MOST_PAGES = 100
_WRONG = {httpx.codes.BAD_REQUEST, httpx.codes.NOT_FOUND, httpx.codes.UNPROCESSABLE_ENTITY}
_DENIED = {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}
_RUN_LIST = "/dags/~/dagRuns/list"
_READING_POSTS = {"/auth/token", f"/api/v2{_RUN_LIST}"}
_LOCAL = {"127.0.0.1", "::1", "localhost"}
# The characters that a header may have; for any other the HTTP library's error repeats the text with the secret.
_SENDABLE = re.compile("[!-~]+")


class AlreadyThere(BadInput):
    """A run with that id exists already."""


class AirflowApi:
    """Airflow's API as one login; the token is fetched at the first call, and again when it has expired.

    Unreachable if Airflow does not answer, BadInput if an argument or the login is wrong, Refused if the login has no
    right.
    """

    def __init__(self, url: str, login: Login, client: httpx.Client | None = None) -> None:
        self.url = url.rstrip("/")
        self.login = login
        self._client = client or _client(self.url)
        self._token = ""

    def dag_ids(self, tag: str) -> list[str]:
        """Every DAG that has the tag."""
        return list(self.dags(tag))

    def dags(self, tag: str) -> dict[str, bool]:
        """Every DAG that has the tag, and whether it is paused: a run of a paused DAG stays queued."""
        found = self._pages("/dags", "dags", {"tags": tag, "order_by": "dag_id"}, Dag)
        return {dag["dag_id"]: dag.get("is_paused") is True for dag in found}

    def dag(self, dag_id: str) -> dict[str, Any]:
        """Everything about a DAG, including its form (`params`); BadInput if there is no such DAG."""
        found = self.call("GET", f"/dags/{quote(dag_id)}/details")
        require(Details, found, self.url)
        return found

    def trigger(self, dag_id: str, conf: Mapping[str, Any], run_id: str | None = None, note: str | None = None) -> str:
        """Trigger a run and return its id; BadInput with Airflow's words if the form rejects it.

        AlreadyThere if a run with that id exists. A lost answer is not a failure: the client then looks for the run.
        """
        body = {"logical_date": None, "conf": dict(conf), "dag_run_id": run_id, "note": note}
        body = {key: value for key, value in body.items() if value is not None or key == "logical_date"}
        try:
            answer = self._answer("POST", f"/dags/{quote(dag_id)}/dagRuns", body)
        except Unreachable:
            if run_id is None or not self._is_there(dag_id, run_id, conf):
                raise
            return run_id
        if answer.status_code == httpx.codes.CONFLICT:
            raise AlreadyThere(f"run {run_id} of {dag_id}: exists already; give another id, or none")
        return str(self._checked(answer)["dag_run_id"])

    def find_run(self, name: str, dag_ids: Sequence[str]) -> dict[str, Any]:
        """The run of one of these DAGs that a person names: by id, or by `dag_id/run_id`.

        BadInput if there is none, or if several DAGs have one of that id.
        """
        dag_id, run_id = airflow_run(name) if "/" in name else ("", name)
        found = [run for one in dag_ids if dag_id in ("", one) if (run := self._run_if_any(one, run_id))]
        if not found:
            raise BadInput(
                f"run {outside(name)}: Airflow has no such run of a runbook; `kstreams-runbooks runs` lists the newest "
                f"({self.url})"
            )
        if len(found) > 1:
            keys = ", ".join(f"{run['dag_id']}/{run['dag_run_id']}" for run in found)
            raise BadInput(f"run {outside(name)}: {len(found)} DAGs have it; give one of {keys}")
        require(AirflowRun, found[0], self.url)
        return found[0]

    def run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        """One run as Airflow shows it."""
        return self.call("GET", _run(dag_id, run_id))

    def open_runs(self, dag_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Every run of these DAGs that is queued or running (waiting is running), oldest first."""
        body = {"dag_ids": list(dag_ids), "states": ["queued", "running"], "order_by": "run_after"}
        return self._every(
            lambda at: self.call("POST", _RUN_LIST, {**body, "page_limit": _PAGE, "page_offset": at}),
            "dag_runs",
            AirflowRun,
        )

    def newest_runs(self, dag_ids: Sequence[str], limit: int) -> list[dict[str, Any]]:
        """The newest runs of these DAGs, oldest first."""
        body = {"dag_ids": list(dag_ids), "order_by": "-run_after", "page_limit": limit}
        return list(reversed(self._listed(self.call("POST", _RUN_LIST, body), "dag_runs", AirflowRun)))

    def tasks(self, dag_id: str, run_id: str) -> dict[str, dict[str, Any]]:
        """Task instances of a run by task id: state, start_date, end_date, try_number."""
        found = self._pages(f"{_run(dag_id, run_id)}/taskInstances", "task_instances", {}, Task)
        return {one["task_id"]: one for one in found}

    def pending(self, dag_id: str = "~", run_id: str = "~") -> list[dict[str, Any]]:
        """Questions that wait for an answer: task_instance, subject, body, options."""
        query = {"response_received": "false"}
        found = self._pages(f"{_run(dag_id, run_id)}/hitlDetails", "hitl_details", query, Pending)
        return [one for one in found if one["task_instance"]["state"] in {"awaiting_input", "deferred"}]

    def answer(
        self, dag_id: str, run_id: str, task_id: str, option: str = "Approve", params: Mapping[str, Any] | None = None
    ) -> None:
        """Answer a question; Refused if this login may not, or the question has an answer."""
        path = f"{_run(dag_id, run_id)}/taskInstances/{quote(task_id)}/-1/hitlDetails"
        self.call("PATCH", path, {"chosen_options": [option], "params_input": dict(params or {})})

    def clear(
        self, dag_id: str, run_id: str, *task_ids: str, downstream: bool = True, running: bool = True
    ) -> list[str]:
        """Clear tasks of a run, with what follows them: they run again; returns the names of all that were cleared.

        Without `running` it is Refused while one of them runs.
        """
        body = {
            "dry_run": False,
            "dag_run_id": run_id,
            "task_ids": list(task_ids),
            "include_downstream": downstream,
            "only_failed": False,
            "reset_dag_runs": True,
            "prevent_running_task": not running,
        }
        cleared = self._listed(
            self.call("POST", f"/dags/{quote(dag_id)}/clearTaskInstances", body), "task_instances", Task
        )
        return [str(one["task_id"]) for one in cleared]

    def add_note(self, dag_id: str, run_id: str, text: str) -> None:
        """Add a line to a run's note, which Airflow shows as Markdown; the oldest text goes if there is no room."""
        before = self.run(dag_id, run_id).get("note") or ""
        self.call("PATCH", _run(dag_id, run_id), {"note": with_line(str(before), markdown(text))})

    def xcom(self, dag_id: str, run_id: str, task_id: str, key: str) -> Any:
        """The value that a task left under a key, None if it left nothing."""
        path = f"{_run(dag_id, run_id)}/taskInstances/{quote(task_id)}/xcomEntries/{quote(key)}"
        answer = self._answer("GET", path)
        if answer.status_code == httpx.codes.NOT_FOUND:
            return None
        value = self._checked(answer)["value"]
        return _read(value, self.url) if isinstance(value, str) else value

    def page_of(self, dag_id: str, run_id: str, task_id: str | None = None) -> str:
        """The address of Airflow's page of a run, or of a task's question."""
        page = f"{self.url}/dags/{quote(dag_id)}/runs/{quote(run_id)}"
        return f"{page}/tasks/{quote(task_id)}/required_actions" if task_id else page

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """One call under `/api/v2`; the answer's document, empty if the answer has none."""
        return self._checked(self._answer(method, path, body))

    def _run_if_any(self, dag_id: str, run_id: str) -> dict[str, Any] | None:
        answer = self._answer("GET", _run(dag_id, run_id))
        return None if answer.status_code == httpx.codes.NOT_FOUND else self._checked(answer)

    def _is_there(self, dag_id: str, run_id: str, conf: Mapping[str, Any]) -> bool:
        answer = self._answer("GET", _run(dag_id, run_id))
        return answer.is_success and self._checked(answer)["conf"] == dict(conf)

    def _pages(self, path: str, key: str, query: Mapping[str, str], shape: Any) -> list[dict[str, Any]]:
        def page(at: int) -> Mapping[str, Any]:
            return self.call("GET", f"{path}?{httpx.QueryParams({**query, 'limit': str(_PAGE), 'offset': str(at)})}")

        return self._every(page, key, shape)

    def _every(self, page_from: Callable[[int], Mapping[str, Any]], key: str, shape: Any) -> list[dict[str, Any]]:
        """All entries of a list, page by page; Inconclusive if the list has no end."""
        found: list[dict[str, Any]] = []
        for _ in range(_MOST_PAGES):
            page = page_from(len(found))
            more = self._listed(page, key, shape)
            found += more
            if not more or len(found) >= page["total_entries"]:
                return found
        raise Inconclusive(f"Airflow lists more than {_MOST_PAGES} pages of {key}; correct {URL} ({self.url})")

    def _listed(self, page: Mapping[str, Any], key: str, shape: Any) -> list[dict[str, Any]]:
        """One page of a list; BadInput if the answer is not a list."""
        more: Any = page[key]
        if not isinstance(more, list) or not isinstance(page["total_entries"], int):
            raise BadInput(f"Airflow: {key} of its answer is not a list; correct {URL} ({self.url})")
        require(list[shape], more, self.url)
        return more

    def _answer(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        for last in (False, True):
            answer = self._sent(method, f"/api/v2{path}", body, {"Authorization": f"Bearer {self._signed_in()}"})
            # Airflow answers 403 both for a token that it cannot read and for a missing right.
            expired = answer.status_code == httpx.codes.UNAUTHORIZED or _detail(answer) == "Invalid JWT token"
            if answer.status_code not in _DENIED or not expired:
                return answer
            if last or self.login.token:
                raise BadInput(f"the token is refused ({_detail(answer)}); set {TOKEN} again ({self.url})")
            self._token = ""
        raise AssertionError  # the loop returns or raises

    def _signed_in(self) -> str:
        """The token; BadInput, which does not show it, for one that a header cannot have."""
        token = self.login.token or self._fetched()
        if not _SENDABLE.fullmatch(token):
            raise BadInput(
                f"the token for Airflow is empty, or has a blank, a line break or a character outside ASCII; correct "
                f"{TOKEN if self.login.token else URL} ({self.url})"
            )
        return token

    def _fetched(self) -> str:
        if not self._token:
            body = {"username": self.login.user, "password": self.login.password}
            answer = self._sent("POST", "/auth/token", body, {})
            if answer.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN, httpx.codes.BAD_REQUEST}:
                raise BadInput(
                    f"login {self.login} is refused ({_detail(answer)}); correct {USER} and {PASSWORD} ({self.url})"
                )
            self._token = str(self._checked(answer)["access_token"])
        return self._token

    def _sent(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        # A write is sent once: after a lost answer the result is unknown.
        reads = method == "GET" or path in _READING_POSTS
        retrying = Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _Away)),
            stop=stop_after_attempt(_ATTEMPTS if reads else 1),
            wait=wait_exponential(multiplier=0.5, max=5),
            reraise=True,
        )
        try:
            return retrying(self._once, method, path, body, headers)
        except (httpx.TransportError, _Away) as error:
            raise Unreachable(
                f"Airflow does not answer ({error or type(error).__name__}); start it, or correct {URL} ({self.url})"
            ) from None

    def _once(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        plain = {**headers, "Accept-Encoding": "identity"}
        with self._client.stream(method, f"{self.url}{path}", json=body, headers=plain) as answer:
            if answer.is_server_error:
                raise _Away(f"HTTP {answer.status_code}")
            return _whole(answer)

    def _checked(self, answer: httpx.Response) -> dict[str, Any]:
        if answer.is_success and not answer.content:
            return _Document()
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        if not is_json or answer.is_redirect:
            raise BadInput(
                f"the server is not the API of Airflow 3 (HTTP {answer.status_code} for {answer.request.url.path}); "
                f"correct {URL} ({self.url})"
            )
        if answer.is_success:
            document = _read(answer.content, self.url)
            if not isinstance(document, _Document):
                raise BadInput(
                    f"Airflow: the answer for {answer.request.url.path} is not an object; correct {URL} ({self.url})"
                )
            return document
        detail = _detail(answer)
        if answer.status_code in _WRONG:
            raise BadInput(f"Airflow: {detail} ({self.url})")
        if answer.status_code in _DENIED:
            path = f"{answer.request.method} {answer.request.url.path}"
            raise Denied(f"{self.login} has no right to {path}; use another login, or ask for the right ({self.url})")
        raise Refused(f"Airflow: HTTP {answer.status_code} {detail} ({self.url})")


class Denied(Refused):
    """The login has no right to a request."""


def _whole(answer: httpx.Response) -> httpx.Response:
    """The answer with its body read within limits; _Away if it is larger, takes longer, or is compressed."""
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise _Away("the answer is compressed although it was asked for uncompressed")
    until, body = time.monotonic() + _CALL_S, bytearray()
    for chunk in answer.iter_raw():
        body += chunk
        if len(body) > _LARGEST:
            raise _Away(f"the answer is larger than {_LARGEST // 2**20} MiB")
        if time.monotonic() > until:
            raise _Away(f"the answer did not end within {_CALL_S:g} s")
    return httpx.Response(answer.status_code, headers=answer.headers, content=bytes(body), request=answer.request)


class _Document(dict[str, Any]):
    """An object of an answer: a missing field raises one sentence, never a KeyError."""

    def __missing__(self, key: str) -> Any:
        raise BadInput(f"Airflow's answer has no {key}; correct {URL} if it is not the address of an Airflow 3")


def _read(text: str | bytes, url: str) -> Any:
    """JSON of an answer; BadInput if it is not JSON."""
    try:
        return json.loads(text, object_hook=_Document)
    except (ValueError, RecursionError):
        raise BadInput(f"Airflow: an answer is not valid JSON; correct {URL} ({url})") from None


class _Away(Exception):
    """A server error: a proxy answers, or Airflow is not ready."""


def _run(dag_id: str, run_id: str) -> str:
    return f"/dags/{quote(dag_id)}/dagRuns/{quote(run_id)}"


def _client(url: str) -> httpx.Client:
    # A proxy cannot reach an address of this machine.
    return httpx.Client(timeout=_CALL_S, trust_env=urlsplit(url).hostname not in _LOCAL)


def _detail(answer: httpx.Response) -> str:
    """The first line of Airflow's error."""
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"HTTP {answer.status_code}"
    if isinstance(detail, list):
        detail = "; ".join(_fault(one) for one in detail)
    if isinstance(detail, dict):
        detail = detail.get("message") or detail.get("reason") or ""
    return outside(str(detail).strip().partition("\n")[0])


def _fault(one: Any) -> str:
    if not isinstance(one, dict):
        return str(one)
    place = one.get("loc", ())
    return f"{'.'.join(map(str, place)) if isinstance(place, list | tuple) else place}: {one.get('msg')}"
