"""What the command cannot read the code of: one sentence, every other fact as before, and no digest."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kstreams_runbooks.fleet.topology_facts import read_facts
from lab.coded import LIBRARIES, PROGRAM
from lab.topology_facts import COMMAND, jar, java

_BUILD_S = 120
_NEWER = 99


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classes of the program in tests/facts/java/coded."""
    classes = tmp_path_factory.mktemp("built") / "classes"
    classes.mkdir()
    sources = map(str, PROGRAM.glob("*.java"))
    command = ["javac", "-nowarn", "-proc:none", "-d", str(classes), "-cp", f"{LIBRARIES}/*", *sources]
    subprocess.run(command, check=True, timeout=_BUILD_S)
    return classes


def printed(class_path: str, *more: str, options: tuple[str, ...] = ()) -> tuple[str, int]:
    """Why no code was read, and the number of stores that were."""
    ran = java(class_path, COMMAND, "--factory", "shop.App::topology", *more, options=options)
    assert ran.returncode == 0, ran.stderr
    read = read_facts(ran.stdout, "document").read
    return ("" if read.code else read.not_read["code"]), len(read.stores)


def path_of(classes: Path, *more: str) -> str:
    return os.pathsep.join((str(jar()), *more, str(classes), f"{LIBRARIES}/*"))


def test_a_class_path_that_is_there_is_read(built: Path) -> None:
    """The program of the cases below."""
    why, stores = printed(path_of(built))
    assert (why, stores > 5) == ("", True)


def test_a_class_folder_that_is_not_there(built: Path, tmp_path: Path) -> None:
    """When the program runs it may be there, and hide other classes."""
    why, stores = printed(path_of(built, str(tmp_path / "absent")))
    assert (why, stores > 5) == (f"{tmp_path / 'absent'} of the class path is not there; correct -cp", True)


def test_a_package_that_is_not_there(built: Path) -> None:
    """A misspelt option would leave code of the program among the libraries."""
    why, _ = printed(path_of(built), "--packages", "com.acme.comon")
    assert why == "package com.acme.comon of --packages has no class on the class path; correct the option or -cp"


def test_a_class_file_that_is_newer_than_the_reader(built: Path, tmp_path: Path) -> None:
    """The JVM has not loaded it, because no record came yet."""
    classes = tmp_path / "classes"
    shutil.copytree(built, classes)
    file = classes / "shop" / "Deep.class"
    content = bytearray(file.read_bytes())
    content[6:8] = _NEWER.to_bytes(2)
    file.write_bytes(bytes(content))
    why, stores = printed(path_of(classes))
    assert why == (
        "class shop.Deep is not readable (version 99 of class files; expected 45 to 72); print the facts with a newer "
        "topology-facts.jar"
    )
    assert stores > 5


def test_a_native_image_has_no_class_files(built: Path) -> None:
    """By the property that GraalVM gives to a program in an image."""
    why, stores = printed(path_of(built), options=("-Dorg.graalvm.nativeimage.imagecode=runtime",))
    assert stores > 5
    assert why == (
        "a native image has no class files; print the facts with the command, from the jars of which the image is built"
    )


def test_a_class_that_the_program_uses_and_nobody_has(built: Path, tmp_path: Path) -> None:
    """The parts of the program that do not use it have their digests."""
    classes = tmp_path / "classes"
    shutil.copytree(built, classes)
    (classes / "shop" / "Deep.class").unlink()
    ran = java(path_of(classes), COMMAND, "--factory", "shop.App::topology")
    code = read_facts(ran.stdout, "document").read.code
    assert code["operators.sum.code"].not_provable == (
        "class shop.Deep, which method shop.Cents.round uses, is not on the class path"
    )
    assert code["operators.largest.code"].digest
