package kstreams.runbooks.facts;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Starts the command once more in a JVM that shows which method implements a lambda: from Java 9 on two packages of the
 * JDK have to be opened for that, on the command line alone.
 *
 * The second JVM has the options, class path and directory of the first one, without its agents and debug ports, and ends
 * with it.
 */
final class Restart {
    private static final String RESTARTED = "kstreams.runbooks.restarted";
    private static final String[] OPENS = {"java.base/java.lang", "java.base/jdk.internal.reflect", "java.base/java.util",
        "java.base/java.util.concurrent", "java.base/java.util.function", "java.base/java.time.format"};
    private static final String AGENTS = "-(javaagent|agentlib|agentpath|Xrun|Xdebug|Dcom\\.sun\\.management).*"
            + "|-XX:(\\+CreateCoredumpOnCrash|.*File(name)?=.*|StartFlightRecording.*|SharedArchiveFile.*)";

    private Restart() {}

    /** Whether this JVM is the second one, or needs none: the release of Java 8, a program of modules. */
    static boolean isNeeded() {
        return System.getProperty(RESTARTED) == null
                && !System.getProperty("java.specification.version").startsWith("1.")
                && System.getProperty("jdk.module.path") == null;
    }

    /**
     * A copy of the file that an option names, which the option then names; null for a regular file, and for none. What a
     * shell gives with {@code <(...)} is open in this JVM alone, and can be read once.
     */
    static Path copied(String[] arguments, String option) {
        int at = Arrays.asList(arguments).indexOf(option) + 1;
        if (at == 0 || at == arguments.length || !Files.exists(Paths.get(arguments[at]))
                || Files.isRegularFile(Paths.get(arguments[at])) || Files.isDirectory(Paths.get(arguments[at]))) {
            return null;
        }
        try {
            // For its owner alone: it may have passwords.
            Path copy = Files.createTempFile("topology-facts-", ".properties");
            Files.write(copy, Files.readAllBytes(Paths.get(arguments[at])));
            arguments[at] = copy.toString();
            return copy;
        } catch (IOException refused) {
            return null;
        }
    }

    /** The exit code of the second JVM; -1 if none starts. */
    static int run(Class<?> command, String[] arguments) {
        List<String> line = new ArrayList<>();
        line.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (!option.matches(AGENTS)) {
                line.add(option);
            }
        }
        // It ends before a better compiler or a collector of many threads pays.
        line.addAll(Arrays.asList("-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1"));
        if (line.stream().noneMatch(option -> option.matches("-XX:[+-]Use.*GC"))) {
            line.add("-XX:+UseSerialGC");
        }
        for (String opened : OPENS) {
            line.add("--add-opens=" + opened + "=ALL-UNNAMED");
        }
        line.addAll(Arrays.asList("-D" + RESTARTED + "=true", "-cp", System.getProperty("java.class.path"),
                command.getName()));
        line.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(line).inheritIO().redirectInput(ProcessBuilder.Redirect.PIPE);
        // They are among the options already.
        builder.environment().keySet().removeAll(Arrays.asList("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        try {
            Process process = builder.start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            return process.waitFor();
        } catch (IOException refused) {
            return -1;
        } catch (InterruptedException ended) {
            return -1;
        }
    }

    /** Ends this JVM with the first one, whose end closes the pipe. */
    static void endWithFirst() {
        if (System.getProperty(RESTARTED) == null) {
            return;
        }
        java.io.InputStream pipe = System.in;
        System.setIn(new java.io.ByteArrayInputStream(new byte[0]));
        Thread watch = new Thread(() -> {
            try {
                while (pipe.read() >= 0) {
                    continue;
                }
            } catch (IOException closed) {
                // as at its end
            }
            Runtime.getRuntime().halt(1);
        }, "topology-facts-first");
        watch.setDaemon(true);
        watch.start();
    }
}
