"""XML-RPC responses: parsed without entities, within limits of depth and elements, and only into values.

XML-RPC specification (xmlrpc.com/spec.md): a methodResponse with one param, or a fault of faultCode and faultString.
"""

from xml.parsers.expat import ExpatError
from xmlrpc.client import Error, Fault, Unmarshaller

from defusedxml import DefusedXmlException
from defusedxml.xmlrpc import DefusedExpatParser

# supervisord's longest response has 60 elements for each program, seven levels deep: this fits 3,000 programs.
_MOST_ELEMENTS = 200_000
_MOST_DEPTH = 40


class Faulty(Exception):
    """The other side responded with a fault."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def answer_of(body: bytes) -> object:
    """The one value of a response; Faulty for a fault, ValueError, with our own reason, for anything else."""
    values = _Values()
    parser = DefusedExpatParser(values, forbid_dtd=True)
    try:
        parser.feed(body)
        parser.close()
        found = values.close()
    except Fault as fault:
        raise _faulty(fault) from None
    except DefusedXmlException:
        raise ValueError("it declares entities or a document type") from None
    except ExpatError as error:
        raise ValueError(f"it is not XML (line {error.lineno}, column {error.offset})") from None
    except _TooMuch as error:
        raise ValueError(str(error)) from None
    except (Error, ValueError, TypeError, LookupError, ArithmeticError, AttributeError):
        # Errors that the library's unmarshaller raises: their text may repeat the response.
        raise ValueError("a value in it is not as XML-RPC writes it") from None
    if len(found) != 1:
        raise ValueError(f"it has {len(found)} values (expected 1)")
    return found[0]


def _faulty(fault: Fault) -> Exception:
    code, text = fault.faultCode, fault.faultString
    if isinstance(code, bool) or not isinstance(code, int) or not isinstance(text, str):
        return ValueError("its fault has no code or no text")
    return Faulty(code, text)


class _TooMuch(Exception):
    """A limit of this module was exceeded."""


class _Values(Unmarshaller):
    """The library's unmarshaller within two limits."""

    def __init__(self) -> None:
        super().__init__()
        self._elements = 0
        self._depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> None:
        """An element begins."""
        self._elements += 1
        self._depth += 1
        if self._elements > _MOST_ELEMENTS:
            raise _TooMuch(f"it has more than {_MOST_ELEMENTS:,} elements")
        if self._depth > _MOST_DEPTH:
            raise _TooMuch(f"it is nested deeper than {_MOST_DEPTH} levels")
        super().start(tag, attrs)

    def end(self, tag: str) -> None:
        """An element ends."""
        self._depth -= 1
        super().end(tag)
