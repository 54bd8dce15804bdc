"""Certificates of the secured broker, made when it starts: one CA with its certificates, and a separate CA.

Every file is PEM. A keystore is one file with the key and the certificate, as Kafka reads it (KIP-651).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

KEY_PASSWORD = "of-the-clients-key"  # noqa: S105 - made at each start, trusted by one broker of a test

_DAY = timedelta(days=1)
_HERE = (x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1")))


@dataclass(frozen=True)
class Certificates:
    """The folder of the files."""

    directory: Path

    @property
    def ca(self) -> Path:
        """The CA that signed everything but `other_ca`."""
        return self.directory / "ca.pem"

    @property
    def other_ca(self) -> Path:
        """A CA that signed nothing of the broker."""
        return self.directory / "other-ca.pem"

    @property
    def server(self) -> Path:
        """Keystore for 127.0.0.1 and localhost."""
        return self.directory / "server.pem"

    @property
    def expired(self) -> Path:
        """Keystore for 127.0.0.1 and localhost; its certificate ended yesterday."""
        return self.directory / "expired.pem"

    @property
    def early(self) -> Path:
        """Keystore for 127.0.0.1 and localhost; its certificate begins in two days."""
        return self.directory / "early.pem"

    @property
    def elsewhere(self) -> Path:
        """Keystore for another host."""
        return self.directory / "elsewhere.pem"

    @property
    def client(self) -> Path:
        """Certificate of a client, without its key."""
        return self.directory / "client.pem"

    @property
    def client_key(self) -> Path:
        """Key of that client, under KEY_PASSWORD."""
        return self.directory / "client-key.pem"


@dataclass(frozen=True)
class _Issuer:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def make_certificates(directory: Path) -> Certificates:
    """Write all of them into `directory`, which is made."""
    directory.mkdir(parents=True, exist_ok=True)
    made = Certificates(directory)
    now = datetime.now(UTC)
    issuer, other = _authority("the test's CA", now), _authority("another CA", now)
    made.ca.write_bytes(_pem(issuer.certificate))
    made.other_ca.write_bytes(_pem(other.certificate))
    elsewhere = (x509.DNSName("broker.example.org"),)
    for path, names, end in (
        (made.server, _HERE, now + _DAY),
        (made.expired, _HERE, now - _DAY),
        (made.early, _HERE, now + 5 * _DAY),
        (made.elsewhere, elsewhere, now + _DAY),
    ):
        certificate, key = _signed(issuer, "broker", names, end)
        _write_secret(path, _key(key, NoEncryption()) + _pem(certificate) + _pem(issuer.certificate))
    certificate, key = _signed(issuer, "client", (), now + _DAY)
    made.client.write_bytes(_pem(certificate))
    _write_secret(made.client_key, _key(key, BestAvailableEncryption(KEY_PASSWORD.encode())))
    return made


def _authority(name: str, now: datetime) -> _Issuer:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(name)
    built = _builder(subject, subject, key, now + _DAY).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    return _Issuer(built.sign(key, hashes.SHA256()), key)


def _signed(
    issuer: _Issuer, name: str, names: tuple[x509.GeneralName, ...], end: datetime
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    built = _builder(_named(name), issuer.certificate.subject, key, end)
    if names:
        built = built.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return built.sign(issuer.key, hashes.SHA256()), key


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - 3 * _DAY)
        .not_valid_after(end)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key(key: ec.EllipticCurvePrivateKey, encryption: KeySerializationEncryption) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def _write_secret(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
