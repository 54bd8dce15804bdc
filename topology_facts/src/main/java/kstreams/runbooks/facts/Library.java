package kstreams.runbooks.facts;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

/** The Kafka Streams of one topology: the package of its classes, also of relocated ones, and its release. */
final class Library {
    private static final String TOPOLOGY = "streams.Topology";
    private static final String BUILDER = "streams.processor.internals.InternalTopologyBuilder";
    private final String prefix;
    private final ClassLoader loader;
    private final String release;
    /** Of the jars of Kafka. */
    private final Set<String> places = new HashSet<>();
    private final Map<Class<?>, Boolean> areOfKafka = new HashMap<>();

    private Library(String prefix, ClassLoader loader) {
        this.prefix = prefix;
        this.loader = loader;
        this.release = releaseOf(loader);
        for (String name : new String[] {TOPOLOGY, "common.serialization.Serde"}) {
            try {
                places.add(placeOf(type(name)));
            } catch (ClassNotFoundException | LinkageError absent) {
                continue; // of a library that is not whole
            }
        }
    }

    /** The library of a Topology or of the builder inside it; NotRead for an object of any other class. */
    static Library of(Object topology) throws NotRead {
        for (Class<?> type = topology == null ? null : topology.getClass(); type != null; type = type.getSuperclass()) {
            for (String known : new String[] {TOPOLOGY, BUILDER}) {
                if (type.getName().endsWith("." + known)) {
                    String name = type.getName();
                    return new Library(name.substring(0, name.length() - known.length()), type.getClassLoader());
                }
            }
        }
        throw new NotRead("class " + Peek.nameOf(topology) + " is not a Topology of Kafka Streams; give one");
    }

    /** The release, such as 4.3.1; NotRead if no file of the library names it. */
    String release() throws NotRead {
        if (release == null) {
            throw new NotRead("the library has no file kafka/kafka-streams-version.properties; declare its release");
        }
        return release;
    }

    /** The package of Kafka with a dot at its end: org.apache.kafka, or where a build has moved it. */
    String prefix() {
        return prefix;
    }

    /** Whether the release is known and is this one or a later one. */
    boolean isAtLeast(int major, int minor) {
        int[] known = parts();
        return known != null && (known[0] > major || (known[0] == major && known[1] >= minor));
    }

    /** Whether the release is known and is an earlier one. */
    boolean isBefore(int major, int minor) {
        return parts() != null && !isAtLeast(major, minor);
    }

    /**
     * The name of an object's class inside Kafka, such as streams.kstream.TimeWindows, without what a lambda's class
     * has at its end; empty for an object of any other class.
     */
    String known(Object of) {
        return of == null || !isOfKafka(of.getClass()) ? "" : withoutLambda(inside(of.getClass().getName()));
    }

    /** Whether a class is from a jar of Kafka: a program may have classes of its own in one of its packages. */
    private boolean isOfKafka(Class<?> type) {
        return areOfKafka.computeIfAbsent(type, any -> {
            if (inside(type.getName()).isEmpty()) {
                return false;
            }
            String place = placeOf(type);
            return places.contains(place) || place.matches(".*/kafka-streams-(scala|test-utils)[^/]*\\.jar");
        });
    }

    private static String placeOf(Class<?> type) {
        java.security.CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? "" : String.valueOf(source.getLocation());
    }

    /** The name of a class inside Kafka; empty for any other class. */
    String inside(String name) {
        return name.startsWith(prefix + "streams.") || name.startsWith(prefix + "common.")
                ? name.substring(prefix.length())
                : "";
    }

    /** A class of Kafka, by its name inside it. */
    Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(prefix + name, false, loader);
    }

    /** Whether the class of an object is a lambda's, which has another name in each run. */
    static boolean isLambda(Object of) {
        return Peek.nameOf(of).contains("$$Lambda");
    }

    /** The name of a class as it is in each run: a lambda has that of the class around it, a constant its own too. */
    static String lastingName(Object of) {
        if (of instanceof Enum) {
            return ((Enum<?>) of).getDeclaringClass().getName() + "." + ((Enum<?>) of).name();
        }
        String name = Peek.nameOf(of);
        return isLambda(of) ? withoutLambda(name) + " (lambda)" : name;
    }

    /** The name without what the class of a lambda has at its end. */
    static String withoutLambda(String name) {
        int lambda = name.indexOf("$$Lambda");
        return lambda < 0 ? name : name.substring(0, lambda);
    }

    private int[] parts() {
        String[] parts = release == null ? new String[0] : release.split("[.-]");
        try {
            return parts.length < 2 ? null : new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])};
        } catch (NumberFormatException other) {
            return null; // a build of a team's own
        }
    }

    private static String releaseOf(ClassLoader loader) {
        try (InputStream file = loader.getResourceAsStream("kafka/kafka-streams-version.properties")) {
            Properties properties = new Properties();
            if (file != null) {
                properties.load(file);
            }
            return properties.getProperty("version");
        } catch (IOException unreadable) {
            return null; // the fact is not read
        }
    }
}
