"""Every kind of reference that does not link, and every form of a class path.

Small classes are compiled with one version of a library and scanned with another, by the option --package.
"""

import json
import os
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from lab.links import command, found, kafka, scan, truth
from lab.topology_facts import java

PACKAGE = ("--package", "lib")
OLD = {
    "lib/Moved": "public class Moved { public static class Inner {} }",
    "lib/Hidden": "public class Hidden { public int field; public void method() {} public void closed() {} }",
    "lib/Kind": "public class Kind { public int method() { return 1; } }",
    "lib/Face": "public interface Face { void method(); }",
    "lib/Base": "public abstract class Base { public void method() {} protected void own() {} public int gone; }",
    "lib/Sealed": "public class Sealed { }",
    "lib/Static": "public class Static { public static void was() {} public void is() {} public static int field; }",
    "lib/Made": "public class Made { public Made() {} public Made(int number) {} }",
    "lib/Constant": "public class Constant { public int number; public Object typed; }",
    "lib/Problem": "public class Problem extends RuntimeException {}",
    "lib/Super": "public class Super { public Object method(String text, int[] numbers) { return text; } }",
    "lib/Reader": "public interface Reader { String read(); }",
    "lib/Same": "public class Same { public void method() {} public int field; public static void s() {} }",
}
NEW = {
    **{name: OLD[name] for name in ("lib/Same",)},
    "lib/internals/Moved": "public class Moved { public static class Inner {} }",
    "lib/Hidden": "public class Hidden { int field; private void method() {} protected void closed() {} }",
    "lib/Kind": "public interface Kind { int method(); }",
    "lib/Face": "public abstract class Face { abstract void method(); }",
    "lib/Base": "public abstract class Base { public final void method() {} protected void own() {} "
    "public abstract void added(); }",
    "lib/Sealed": "public final class Sealed { }",
    "lib/Static": "public class Static { public void was() {} public static void is() {} public int field; }",
    "lib/Made": "public abstract class Made { public Made() {} }",
    "lib/Constant": "public class Constant { public final int number = 1; public String typed; }",
    "lib/Super": "public class Super { public String method(String text, int[] numbers) { return text; } }",
    "lib/Reader": "public interface Reader { String read(); String readAll(); }",
}
USER = {
    "app/Moves": "public class Moves { Object method() { return new lib.Moved.Inner[2][3]; } }",
    "app/Sees": "public class Sees { int m(lib.Hidden it) { it.method(); it.closed(); return it.field; } }",
    "app/Kinds": "public class Kinds { int m(lib.Kind it) { return it.method(); } "
    "void f(lib.Face it) { it.method(); } }",
    "app/Below": "public class Below extends lib.Base { public void method() {} }",
    "app/Lacks": "public class Lacks extends lib.Base { void m() { own(); gone = 1; } }",
    "app/Under": "public class Under extends Lacks { }",
    "app/Far": "public class Far { void m(Under it) { it.gone++; it.toString(); it.method(); } }",
    "app/Final": "public class Final extends lib.Sealed { }",
    "app/Faces": "public class Faces implements lib.Face { public void method() {} }",
    "app/Extends": "public class Extends extends lib.Kind { }",
    "app/Statics": "public class Statics { int m(lib.Static it) { lib.Static.was(); it.is(); "
    "return lib.Static.field; } }",
    "app/Makes": "public class Makes { Object m() { return new lib.Made(); } Object n() { return new lib.Made(1); } "
    "java.util.function.Supplier<Object> o() { return lib.Made::new; } }",
    "app/Writes": "public class Writes { void m(lib.Constant it) { it.number = 2; it.typed = it; } }",
    "app/Catches": "public class Catches { void m() { try { hashCode(); } catch (lib.Problem p) { hashCode(); } } }",
    "app/Supers": "public class Supers extends lib.Super { Object m() { return super.method(null, new int[0]); } "
    "java.util.function.BiFunction<String, int[], Object> n() { return this::method; } }",
    "app/Reads": "public class Reads { lib.Reader m() { return () -> null; } }",
    "app/Links": "public class Links { void m(lib.Same it) { it.method(); lib.Same.s(); it.field++; it.hashCode(); "
    "Object o = new lib.Same[1].clone(); } }",
}
RELEASE = "17"


