"""supervisord's XML-RPC within limits, and with errors that a person can read.

supervisord documentation, "XML-RPC API Documentation": process control, fault codes.
"""

import xmlrpc.client

from kstreams_runbooks.deployers.supervisord.process_info import ProcessInfo, process_infos
from kstreams_runbooks.errors import BadInput, LoginRefused, Refused, Unreachable, WriteRefused
from kstreams_runbooks.model.address import printable
from kstreams_runbooks.model.web_address import REFUSED_LOGIN, login_words, web_address
from kstreams_runbooks.wire.limits import ExchangeLimits
from kstreams_runbooks.wording import outside

_READS = frozenset({"getAllProcessInfo", "readProcessStderrLog", "readProcessStdoutLog"})
_WRITES = frozenset({"startProcess", "stopProcess"})
_OK = 200
# Of the end of a log: a stack trace and what a client logs after it, as it closes.
_LOG_BYTES = 32_768
# supervisord has one thread: it answers after its current work, which may be the end of another program.
_LIMITS = ExchangeLimits(connect_s=5.0, silence_s=5.0)

# supervisor/xmlrpc.py, Faults
NOT_RUNNING = 70
_NO_FILE = 20
ALREADY_STARTED = 60


class Supervisord:
    """One supervisord. `url` is `http(s)://host:port` or `unix:///socket`; credentials in it never leave this class.

    If it is not `writable`, every call that changes something is WriteRefused, for every caller.
    """

    def __init__(self, url: str, *, writable: bool, limits: ExchangeLimits = _LIMITS) -> None:
        self.address = printable(url)
        try:
            self._at = web_address(url, unix=True)
        except ValueError as error:
            raise BadInput(
                f"supervisord url {outside(self.address, 200)} {error}; correct the deployer's url"
            ) from None
        self.host = self._at.host
        self._limits = limits
        self._writable = writable

    @property
    def local(self) -> bool:
        """Whether it runs on this machine, and its process ids are valid here."""
        return self.host in {"localhost", "127.0.0.1", "::1"}

    def call(self, method: str, *arguments: str | bool | int) -> object:
        """One call under `supervisor.`, on a connection of its own.

        Refused with supervisord's own words for a fault, Unreachable for silence and for an answer that is not
        supervisord's.
        """
        from kstreams_runbooks.wire.http import NoAnswer, post
        from kstreams_runbooks.wire.xmlrpc_answer import Faulty, answer_of

        if method not in _READS and not (self._writable and method in _WRITES):
            raise WriteRefused(f"{method} is refused: this client of supervisord only reads ({self.address})")
        request = xmlrpc.client.dumps(arguments, f"supervisor.{method}").encode()
        path = self._at.path if self._at.path.strip("/") else "/RPC2"
        try:
            answer = post(self._at, path, request, "text/xml", self._limits)
        except NoAnswer as error:
            kind = LoginRefused if error.lasts else Unreachable
            raise kind(f"supervisord: {error}; start it, or correct the deployer's url ({self.address})") from None
        if answer.status != _OK:
            said = f"supervisord: HTTP {answer.status} (expected 200)"
            if answer.status in REFUSED_LOGIN:
                raise LoginRefused(f"{said}; {login_words(self._at)} is not accepted; correct it ({self.address})")
            raise Unreachable(f"{said} ({self.address})")
        try:
            return answer_of(answer.body)
        except Faulty as fault:
            raise SupervisordFault(self.address, method, fault.code, fault.text) from None
        except ValueError as error:
            raise self._strange(error) from None

    def processes(self) -> dict[str, ProcessInfo]:
        """Process information by program name: `group:name`, and `name` alone if both are the same."""
        found: dict[str, ProcessInfo] = {}
        answer = self.call("getAllProcessInfo")
        try:
            infos = process_infos(answer)
        except ValueError as error:
            raise self._strange(error) from None
        for info in infos:
            names = {f"{info.group}:{info.name}"} | ({info.name} if info.group == info.name else set())
            if twice := names & found.keys():
                raise self._strange(ValueError(f"program {min(twice)} is listed twice"))
            found |= dict.fromkeys(names, info)
        return found

    def end_of_logs(self, program: str) -> str:
        """The end of the program's stdout, then of its stderr if that has a log of its own."""
        ends = []
        for method in ("readProcessStdoutLog", "readProcessStderrLog"):
            try:
                ends.append(str(self.call(method, program, -_LOG_BYTES, 0)))
            except SupervisordFault as fault:
                if fault.code != _NO_FILE:
                    raise
        return "\n".join(ends)

    def _strange(self, error: ValueError) -> Unreachable:
        return Unreachable(
            f"supervisord: the answer is not supervisord's: {error}; correct the deployer's url ({self.address})"
        )


class SupervisordFault(Refused):
    """supervisord answered that it could not do it; `code` is its fault code."""

    def __init__(self, address: str, method: str, code: int, text: str) -> None:
        super().__init__(f"supervisord: {method} answered {outside(text, 300)} ({address})")
        self.code = code
