"""One HTTP exchange that costs a stated time and size, whether the other side sends or not.

Every read from the socket gets the rest of one deadline: neither a body nor a header that arrives byte by byte extends
it. Nothing is unpacked: identity is requested, and another encoding is rejected. Redirects are not followed, proxies of
the environment are not used, and the connection is closed after one response.
"""

import base64
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import httpcore

from kstreams_runbooks.errors import RunbookError
from kstreams_runbooks.model.web_address import WebAddress
from kstreams_runbooks.wire.limits import MIB, ExchangeLimits
from kstreams_runbooks.wire.logins import with_login

# Header lines and the sizes of chunks count extra.
_FRAMING = MIB
# Addresses of one name that are tried: each may take the time of a connection.
_ADDRESSES = 4
# OpenSSL, X509_STORE_CTX_get_error: not yet valid, expired.
_BY_THE_CLOCK = frozenset({9, 10})


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The response: status and body only."""

    status: int
    body: bytes


class NoAnswer(Exception):
    """No response within the limits; the text gives the reason, without the address.

    `lasts`: a repetition ends alike, because a login, its files or a certificate has to be corrected first.
    """

    def __init__(self, reason: str, *, listening: bool = True, lasts: bool = False) -> None:
        super().__init__(reason)
        self.listening, self.lasts = listening, lasts


def post(
    address: WebAddress, path: str, body: bytes, content_type: str, limits: ExchangeLimits, *, ca_file: str = ""
) -> HttpAnswer:
    """The response to one POST; NoAnswer if it does not arrive within the limits, or if it is encoded.

    With `ca_file` (PEM) its CAs alone are trusted, else the usual public ones.
    """
    try:
        address, ca_of_login = with_login(address)
    except (LookupError, RunbookError) as error:
        raise NoAnswer(f"its login is not known: {error}", lasts=True) from None
    headers = {"Content-Type": content_type, **_authorization(address)}
    return exchange("POST", address, path, body, headers, limits, ca_file=ca_file or ca_of_login)


def exchange(
    method: str,
    address: WebAddress,
    path: str,
    body: bytes,
    headers: Mapping[str, str],
    limits: ExchangeLimits,
    *,
    ca_file: str = "",
) -> HttpAnswer:
    """The same for any method, with `headers` of the caller's own; the login of the address is not sent."""
    budget = _Budget(limits)
    sent = {
        "Host": _host_header(address),
        "Content-Length": str(len(body)),
        "Accept-Encoding": "identity",
        "Connection": "close",
        **headers,
    }
    origin = httpcore.Origin(address.scheme.encode(), address.host.encode(), address.port)
    connection = httpcore.HTTPConnection(
        origin,
        # Loading certificates takes longer than the whole request: only for TLS.
        ssl_context=_tls(ca_file) if address.scheme == "https" else None,
        uds=address.socket or None,
        network_backend=_Backend(budget),
    )
    try:
        with (
            connection,
            connection.stream(
                method,
                httpcore.URL(
                    scheme=address.scheme.encode(),
                    host=address.host.encode(),
                    port=address.port,
                    target=path.encode(),
                ),
                headers=list(sent.items()),
                content=body,
            ) as answer,
        ):
            return HttpAnswer(answer.status, _body(answer, budget))
    except httpcore.TimeoutException:
        raise NoAnswer(f"no answer within {limits.silence_s:g} s") from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise NoAnswer(f"connection lost ({type(error).__name__})") from None


def why_refused(error: ssl.SSLCertVerificationError) -> str:
    """OpenSSL's reason for a refused certificate; the clock may be wrong in place of the certificate."""
    clock = ", or this machine's clock is wrong" if error.verify_code in _BY_THE_CLOCK else ""
    return f"{error.verify_message}{clock}"


def _tls(ca_file: str) -> ssl.SSLContext:
    if not ca_file:
        return httpcore.default_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it has no certificate in PEM"
        raise NoAnswer(f"its CA file {ca_file} cannot be used ({reason})", listening=False, lasts=True) from None


def _body(answer: httpcore.Response, budget: "_Budget") -> bytes:
    for name, value in answer.headers:
        if name.lower() == b"content-encoding" and value.strip().lower() not in {b"", b"identity"}:
            raise NoAnswer("the answer is compressed although it was asked for uncompressed; it is not unpacked")
        if name.lower() == b"content-length" and value.isdigit():
            budget.fits(int(value[:20]))
    chunks, size = [], 0
    for chunk in answer.iter_stream():
        size += len(chunk)
        budget.fits(size)
        chunks.append(chunk)
    return b"".join(chunks)


def _host_header(address: WebAddress) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return host if address.port == {"http": 80, "https": 443}[address.scheme] else f"{host}:{address.port}"


def _authorization(address: WebAddress) -> Mapping[str, str]:
    if address.user is None:
        return {}
    login = f"{address.user}:{address.password}".encode()
    return {"Authorization": f"Basic {base64.b64encode(login).decode()}"}


