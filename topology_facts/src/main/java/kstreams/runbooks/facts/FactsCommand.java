package kstreams.runbooks.facts;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import kstreams.runbooks.code.JvmDefaults;

/**
 * Prints the facts of the topology that a method of an application returns.
 *
 * <pre>
 * java -cp topology-facts.jar:APPLICATION kstreams.runbooks.facts.FactsCommand \
 *     --factory com.acme.App::topology --properties app.properties [--timeout-s 60]
 * </pre>
 *
 * The method is static and has no parameter, or one for the properties. What it prints goes to stderr. Exit codes:
 * 0 the facts were printed; 2 bad input, with one sentence on stderr.
 */
public final class FactsCommand {
    private static final String USAGE =
            "--factory CLASS::METHOD is needed, --properties FILE, --packages NAMES and --timeout-s SECONDS are possible";
    private static final int BAD_INPUT = 2;

    private FactsCommand() {}

    /** Prints the facts and ends the JVM, also if the application has started threads. */
    public static void main(String[] arguments) {
        Path copy = null;
        if (Restart.isNeeded()) {
            copy = Restart.copied(arguments, "--properties");
            int ended = Restart.run(FactsCommand.class, arguments);
            if (ended >= 0) {
                delete(copy);
                Runtime.getRuntime().halt(ended);
            }
        }
        Restart.endWithFirst();
        PrintStream out = System.out;
        System.setOut(System.err);
        int code = 0;
        try {
            String yaml = run(options(arguments));
            Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
            writer.write(yaml);
            writer.flush();
        } catch (NotRead reason) {
            System.err.println("topology-facts: " + reason.getMessage());
            code = BAD_INPUT;
        } catch (IOException closed) {
            code = BAD_INPUT; // the reader of the output is gone
        }
        delete(copy);
        Runtime.getRuntime().halt(code);
    }

    private static void delete(Path copy) {
        try {
            if (copy != null) {
                Files.deleteIfExists(copy);
            }
        } catch (IOException kept) {
            System.err.println("topology-facts: " + copy + " was not deleted (" + kept + "); delete it");
        }
    }

    private static Map<String, String> options(String[] arguments) throws NotRead {
        Map<String, String> options = new LinkedHashMap<>();
        for (int at = 0; at < arguments.length; at += 2) {
            String name = arguments[at];
            if (!name.matches("--(factory|properties|packages|timeout-s)")) {
                throw new NotRead("option " + name + " is not known; " + USAGE);
            }
            if (at + 1 == arguments.length) {
                throw new NotRead("option " + name + " has no value; " + USAGE);
            }
            options.put(name, arguments[at + 1]);
        }
        return options;
    }

    private static String run(Map<String, String> options) throws NotRead {
        String factory = options.getOrDefault("--factory", "");
        int colons = factory.indexOf("::");
        if (colons < 1 || colons + 2 == factory.length()) {
            throw new NotRead("--factory has value '" + factory + "' (expected CLASS::METHOD); " + USAGE);
        }
        String file = options.get("--properties");
        Properties properties = file == null ? null : properties(file);
        JvmDefaults defaults = new JvmDefaults();
        Method method = method(factory.substring(0, colons), factory.substring(colons + 2));
        List<String> packages = packages(options.getOrDefault("--packages", ""));
        return facts(method, properties, packages, defaults, seconds(options.getOrDefault("--timeout-s", "60")));
    }

    /** Names of packages, with slashes. */
    private static List<String> packages(String text) throws NotRead {
        List<String> found = new ArrayList<>();
        for (String name : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            if (!name.matches("[\\w$]+(\\.[\\w$]+)*")) {
                throw new NotRead("--packages has value '" + text + "' (expected com.acme.common,com.acme.model); "
                        + "correct it");
            }
            found.add(name.replace('.', '/') + "/");
        }
        return found;
    }

    private static long seconds(String text) throws NotRead {
        if (!text.matches("[1-9][0-9]{0,5}")) {
            throw new NotRead("--timeout-s has value '" + text + "' (expected 1 to 999999); correct it");
        }
        return Long.parseLong(text);
    }

    private static Properties properties(String file) throws NotRead {
        Properties properties = new Properties();
        try (InputStream text = Files.newInputStream(Paths.get(file))) {
            properties.load(text);
        } catch (IOException | IllegalArgumentException refused) {
            throw new NotRead("--properties " + file + " is not readable (" + refused.getClass().getName()
                    + "); give a file of properties");
        }
        return properties;
    }

    private static Method method(String type, String name) throws NotRead {
        Class<?> found;
        try {
            found = Class.forName(type);
        } catch (ClassNotFoundException absent) {
            throw new NotRead("class " + type + " is not on the class path; put the application's jars there (-cp)");
        } catch (LinkageError refused) {
            throw new NotRead("class " + type + " does not load (" + refused
                    + "); put all of its jars on the class path");
        }
        for (Method method : found.getDeclaredMethods()) {
            Class<?>[] takes = method.getParameterTypes();
            boolean fits = takes.length == 0 || (takes.length == 1 && takes[0].isAssignableFrom(Properties.class));
            if (method.getName().equals(name) && Modifier.isStatic(method.getModifiers()) && fits) {
                return method;
            }
        }
        throw new NotRead("class " + type + " has no static method " + name
                + " without parameters or with one for Properties; write one that returns the Topology");
    }

    /** Both parts run classes of the program, which may wait for something: the method, and what is a default. */
    private static String facts(Method method, Properties properties, List<String> packages, JvmDefaults defaults,
            long seconds) throws NotRead {
        String name = method.getDeclaringClass().getName() + "::" + method.getName();
        FutureTask<String> building = new FutureTask<>(() -> {
            method.setAccessible(true);
            Properties given = properties == null ? new Properties() : properties;
            Object topology = method.getParameterCount() == 0 ? method.invoke(null) : method.invoke(null, given);
            Library.of(topology);
            CodeReader code = new CodeReader(method.getDeclaringClass(), packages, defaults);
            Facts facts = TopologyFacts.document(topology, properties, code);
            LinkReader.read(facts, topology, properties);
            code.read(facts);
            return facts.yaml();
        });
        Thread builder = new Thread(building, "topology-facts-factory");
        builder.setDaemon(true);
        sayIfEnded(name);
        builder.start();
        try {
            return building.get(seconds, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new NotRead(name + " has not returned after " + seconds
                    + " s, so it may connect to something; give a method that only builds the Topology");
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof NotRead) {
                throw (NotRead) failed.getCause();
            }
            Throwable cause = failed.getCause() instanceof InvocationTargetException
                    ? failed.getCause().getCause()
                    : failed.getCause();
            throw new NotRead(name + " failed with " + String.valueOf(cause).replaceAll("\\s+", " ")
                    + "; give it what it needs, or another method");
        } catch (InterruptedException ended) {
            throw new NotRead(name + " was interrupted; start the command again");
        }
    }

    /** The command halts the JVM, so a hook runs only if the method exits or somebody ends the process. */
    private static void sayIfEnded(String name) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            System.err.println("topology-facts: the JVM was ended before " + name
                    + " returned; give a method that only builds the Topology");
            Runtime.getRuntime().halt(BAD_INPUT);
        }));
    }
}
