"""Addresses: how they may be printed, never with the credentials that a URL can carry, and where metrics are."""

from urllib.parse import urlsplit, urlunsplit


def printable(url: str) -> str:
    """`url` without user, password, query and fragment; a text that is no URL comes back as it is."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def metrics_url(host: str, port: int) -> str:
    """Where an instance's Jolokia agent answers, if it is at its usual path."""
    return f"http://[{host}]:{port}/jolokia" if ":" in host else f"http://{host}:{port}/jolokia"