def compiled(folder: Path, sources: Mapping[str, str], *class_path: Path, release: str = RELEASE) -> Path:
    """Classes by name, without their package line, compiled into a directory."""
    for name, text in sources.items():
        file = folder / "src" / f"{name}.java"
        file.parent.mkdir(parents=True, exist_ok=True)
        package = name.rpartition("/")[0].replace("/", ".")
        file.write_text(f"package {package};\n{text}\n", "utf-8")
    classes = folder / "classes"
    files = [str(file) for file in sorted((folder / "src").rglob("*.java"))]
    options = ["-cp", ":".join(map(str, class_path)), "-d", str(classes), "--release", release, "-nowarn"]
    built = subprocess.run(["javac", *options, *files], capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return classes


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The old library, the new one, and classes that were compiled with the old one."""
    folder = tmp_path_factory.mktemp("links")
    old, new = compiled(folder / "old", OLD), compiled(folder / "new", NEW)
    return old, new, compiled(folder / "app", USER, old)


@pytest.fixture(scope="module")
def changed(versions: tuple[Path, Path, Path]) -> dict[str, Any]:
    """The scan of the classes with the new library."""
    return scan([versions[2], versions[1]], *PACKAGE)


def test_each_kind_of_change_is_found_as_the_jvm_finds_it(
    versions: tuple[Path, Path, Path], changed: dict[str, Any]
) -> None:
    """The JVM resolves each reference; what it does not resolve alone has the cases below."""
    _, new, app = versions
    shown = {one for one in found(changed) if one[0] != "app.Reads"}
    resolved = truth([app], [new], "lib")
    loading = {one[0] for one in resolved if one[0] == one[1]}
    # A class that is not loaded has one line there; the scan names what it extends.
    assert {one for one in shown if one[0] not in loading} == {one for one in resolved if one[0] not in loading}
    dead = {(one["class"], one["kind"]) for one in changed["findings"] if one["class"] in loading}
    assert dead >= {("app.Below", "final"), ("app.Final", "final"), ("app.Faces", "kind"), ("app.Extends", "kind")}
    assert loading == {name for name, _ in dead}
    assert "app.Links" not in {one["class"] for one in changed["findings"]}


def test_the_same_library_links(versions: tuple[Path, Path, Path]) -> None:
    """No finding is made of what did not change."""
    old, _, app = versions
    assert scan([app, old], *PACKAGE)["findings"] == []


def test_a_lambda_lacks_each_other_method_of_its_interface(
    versions: tuple[Path, Path, Path], changed: dict[str, Any], tmp_path: Path
) -> None:
    """A lambda has one method: the call of one that the interface gained is an AbstractMethodError."""
    _, new, app = versions
    lacking = [one for one in changed["findings"] if one["class"] == "app.Reads"]
    assert [(one["to"], one["error"], one["handled"]) for one in lacking] == [
        ("lib.Reader.readAll()", "AbstractMethodError", False)
    ]
    source = {
        "run/Main": "public class Main { public static void main(String[] a) throws Exception { "
        'var m = Class.forName("app.Reads").getDeclaredMethod("m"); m.setAccessible(true); var c = '
        'Class.forName("app.Reads").getDeclaredConstructor(); c.setAccessible(true); '
        "((lib.Reader) m.invoke(c.newInstance())).readAll(); } }"
    }
    ran = java(f"{compiled(tmp_path, source, new)}:{app}:{new}", "run.Main")
    assert "AbstractMethodError" in ran.stderr


HANDLERS = {
    "app/Plain": ("void m() { new lib.Moved(); }", False),
    "app/Linkage": ("int m() { try { new lib.Moved(); return 1; } catch (LinkageError e) { return 0; } }", True),
    "app/Own": ("void m() { try { new lib.Moved(); } catch (NoClassDefFoundError e) { hashCode(); } }", True),
    "app/Any": ("void m() { try { new lib.Moved(); } catch (Throwable e) { hashCode(); } }", True),
    "app/Looped": ("void m() { while (true) { try { new lib.Moved(); } catch (Error e) { hashCode(); } } }", True),
    "app/Other": ("void m() { try { new lib.Moved(); } catch (NoSuchMethodError e) { hashCode(); } }", False),
    "app/Exceptions": ("void m() { try { new lib.Moved(); } catch (Exception e) { hashCode(); } }", False),
    "app/Finally": ("void m() { try { new lib.Moved(); } finally { hashCode(); } }", False),
    "app/Again": ("void m() { try { new lib.Moved(); } catch (Throwable e) { hashCode(); throw e; } }", False),
    "app/Wrapped": (
        "void m() { try { new lib.Moved(); } catch (Throwable e) { throw new RuntimeException(e); } }", False),
    "app/Resource": (
        'void m() throws Exception { try (var r = new java.io.StringReader("")) { new lib.Moved(); } }', False),
    "app/Locked": ("void m() { synchronized (this) { new lib.Moved(); } }", False),
    "app/Outside": (
        'void m() throws Exception { try { try (var r = new java.io.StringReader("")) { new lib.Moved(); } } '
        "catch (NoClassDefFoundError e) { hashCode(); } }", True),
    "app/WrappedInside": (
        "void m() { try { try { new lib.Moved(); } catch (Throwable e) { throw new RuntimeException(e); } } "
        "catch (LinkageError e) { hashCode(); } }", False),
    "app/Both": (
        "void m() { try { new lib.Moved(); } catch (LinkageError e) { hashCode(); } new lib.Moved(); }", False),
    "app/Method": ("void m(lib.Static s) { try { lib.Static.was(); } catch (LinkageError e) { hashCode(); } }", True),
}  # fmt: skip


def test_a_reference_is_handled_if_its_method_goes_on_after_the_error(
    versions: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """A handler that throws again, as a try with resources does, is none; that of another error is none either."""
    old, new, _ = versions
    sources = {name: f"public class {name[4:]} {{ public {text} }}" for name, (text, _) in HANDLERS.items()}
    app = compiled(tmp_path, sources, old)
    document = scan([app, new], *PACKAGE)
    shown = {one["class"]: one["handled"] for one in document["findings"] if one["to"] != "lib.Static"}
    assert shown == {name.replace("/", "."): handled for name, (_, handled) in HANDLERS.items()}
    handled = compiled(tmp_path / "handled", {"app/Any": sources["app/Any"]}, old)
    ran = command([handled, new], *PACKAGE)
    assert (ran.returncode, "handles the NoClassDefFoundError" in ran.stdout) == (0, True)


def _jar(file: Path, entries: Mapping[str, bytes], manifest: str = "") -> Path:
    with zipfile.ZipFile(file, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\n{manifest}\n")
        for name, content in entries.items():
            jar.writestr(name, content)
    return file


def _files(folder: Path, below: str = "") -> dict[str, bytes]:
    return {f"{below}{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*.class")}


def test_a_class_path_is_read_as_the_jvm_reads_it(versions: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Order, wildcards, manifests, jars inside a jar, releases inside a jar."""
    old, new, app = versions
    classes = _files(app)
    old_jar, new_jar = _jar(tmp_path / "old.jar", _files(old)), _jar(tmp_path / "new.jar", _files(new))
    wanted = found(scan([app, new], *PACKAGE))
    assert len(wanted) > 20

    assert scan([app, old_jar, new_jar], *PACKAGE)["findings"] == []
    first = found(scan([app, new_jar, old_jar], *PACKAGE))
    assert first < wanted, "the classes that only the old jar has are there"
    assert first

    libraries = tmp_path / "libraries"
    libraries.mkdir()
    _jar(libraries / "lib.jar", _files(new))
    _jar(libraries / "app.JAR", classes)
    (libraries / "readme.txt").write_text("not a jar", "utf-8")
    assert found(scan([f"{libraries}/*"], *PACKAGE)) == wanted

    pointing = _jar(tmp_path / "pointing.jar", classes, "Class-Path: new.jar absent.jar\n")
    assert found(scan([pointing], *PACKAGE)) == wanted

    index = b'- "BOOT-INF/lib/new.jar"\n- "BOOT-INF/lib/old.jar"\n'
    nested = {**_files(app, "BOOT-INF/classes/"), "BOOT-INF/lib/old.jar": old_jar.read_bytes(),
              "BOOT-INF/lib/new.jar": new_jar.read_bytes()}  # fmt: skip
    assert scan([_jar(tmp_path / "boot.jar", nested)], *PACKAGE)["findings"] == []
    ordered = scan([_jar(tmp_path / "indexed.jar", {**nested, "BOOT-INF/classpath.idx": index})], *PACKAGE)
    assert found(ordered) == first
    assert {one["jar"] for one in ordered["findings"]} == {"indexed.jar"}

    releases = {**_files(old), **_files(new, "META-INF/versions/17/")}
    several = _jar(tmp_path / "several.jar", releases, "Multi-Release: true\n")
    assert found(scan([app, several], *PACKAGE, "--java", "17")) == first
    assert scan([app, several], *PACKAGE, "--java", "11")["findings"] == []
    assert scan([app, _jar(tmp_path / "plain.jar", releases)], *PACKAGE, "--java", "17")["findings"] == []


def test_a_class_file_that_is_too_new_is_not_known(versions: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """It is named, with the newest release that is read; a broken one too. A finding elsewhere is still one."""
    old, new, app = versions
    text = bytearray((app / "app" / "Links.class").read_bytes())
    text[6:8] = (99).to_bytes(2, "big")
    entries = {"app/Links.class": bytes(text), "app/Broken.class": b"nothing"}
    newer = _jar(tmp_path / "newer.jar", entries)
    ran = command([newer, old], *PACKAGE)
    assert ran.returncode == 3
    assert (
        "NOT SCANNED: newer.jar: class app.Links has class files of Java 55 (newest that are read: Java 28); scan with "
        "a newer topology-facts.jar"
    ) in ran.stdout
    assert "class app.Broken is not a readable class file; build the jar again" in ran.stdout
    assert command([newer, app, new], *PACKAGE).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["absent.jar"], "class path: absent.jar does not exist; correct the path"),
        (["absent/*"], "class path: absent/* is not a readable directory; correct the path"),
        ([__file__], f"class path: {__file__} is not a readable jar (java.util.zip.ZipException); replace the file"),
        (["{app}"], "class path: kafka-clients is not on it (expected: the application's jars and its Kafka); add"),
        (["{clients}"], "class path: kafka-streams is not on it (expected: the application's jars and its Kafka)"),
        (
            ["{clients}", "{other}"],
            "class path: it has Kafka 3.9.1 and Kafka 4.4.0 ([[kafka-clients-4.4.0.jar], [kafka-clients-3.9.1.jar, "
            "kafka-streams-3.9.1.jar]], expected one release); remove the jars of the other",
        ),
        (
            ["{shaded}"],
            "class path: Kafka is in package acme.kafka of shaded.jar (expected org.apache.kafka); scan with --package "
            "acme.kafka",
        ),
        (["{app}", "--package", "com.acme"], "class path: it has no class of com.acme; add its jars, or correct"),
        (["{app}", "--package"], "option --package has value ''; --class-path PATH is needed"),
        (["{app}", "--java", "x"], "--java has value 'x' (expected a release such as 17); correct it"),
        (["{app}", "--format", "xml"], "option --format has value 'xml'; --class-path PATH is needed"),
        (["{app}", "--other", "1"], "option --other is not known; --class-path PATH is needed"),
    ],
)
def test_bad_input_is_one_sentence(
    versions: tuple[Path, Path, Path], tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    """Object, observed, limit, next action; exit code 2 and nothing on stdout."""
    clients = next(one for one in kafka("4.4.0") if "clients" in one.name)
    shaded = _jar(tmp_path / "shaded.jar", {"acme/kafka/streams/KafkaStreams.class": b""})
    values = {"app": str(versions[2]), "clients": str(clients), "shaded": str(shaded),
              "other": os.pathsep.join(map(str, kafka("3.9.1")))}  # fmt: skip
    given = [one.format(**values) for one in arguments]
    paths = [one for one in given if os.sep in one or one.endswith(".jar")]
    ran = command(paths, *[one for one in given if one not in paths])
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"topology-facts: {sentence}"), ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_library_with_a_kafka_of_its_own_is_no_second_release(tmp_path: Path) -> None:
    """Its classes are in another package, and it keeps the file with the release."""
    entries = {"kafka/kafka-version.properties": b"version=2.8.2", "tool/kafka/streams/KafkaStreams.class": b""}
    document = scan([_jar(tmp_path / "tool.jar", entries), *kafka("4.4.0")])
    assert (document["target"], document["findings"]) == ("Kafka 4.4.0", [])


