import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;

/**
 * The facts of many programs by readers of code that each have one rule less. The reader without a change and CodeFacts
 * are in a folder that is not on the class path. Each line of a file is one reader: the folder of its source, and the
 * names of programs, each as one of the folders FROM/NAME.
 */
public final class CodeMutants {
    private CodeMutants() {}

    public static void main(String[] arguments) throws Exception {
        Path plain = Paths.get(arguments[0]);
        Path builds = Paths.get(arguments[1]);
        Path pairs = Paths.get(arguments[2]);
        String libraries = System.getProperty("java.class.path");
        if (!Files.exists(pairs.resolve("one").resolve("built"))) {
            call(reader(plain), "build", builds, pairs, libraries);
        }
        for (String line : Files.readAllLines(Paths.get(arguments[3]))) {
            String[] parts = line.split("\t");
            Path mutant = Paths.get(parts[0]);
            if (!compiles(mutant, plain, libraries)) {
                continue;
            }
            Class<?> reader = reader(mutant.resolve("classes"), plain);
            for (String name : Arrays.copyOfRange(parts, 1, parts.length)) {
                boolean isPair = name.startsWith("one ") || name.startsWith("other ");
                String[] of = name.split(" ");
                Path program = isPair ? pairs.resolve(of[0]).resolve("built").resolve(of[1]) : builds.resolve(name);
                try {
                    call(reader, "write", program, mutant.resolve("facts").resolve(name), isPair ? of[1] : "shop",
                            libraries);
                } catch (Exception failure) {
                    System.err.println(mutant.getFileName() + ": " + name + ": " + failure.getCause());
                }
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static boolean compiles(Path mutant, Path plain, String libraries) throws Exception {
        Path classes = Files.createDirectories(mutant.resolve("classes"));
        List<String> line = new ArrayList<>(Arrays.asList("-nowarn", "-proc:none", "-XDignore.symbol.file", "-d", classes.toString(), "-cp",
                plain + File.pathSeparator + libraries));
        try (java.util.stream.Stream<Path> sources = Files.list(mutant)) {
            sources.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(line::add);
        }
        return ToolProvider.getSystemJavaCompiler().run(null, null, System.err, line.toArray(new String[0])) == 0;
    }

    private static Class<?> reader(Path... folders) throws Exception {
        URL[] places = new URL[folders.length];
        for (int at = 0; at < folders.length; at++) {
            places[at] = folders[at].toUri().toURL();
        }
        ClassLoader loader = new URLClassLoader(places, CodeMutants.class.getClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        return loader.loadClass("kstreams.runbooks.facts.CodeFacts");
    }

    private static void call(Class<?> reader, String method, Object... values) throws Exception {
        for (Method each : reader.getDeclaredMethods()) {
            if (each.getName().equals(method)) {
                each.setAccessible(true);
                each.invoke(null, values);
            }
        }
    }
}
