"""Local state of an instance that is deleted between its stop and its start."""

from collections.abc import Iterable
from dataclasses import dataclass

# Names of task directories as `TaskDirectories` has them; empty for all local state.
Directories = tuple[str, ...]
# The field of a form with the stores that may begin empty.
LOSE_STATE = "lose_state"
# The directory of all global stores of an instance.
GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class TaskDirectories:
    """Task directories to delete on every instance, and the topics read in full once the application starts again.

    `names` are directories under `<state.dir>/<application.id>`: `1_3`, or `1_` for every task of subtopology 1
    (`name__1_` in a named topology), or `global` for the global stores. `changelogs` are full topic names.
    """

    names: Directories = ()
    changelogs: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        """Their names as `in_words` has them, or `local state` for all of it."""
        return in_words(self.names) or "local state"

    def joined(self, other: "TaskDirectories") -> "TaskDirectories":
        """Both together, each name once."""
        return TaskDirectories(
            tuple(sorted({*self.names, *other.names})), tuple(sorted({*self.changelogs, *other.changelogs}))
        )


NO_DIRECTORIES = TaskDirectories()


@dataclass(frozen=True, slots=True)
class AfterKill:
    """Local state that is not kept if the process of an instance did not end cleanly, of the side with this role.

    `libraries` are the releases that leave it so, by the known `defects`. `clears` is deleted before the next start. If
    a run may not delete it, `unclear` is the reason, and the instance stays down for a person.
    """

    libraries: tuple[str, ...]
    defects: tuple[str, ...]
    clears: TaskDirectories
    side: str = ""
    unclear: str = ""


@dataclass(frozen=True, slots=True)
class RestoredFirst:
    """A release of a side (role) whose instances are stopped only while none of their tasks restores, by `defects`."""

    library: str
    defects: tuple[str, ...]
    side: str = ""


@dataclass(frozen=True, slots=True)
class LeftState:
    """Local state that a process has left: what is deleted before the next start, None for nothing, and `why`.

    `stays_down` is a sentence for a person, who has to delete it; empty if the instance may start.
    """

    clears: TaskDirectories | None = None
    why: str = ""
    stays_down: str = ""


@dataclass(frozen=True, slots=True)
class FileTimes:
    """When what is in a task directory, and the directory itself, last changed, in Unix ms: the oldest, the newest."""

    oldest_ms: int
    newest_ms: int


def shown(names: Iterable[str]) -> list[str]:
    """The names as a person writes them: `1_*` for every task of subtopology 1."""
    return [f"{name}*" if name.endswith("_") else name for name in names]


def in_words(names: Directories) -> str:
    """`task directories 1_*, 2_3 and directory global`: that of the global stores belongs to no task."""
    tasks = shown(name for name in names if name != GLOBAL)
    parts = (f"task directories {', '.join(tasks)}" if tasks else "", f"directory {GLOBAL}" if GLOBAL in names else "")
    return " and ".join(filter(None, parts))


def is_in(directory: str, names: Directories) -> bool:
    """Whether a directory is one of `names`, or a task's of a subtopology among them."""
    if directory == GLOBAL:
        return GLOBAL in names
    subtopology, _, partition = directory.rpartition("_")
    return partition.isdecimal() and (directory in names or f"{subtopology}_" in names)
