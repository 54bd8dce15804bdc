"""The files of a TLS connection, its context, and the reasons for a refused certificate.

Sources: librdkafka, CONFIGURATION.md; OpenSSL, X509_STORE_CTX_get_error (the codes).
"""

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from kstreams_runbooks.errors import BadInput

SETTINGS: Final = "in the cluster's connection, or in the file of --command-config"

_CA, _CERTIFICATE, _KEY, _REVOKED = (
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.crl.location",
)
_PASSWORD: Final = "ssl.key.password"  # noqa: S105 - the setting's name

_EXPIRED: Final = 10
_NOT_YET: Final = 9
_TAKEN_BACK: Final = 23
_OTHER_HOST: Final = frozenset({62, 64})
_UNKNOWN_ISSUER: Final = frozenset({2, 18, 19, 20, 21})


def require_files(config: Mapping[str, Any], words: Mapping[str, str] | None = None, where: str = SETTINGS) -> None:
    """Check the files; BadInput names the file and its setting if it is absent, unreadable, or of another kind.

    `config` has librdkafka's names; `words` are the names that the operator used, if they differ, and `where` is the
    place to correct them. It opens no connection, and shows no content.
    """
    name = {setting: (words or {}).get(setting, setting) for setting in (_CA, _CERTIFICATE, _KEY, _REVOKED, _PASSWORD)}
    require_certificate_with_key(config, where)
    for setting in (_CA, _CERTIFICATE, _KEY, _REVOKED):
        if file := config.get(setting):
            _require_readable(name[setting], str(file), where)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for setting, what in ((_CA, "certificate"), (_REVOKED, "revocation list")):
        if file := config.get(setting):
            try:
                context.load_verify_locations(str(file))
            except (ssl.SSLError, ValueError):
                raise BadInput(f"{name[setting]}: {file} has no {what} in PEM; correct it {where}") from None
    if file := config.get(_CERTIFICATE):
        _require_pair(context, config, str(file), name, where)


def require_certificate_with_key(config: Mapping[str, Any], where: str = SETTINGS) -> None:
    """BadInput for a certificate without its key, or a key without its certificate, of librdkafka's names.

    The clients differ on it: kafka-python looks for the key in the file of the certificate, librdkafka sends no
    certificate, and Java does not load the store. A Java client's file has one name for both, so it cannot lack one.
    """
    for setting, other in ((_CERTIFICATE, _KEY), (_KEY, _CERTIFICATE)):
        if config.get(setting) and not config.get(other):
            file = config[setting]
            raise BadInput(
                f"{setting}: {file} is set without {other}; set {other} too, it may be the same file, {where}"
            )


def _require_readable(name: str, file: str, where: str) -> None:
    try:
        if not Path(file).is_file():
            reason = "is not a file" if Path(file).exists() else "does not exist"
            raise BadInput(f"{name}: {file} {reason}; correct it {where}")
        with Path(file).open("rb"):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{name}: {file} cannot be read ({reason}); correct it {where}") from None


def _require_pair(
    context: ssl.SSLContext, config: Mapping[str, Any], file: str, name: Mapping[str, str], where: str
) -> None:
    key = str(config[_KEY])
    try:
        context.load_verify_locations(file)
    except (ssl.SSLError, ValueError):
        raise BadInput(f"{name[_CERTIFICATE]}: {file} has no certificate in PEM; correct it {where}") from None
    try:
        context.load_cert_chain(file, key, password=_password(config.get(_PASSWORD)))
    except (ssl.SSLError, ValueError) as error:
        if "MISMATCH" in str(error):
            what = f"is not the key of {name[_CERTIFICATE]} {file}"
        else:
            why = "is not its password, or the file has no key" if config.get(_PASSWORD) else "is not set"
            what = f"cannot be read as a key in PEM ({name[_PASSWORD]} {why})"
        raise BadInput(f"{name[_KEY]}: {key} {what}; correct it {where}") from None


def _password(given: object) -> Callable[[], str]:
    """The password, never None: OpenSSL would prompt for it on the terminal."""
    return lambda: str(given or "")


def client_context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    """The TLS context that kafka-python would make from its settings; call `require_files` first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = bool(settings.get("ssl_check_hostname", True))
    if file := settings.get("ssl_cafile"):
        context.load_verify_locations(file)
    else:
        context.load_default_certs()
    if file := settings.get("ssl_certfile"):
        context.load_cert_chain(file, settings.get("ssl_keyfile"), password=_password(settings.get("ssl_password")))
    if file := settings.get("ssl_crlfile"):
        context.load_verify_locations(file)
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    return context


def anyone_context() -> ssl.SSLContext:
    """A context that accepts any certificate: only to find out if a port speaks TLS, never for a login."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def refused_certificate(
    error: ssl.SSLCertVerificationError, host: str, ca_file: object, names: Callable[[], str]
) -> str:
    """Why the broker's certificate is not accepted, and the remedy; `names` are the hosts in the certificate."""
    code = error.verify_code
    if code == _EXPIRED:
        return "the broker's certificate has expired; renew it on the broker (or correct this machine's clock)"
    if code == _NOT_YET:
        return "the broker's certificate is not valid yet; correct this machine's clock, or the certificate"
    if code == _TAKEN_BACK:
        return "the broker's certificate is revoked (ssl.crl.location); give the broker another one"
    if code in _OTHER_HOST:
        return (
            f"the broker's certificate is for {names()}, not for {host}; give a host that it is for in "
            "bootstrap.servers, or give the broker a certificate for this host"
        )
    if code in _UNKNOWN_ISSUER:
        trusted = f"the CA of ssl.ca.location ({ca_file})" if ca_file else "a CA that this machine trusts"
        return (
            f"the broker's certificate is not signed by {trusted}; set ssl.ca.location to the CA that signed it "
            f"{SETTINGS}"
        )
    return f"the broker's certificate is refused ({error.verify_message}); correct it, or ssl.ca.location {SETTINGS}"
