"""Addresses as they may be printed: never with the credentials that a URL can carry."""

from urllib.parse import urlsplit, urlunsplit


def printable(url: str) -> str:
    """`url` without user, password, query and fragment; a text that is no URL comes back as it is."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
