package kstreams.runbooks.code;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import kstreams.runbooks.links.ClassPath;
import kstreams.runbooks.links.LinkCommand;
import kstreams.runbooks.links.NotScanned;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Which classes are the program's, and what is beyond them.
 *
 * The program has the directories of the class path and the jar of the class that builds the topology, without what is
 * Kafka's, and the packages that are named. Of a jar that has Kafka in it, the packages of that class alone: the two
 * first parts of its name.
 */
public final class Border implements Closeable {
    /** A library: its name and version, and a digest of the contents of its classes. */
    static final class Library {
        final String name;
        final String version;
        final String digest;
        final Set<String> refersTo = new LinkedHashSet<>();

        Library(String name, String version, String digest) {
            this.name = name;
            this.version = version;
            this.digest = digest;
        }
    }

    private static final Pattern FILE = Pattern.compile("(.+?)-(\\d[\\w.+-]*)\\.jar");
    private static final int CLASS = 7;
    private final ClassPath path;
    private final String kafka;
    private final Map<String, ClassPath.Element> places = new HashMap<>();
    private final Set<String> own = new TreeSet<>();
    private final Map<String, ClassCode> parsed = new HashMap<>();
    private final Map<String, Set<String>> methodsOfLibraries = new HashMap<>();
    private final Map<ClassPath.Element, Library> libraries = new HashMap<>();
    private Map<String, List<String>> below;

    /**
     * The border of a program whose topology a class makes. {@code kafka} is Kafka's package, with a slash at its end;
     * {@code packages} are more of the program's, with slashes.
     */
    public Border(String factory, String kafka, Collection<String> packages) throws NotProvable {
        try {
            path = new ClassPath(System.getProperty("java.class.path"), LinkCommand.running(), false);
        } catch (NotScanned refused) {
            throw new NotProvable(refused.getMessage().replaceFirst(";.*", ""));
        }
        this.kafka = kafka;
        for (ClassPath.Element element : path.elements) {
            element.classes.keySet().forEach(name -> places.putIfAbsent(name, element));
        }
        String maker = factory.replace('.', '/');
        ClassPath.Element home = places.get(maker);
        if (home == null) {
            throw new NotProvable("class " + factory + " is not on the class path of this JVM");
        }
        String within = home.classes.containsKey(kafka + "streams/KafkaStreams") ? prefix(maker) : "";
        places.forEach((name, element) -> {
            boolean isOfHome = element == home && name.startsWith(within);
            if (!isKafka(name) && (isOfHome || element.isFolder() || packages.stream().anyMatch(name::startsWith))) {
                own.add(name);
            }
        });
    }

    /** com/acme/ of com/acme/orders/App. */
    private static String prefix(String name) {
        int first = name.indexOf('/');
        int second = first < 0 ? -1 : name.indexOf('/', first + 1);
        return name.substring(0, Math.max(first, second) + 1);
    }

    boolean owns(String name) {
        return own.contains(name);
    }

    /** The names of the program's classes, sorted. */
    Collection<String> all() {
        return own;
    }

    boolean isKafka(String name) {
        return name.startsWith(kafka);
    }

    /** Whether a class is beyond the program, the JDK and Kafka. */
    boolean isLibrary(String name) {
        return !owns(name) && !isKafka(name) && !Names.isLogger(name) && places.containsKey(name);
    }

    /** A class of the program. */
    ClassCode code(String name) throws NotProvable {
        ClassCode known = parsed.get(name);
        if (known == null) {
            known = ClassCode.of(name, file(name));
            parsed.put(name, known);
        }
        return known;
    }

    private byte[] file(String name) throws NotProvable {
        try {
            return places.get(name).read(places.get(name).classes.get(name));
        } catch (IOException unreadable) {
            throw new NotProvable("class " + Names.shown(name) + " is not readable (" + unreadable.getClass().getName()
                    + ")");
        }
    }

    /** The classes of the program right below one, sorted. */
    List<String> below(String name) throws NotProvable {
        if (below == null) {
            below = new HashMap<>();
            for (String each : own) {
                try {
                    ClassReader reader = new ClassReader(file(each));
                    below.computeIfAbsent(reader.getSuperName(), above -> new ArrayList<>()).add(each);
                    for (String face : reader.getInterfaces()) {
                        below.computeIfAbsent(face, above -> new ArrayList<>()).add(each);
                    }
                } catch (IllegalArgumentException newer) {
                    throw new NotProvable("class " + Names.shown(each) + " is newer than the reader of classes");
                }
            }
        }
        return below.getOrDefault(name, Collections.emptyList());
    }

