package kstreams.runbooks.facts;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import kstreams.runbooks.code.JvmDefaults;

/**
 * The facts of many builds in one JVM. Each folder of the first directory has the sources of one build of a program; each
 * one of the second has the sources of many programs, a package for each, which are compiled at once.
 */
public final class CodeFacts {
    private static final String PROGRAM = "shop";

    private CodeFacts() {}

    public static void main(String[] arguments) throws Exception {
        String libraries = System.getProperty("java.class.path");
        Path builds = Paths.get(arguments[0]);
        Path pairs = Paths.get(arguments[1]);
        build(builds, pairs, libraries);
        for (Path build : folders(builds)) {
            write(build, build, PROGRAM, libraries);
        }
        for (Path side : folders(pairs)) {
            for (Path program : folders(side.resolve("built"))) {
                write(program, program, program.getFileName().toString(), libraries);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** Compiles everything: each program has a folder with its classes. */
    static void build(Path builds, Path pairs, String libraries) throws Exception {
        for (Path build : folders(builds)) {
            if (!Files.exists(build.resolve("classes"))) { // otherwise another compiler made them
                compile(build, build.resolve("classes"), libraries);
            }
            if (Files.exists(build.resolve("resources"))) {
                copy(build.resolve("resources"), build.resolve("classes"));
            }
        }
        for (Path side : folders(pairs)) {
            Path classes = side.resolve("classes");
            compile(side, classes, libraries);
            for (Path program : folders(classes)) {
                String name = program.getFileName().toString();
                if (Files.exists(program.resolve("App.class"))) {
                    Path own = Files.createDirectories(side.resolve("built").resolve(name).resolve("classes"));
                    Files.move(program, own.resolve(name));
                    Path others = side.resolve(name).resolve("beside"); // of packages that other libraries have
                    if (Files.isDirectory(others)) {
                        move(classes, own, others);
                    }
                }
            }
        }
    }

    private static void move(Path classes, Path own, Path sources) throws Exception {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
                Path name = Paths.get(sources.relativize(file).toString().replace(".java", ".class"));
                Files.createDirectories(own.resolve(name).getParent());
                Files.move(classes.resolve(name), own.resolve(name));
            }
        }
    }

    private static void copy(Path from, Path to) throws Exception {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
                Path name = to.resolve(from.relativize(file));
                Files.createDirectories(name.getParent());
                Files.copy(file, name);
            }
        }
    }

    private static List<Path> folders(Path of) throws Exception {
        try (Stream<Path> all = Files.list(of)) {
            return all.filter(Files::isDirectory).sorted().collect(Collectors.toList());
        }
    }

    /** The facts of the program in a folder, as a file of another one. */
    static void write(Path program, Path to, String name, String libraries) throws Exception {
        Path classes = program.resolve("classes");
        Path others = program.resolve("libraries");
        String beside = Files.exists(others) ? new String(Files.readAllBytes(others), "UTF-8") + File.pathSeparator : "";
        System.setProperty("java.class.path", classes + File.pathSeparator + beside + libraries);
        Files.write(Files.createDirectories(to).resolve("facts.yaml"), facts(classes, name + ".App").getBytes("UTF-8"));
    }

    private static String facts(Path classes, String name) throws Exception {
        URL[] place = {classes.toUri().toURL()};
        JvmDefaults defaults = new JvmDefaults();
        Locale locale = Locale.getDefault();
        try (URLClassLoader loader = new URLClassLoader(place, CodeFacts.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> program = loader.loadClass(name);
            Object topology = program.getMethod("topology").invoke(null);
            Properties properties = new Properties();
            properties.setProperty("application.id", PROGRAM);
            CodeReader code = new CodeReader(program, Collections.emptyList(), defaults);
            Facts facts = TopologyFacts.document(topology, properties, code);
            code.read(facts);
            return facts.yaml();
        } finally {
            Locale.setDefault(locale);
        }
    }

    private static void compile(Path build, Path classes, String libraries) throws Exception {
        Files.createDirectories(classes);
        List<String> line = new ArrayList<>(
                Arrays.asList("-nowarn", "-proc:none", "-d", classes.toString(), "-cp", libraries));
        Path options = build.resolve("options");
        if (Files.exists(options)) {
            line.addAll(Files.readAllLines(options));
        }
        try (Stream<Path> sources = Files.walk(build)) {
            sources.map(Path::toString).filter(name -> name.endsWith(".java")).sorted().forEach(line::add);
        }
        if (ToolProvider.getSystemJavaCompiler().run(null, null, System.err, line.toArray(new String[0])) != 0) {
            throw new IllegalStateException(build + " does not compile");
        }
    }
}