class _Budget:
    """The rest of the limits."""

    def __init__(self, limits: ExchangeLimits) -> None:
        self.limits = limits
        self.heard = False
        self._until = time.monotonic() + limits.answer_s
        self._bytes = limits.body_bytes + _FRAMING

    def seconds(self, most: float) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise NoAnswer(f"the answer did not end within {self.limits.answer_s:g} s")
        return min(left, most)

    def fits(self, size: int) -> None:
        if size > self.limits.body_bytes:
            raise NoAnswer(f"the answer is larger than {self.limits.body_bytes / MIB:g} MiB")

    def took(self, size: int) -> None:
        self.heard = self.heard or size > 0
        self._bytes -= size
        if self._bytes < 0:
            raise NoAnswer(f"the answer is larger than {self.limits.body_bytes / MIB:g} MiB")


class _Stream(httpcore.NetworkStream):
    """A connection whose reads and writes get the rest of the time."""

    def __init__(self, stream: httpcore.NetworkStream, budget: _Budget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        budget = self._budget
        try:
            data = self._stream.read(max_bytes, budget.seconds(budget.limits.silence_s))
        except httpcore.ReadTimeout:
            budget.seconds(budget.limits.silence_s)
            silent = f"{budget.limits.silence_s:g} s"
            raise NoAnswer(
                f"the answer broke off: nothing more came for {silent}"
                if budget.heard
                else f"no answer within {silent}; the process is there but does not answer"
            ) from None
        budget.took(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        self._stream.write(buffer, self._budget.seconds(self._budget.limits.silence_s))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        del timeout
        seconds = self._budget.seconds(self._budget.limits.connect_s)
        try:
            return _Stream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._budget)
        except httpcore.TimeoutException:
            raise NoAnswer(f"no TLS connection within {seconds:.1f} s") from None
        except httpcore.ConnectError as error:
            raise NoAnswer(f"no TLS connection: {_why(error)}", lasts=_is_refused(error)) from None

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Connects within the budget; a resolver that takes longer is abandoned, because it has no time limit."""

    def __init__(self, budget: _Budget) -> None:
        self._budget = budget
        self._system = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        del timeout
        limit = self._budget.limits.connect_s
        until = time.monotonic() + self._budget.seconds(limit)
        why = NoAnswer(f"no connection within {limit:g} s", listening=False)
        for address in _resolved(host, port, limit)[:_ADDRESSES]:
            left = until - time.monotonic()
            if left <= 0:
                break
            found = self._connected_or_why(
                lambda where, seconds: self._system.connect_tcp(where, port, seconds, local_address, socket_options),
                address,
                left,
            )
            if isinstance(found, _Stream):
                return found
            why = found
        raise why

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        del timeout
        found = self._connected_or_why(
            lambda where, seconds: self._system.connect_unix_socket(where, seconds, socket_options),
            path,
            self._budget.seconds(self._budget.limits.connect_s),
        )
        if isinstance(found, _Stream):
            return found
        raise found

    def _connected_or_why(
        self, connect: Callable[[str, float], httpcore.NetworkStream], where: str, seconds: float
    ) -> "_Stream | NoAnswer":
        try:
            return _Stream(connect(where, seconds), self._budget)
        except httpcore.ConnectTimeout:
            return NoAnswer(f"no connection within {self._budget.limits.connect_s:g} s", listening=False)
        except httpcore.ConnectError as error:
            return NoAnswer(_why(error), listening=False, lasts=_is_refused(error))


def _is_refused(error: Exception) -> bool:
    """Whether a certificate is not accepted, which it will not be in a moment either."""
    return isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError)


def _why(error: Exception) -> str:
    match error.__cause__ or error.__context__:
        case ConnectionRefusedError() | FileNotFoundError():
            return "connection refused; no process listens there"
        case ssl.SSLCertVerificationError() as refused:
            return f"its certificate is not accepted ({why_refused(refused)})"
        case ssl.SSLError():
            return "it does not speak TLS as expected"
        case OSError(strerror=str(said)):
            return f"it cannot be reached ({said})"
    return f"it cannot be reached ({type(error).__name__})"


def _resolved(host: str, port: int, limit_s: float) -> list[str]:
    found: queue.SimpleQueue[list[str] | OSError | UnicodeError] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.put(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
        except (OSError, UnicodeError) as error:
            found.put(error)

    threading.Thread(target=resolve, name=f"resolve-{host}", daemon=True).start()
    try:
        addresses = found.get(timeout=limit_s)
    except queue.Empty:
        raise NoAnswer(f"its host name was not resolved within {limit_s:g} s", listening=False) from None
    if isinstance(addresses, Exception):
        raise NoAnswer("its host name cannot be resolved", listening=False)
    return addresses