    /** Name and descriptor of each method that a subclass of a class beyond the program may override, also above it. */
    Set<String> overridable(String name) throws NotProvable {
        Set<String> known = methodsOfLibraries.get(name);
        if (known != null) {
            return known;
        }
        Set<String> found = new TreeSet<>();
        methodsOfLibraries.put(name, found);
        ClassPath.Element element = places.get(name);
        try (InputStream stream = element == null
                ? ClassLoader.getSystemResourceAsStream(name + ".class")
                : new ByteArrayInputStream(file(name))) {
            if (stream == null) {
                throw new NotProvable("class " + Names.shown(name) + " is not on the class path");
            }
            ClassReader reader = new ClassReader(stream);
            reader.accept(new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(int access, String method, String desc, String generic, String[] ends) {
                    if ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL)) == 0
                            && !method.startsWith("<")) {
                        found.add(method + desc);
                    }
                    return null;
                }
            }, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            List<String> above = new ArrayList<>(java.util.Arrays.asList(reader.getInterfaces()));
            if (reader.getSuperName() != null) {
                above.add(reader.getSuperName());
            }
            for (String each : above) {
                found.addAll(overridable(each));
            }
        } catch (IOException | IllegalArgumentException unreadable) {
            throw new NotProvable("class " + Names.shown(name) + " is not readable ("
                    + unreadable.getClass().getName() + ")");
        }
        return found;
    }

    /** The library of a class, and those that its classes refer to, by name. */
    Map<String, Library> libraries(Collection<String> classes) throws NotProvable {
        Map<String, Library> found = new TreeMap<>();
        Set<String> seen = new HashSet<>();
        List<String> open = new ArrayList<>(classes);
        while (!open.isEmpty()) {
            String name = open.remove(open.size() - 1);
            if (!seen.add(name) || !isLibrary(name)) {
                continue;
            }
            Library library = library(places.get(name));
            if (found.put(library.name, library) != library) {
                open.addAll(library.refersTo);
            }
        }
        return found;
    }

    private Library library(ClassPath.Element element) throws NotProvable {
        Library known = libraries.get(element);
        if (known != null) {
            return known;
        }
        try {
            MessageDigest all = MessageDigest.getInstance("SHA-256");
            Map<ClassPath.Element, String> others = new LinkedHashMap<>();
            for (Map.Entry<String, String> entry : new TreeMap<>(element.classes).entrySet()) {
                String name = entry.getKey();
                if (owns(name) || isKafka(name)) {
                    continue;
                }
                byte[] file = element.read(entry.getValue());
                all.update(name.getBytes(StandardCharsets.UTF_8));
                all.update(file);
                for (String used : named(file)) {
                    ClassPath.Element place = places.get(used);
                    if (place != null && place != element) {
                        others.putIfAbsent(place, used);
                    }
                }
            }
            String[] named = nameOf(element);
            Library library = new Library(named[0], named[1], hex(all.digest(), 8));
            library.refersTo.addAll(others.values());
            libraries.put(element, library);
            return library;
        } catch (IOException | UncheckedIOException | IllegalArgumentException | NoSuchAlgorithmException unreadable) {
            throw new NotProvable("library " + element.label + " is not readable (" + unreadable.getClass().getName()
                    + ")");
        }
    }

    /** The classes in the constant pool of a class. */
    private static Collection<String> named(byte[] file) {
        ClassReader reader = new ClassReader(file);
        char[] buffer = new char[reader.getMaxStringLength()];
        List<String> found = new ArrayList<>();
        for (int at = 1; at < reader.getItemCount(); at++) {
            int place = reader.getItem(at);
            if (place > 0 && reader.readByte(place - 1) == CLASS) {
                found.add(reader.readUTF8(place, buffer));
            }
        }
        return found;
    }

    /** Name and version: of Maven's file, else of the manifest and the name of the jar. */
    private static String[] nameOf(ClassPath.Element element) throws IOException {
        Matcher file = FILE.matcher(element.label);
        String[] named = file.matches() ? new String[] {file.group(1), file.group(2)} : new String[] {element.label, null};
        List<String> written = element.endingWith("/pom.properties");
        if (written.size() == 1) {
            Properties properties = new Properties();
            properties.load(new ByteArrayInputStream(element.read(written.get(0))));
            return new String[] {properties.getProperty("artifactId", named[0]),
                properties.getProperty("version", named[1])};
        }
        byte[] manifest = named[1] == null ? element.read(JarFile.MANIFEST_NAME) : null;
        if (manifest != null) {
            named[1] = new Manifest(new ByteArrayInputStream(manifest)).getMainAttributes()
                    .getValue("Implementation-Version");
        }
        return named;
    }

    static String hex(byte[] digest, int bytes) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < bytes; at++) {
            text.append(String.format("%02x", digest[at]));
        }
        return text.toString();
    }

    @Override
    public void close() {
        path.close();
    }
}
