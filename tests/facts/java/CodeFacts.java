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

/** The facts of many builds of one program in one JVM: each folder has sources, or classes of another compiler. */
public final class CodeFacts {
    private CodeFacts() {}

    public static void main(String[] arguments) throws Exception {
        String libraries = System.getProperty("java.class.path");
        try (Stream<Path> builds = Files.list(Paths.get(arguments[0]))) {
            for (Path build : builds.filter(Files::isDirectory).sorted().collect(Collectors.toList())) {
                Path classes = build.resolve("classes");
                if (!Files.isDirectory(classes)) {
                    compile(build, classes, libraries);
                }
                System.setProperty("java.class.path", classes + File.pathSeparator + libraries);
                Files.write(build.resolve("facts.yaml"), facts(classes).getBytes("UTF-8"));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static String facts(Path classes) throws Exception {
        URL[] place = {classes.toUri().toURL()};
        JvmDefaults defaults = new JvmDefaults();
        Locale locale = Locale.getDefault();
        try (URLClassLoader loader = new URLClassLoader(place, CodeFacts.class.getClassLoader())) {
            Class<?> program = loader.loadClass("shop.App");
            Object topology = program.getMethod("topology").invoke(null);
            Properties properties = new Properties();
            properties.setProperty("application.id", "shop");
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
        List<String> line = new ArrayList<>(Arrays.asList("-nowarn", "-d", classes.toString(), "-cp", libraries));
        Path options = build.resolve("options");
        if (Files.exists(options)) {
            line.addAll(Files.readAllLines(options));
        }
        try (Stream<Path> sources = Files.list(build)) {
            sources.map(Path::toString).filter(name -> name.endsWith(".java")).sorted().forEach(line::add);
        }
        if (ToolProvider.getSystemJavaCompiler().run(null, null, System.err, line.toArray(new String[0])) != 0) {
            throw new IllegalStateException(build + " does not compile");
        }
    }
}
