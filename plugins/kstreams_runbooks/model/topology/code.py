"""The code behind a part of a program, as topology facts show it: a digest, and what it was made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """The code behind one fact, such as `stores.orders.value_serde`.

    `digest` is empty if the code is `not_provable`, which has the reason. `methods` are
    `com.acme.Order.total 1a2b3c4d`: each with a digest of its own. `libraries` are the name, version and digest of each
    one that the code calls, the JDK and Kafka apart. `java` are the releases of class files in the program: another
    compiler writes other instructions. `rules` is the number of the rules by which the jar makes digests, `jvm` the
    release of Java on which it ran.
    """

    digest: str = ""
    methods: frozenset[str] = frozenset()
    libraries: frozenset[tuple[str, str, str]] = frozenset()
    java: frozenset[int] = frozenset()
    not_provable: str = ""
    rules: int = 0
    jvm: int = 0