def test_every_class_that_left_a_package_in_4_4_is_found_with_its_new_place(tmp_path: Path) -> None:
    """KAFKA-20297 moved classes of org.apache.kafka.common.utils to its package `internals`."""
    (old, *_), (new, *_) = kafka("4.3.1"), kafka("4.4.0")
    package = "org/apache/kafka/common/utils/"
    before, after = (set(zipfile.ZipFile(jar).namelist()) for jar in (old, new))
    gone = {name.removeprefix(package).removesuffix(".class") for name in before - after if name.startswith(package)}
    classes = sorted(name for name in gone if "$" not in name)
    assert len(classes) == 34
    moved = {name for name in classes if f"{package}internals/{name}.class" in after}
    assert len(moved) == 32
    plain = package.replace("/", ".")
    visible = [name for name in classes if _is_public(old, f"{package}{name}")]
    assert len(visible) >= 32
    names = [name.replace("/", ".") for name in visible]
    uses = "".join(f"Object m{at}(Object it) {{ return ({plain}{name}) it; }}\n" for at, name in enumerate(names))
    app = compiled(tmp_path, {"app/Uses": f"public class Uses {{ {uses} }}"}, *kafka("4.3.1"))
    shown = {one["to"]: one["sentence"] for one in scan([app, *kafka("4.4.0")])["findings"]}
    assert shown.keys() == {f"{plain}{name}" for name in names}
    for name in moved & set(names):
        assert shown[plain + name] == (
            f"Uses ({app}) uses {plain}{name}, which Kafka 4.4.0 does not have (it has {plain}internals.{name}): dies "
            "when first used"
        )
    assert scan([app, *kafka("4.3.1")])["findings"] == []
    refused = truth([app], kafka("4.4.0"))
    assert {(to, error) for _, to, error in refused} == {(to, "NoClassDefFoundError") for to in shown}


def _is_public(jar: Path, name: str) -> bool:
    ran = subprocess.run(
        ["javap", "-cp", str(jar), name.replace("/", ".")], capture_output=True, text=True, timeout=60, check=True
    )
    return "public " in ran.stdout.splitlines()[1]


def test_people_read_one_line_a_class_and_ci_reads_all(versions: tuple[Path, Path, Path]) -> None:
    """A class with many references does not hide the others; SARIF has one result a reference."""
    _, new, app = versions
    ran = command([app, new], *PACKAGE)
    classes = {one["class"] for one in scan([app, new], *PACKAGE)["findings"]}
    assert (ran.returncode, len(ran.stdout.splitlines())) == (1, len(classes) + 1)
    assert "Sees " in ran.stdout
    every = command([app, new], *PACKAGE, "--all", "true").stdout.splitlines()
    document = scan([app, new], *PACKAGE)
    assert len(every) == len(document["findings"]) + 1
    sarif = json.loads(command([app, new], *PACKAGE, "--format", "sarif").stdout)
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0"
    rules = {one["id"] for one in run["tool"]["driver"]["rules"]}
    assert {one["ruleId"] for one in run["results"]} <= rules
    assert [one["message"]["text"] for one in run["results"]] == [one["sentence"] for one in document["findings"]]
    assert run["invocations"][0]["executionSuccessful"] is True
    assert all(one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"])
