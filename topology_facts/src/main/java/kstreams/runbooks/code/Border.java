package kstreams.runbooks.code;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.File;
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
        /** Whether it asks for the names of parameters. */
        boolean readsParameters;

        Library(String name, String version, String digest) {
            this.name = name;
            this.version = version;
            this.digest = digest;
        }
    }

    // Each jar of Kafka that a program has in front of it has one of these.
    private static final String[] OF_KAFKA = {
        "streams/KafkaStreams", "clients/consumer/KafkaConsumer", "common/serialization/Serde",
        "streams/TopologyTestDriver", "streams/scala/StreamsBuilder",
    };
    private static final String NATIVE_IMAGE = "org.graalvm.nativeimage.imagecode";
    private static final String PARAMETER = "java/lang/reflect/Parameter";
    private static final String SERVICES = "META-INF/services/";
    private static final Pattern FILE = Pattern.compile("(.+?)-(\\d[\\w.+-]*)\\.jar");
    private static final Pattern TYPE = Pattern.compile("L([^;:<>()]+)[;<]");
    private static final int CLASS = 7;
    private static final int UTF8 = 1;
    private final ClassPath path;
    private final String kafka;
    private final Map<String, ClassPath.Element> places = new HashMap<>();
    private final Set<String> own = new TreeSet<>();
    private final Map<String, ClassCode> parsed = new HashMap<>();
    private final Map<String, Set<String>> methodsOfLibraries = new HashMap<>();
    private final Map<ClassPath.Element, Library> libraries = new HashMap<>();
    private final Set<ClassPath.Element> ofKafka = new HashSet<>();
    private final Map<ClassPath.Element, Boolean> logsOnly = new HashMap<>();
    private final Map<String, Boolean> isLogger = new HashMap<>();
    /** Classes that a library looks up by the name of a service, by that name. */
    private final Map<String, Set<String>> services = new TreeMap<>();
    private final boolean isKafkaInside;
    private Library kafkaInside;
    private final Map<String, Collection<String>> above = new HashMap<>();
    private Map<String, List<String>> below;

    /**
     * The border of a program whose topology a class makes. {@code kafka} is Kafka's package, with a slash at its end;
     * {@code packages} are more of the program's, with slashes; {@code named} are names of classes in its settings.
     */
    public Border(String factory, String kafka, Collection<String> packages, Collection<String> named)
            throws NotProvable {
        if (System.getProperty(NATIVE_IMAGE) != null) {
            throw new NotProvable("a native image has no class files; print the facts with the command, from the jars of "
                    + "which the image is built");
        }
        String given = System.getProperty("java.class.path");
        requireAll(given);
        try {
            path = new ClassPath(given, LinkCommand.running(), false);
        } catch (NotScanned refused) {
            throw new NotProvable(refused.getMessage().replaceFirst(";.*", ""));
        }
        this.kafka = kafka;
        for (ClassPath.Element element : path.elements) {
            element.classes.keySet().forEach(name -> places.putIfAbsent(name, element));
        }
        path.elements.stream().filter(this::isOfKafka).forEach(ofKafka::add);
        String maker = factory.replace('.', '/');
        ClassPath.Element home = places.get(maker);
        if (home == null) {
            throw new NotProvable("class " + factory + " is not on the class path of this JVM");
        }
        isKafkaInside = ofKafka.contains(home);
        for (String name : packages) {
            if (places.keySet().stream().noneMatch(type -> type.startsWith(name))) {
                throw new NotProvable("package " + Names.shown(name.substring(0, name.length() - 1))
                        + " of --packages has no class on the class path; correct the option or -cp");
            }
        }
        String within = isKafkaInside ? prefix(maker) : "";
        Set<String> all = new TreeSet<>();
        places.forEach((name, element) -> {
            boolean isOfHome = element == home && name.startsWith(within);
            if (!isKafka(name) && (isOfHome || element.isFolder() || packages.stream().anyMatch(name::startsWith))) {
                all.add(name);
            }
        });
        readServices();
        own.addAll(used(all, maker, named));
    }

    /** What is not there now may be there when the program runs, and hide other classes. */
    private static void requireAll(String given) throws NotProvable {
        for (String element : given.split(File.pathSeparator)) {
            if (!element.isEmpty() && !element.endsWith("*") && !new File(element).exists()) {
                throw new NotProvable(element + " of the class path is not there; correct -cp");
            }
        }
    }

    private boolean isOfKafka(ClassPath.Element element) {
        return java.util.Arrays.stream(OF_KAFKA).anyMatch(one -> element.classes.containsKey(kafka + one));
    }

    private void readServices() throws NotProvable {
        for (ClassPath.Element element : path.elements) {
            try {
                for (String file : element.services()) {
                    Set<String> found = services.computeIfAbsent(
                            file.substring(SERVICES.length()).replace('.', '/'), any -> new TreeSet<>());
                    for (String line : new String(element.read(file), StandardCharsets.UTF_8).split("\n")) {
                        String name = line.replaceFirst("#.*", "").trim().replace('.', '/');
                        if (places.containsKey(name)) {
                            found.add(name);
                        }
                    }
                }
            } catch (IOException unreadable) {
                throw new NotProvable("the services of " + element.label + " are not readable");
            }
        }
    }

    /**
     * The classes of the program that the maker of the topology leads to, by the names in their constants: of classes and
     * of texts, and those below one of them, which a record may name. Every other class can be used by its name in a file
     * alone.
     */
    private Set<String> used(Set<String> all, String maker, Collection<String> named) throws NotProvable {
        Set<String> found = new TreeSet<>();
        Map<String, List<String>> under = new HashMap<>();
        for (String name : all) {
            for (String type : aboveOf(name)) {
                under.computeIfAbsent(type, any -> new ArrayList<>()).add(name);
            }
        }
        List<String> open = new ArrayList<>(Collections.singleton(maker));
        named.forEach(name -> open.add(name.replace('.', '/')));
        services.values().forEach(open::addAll);
        while (!open.isEmpty()) {
            String name = open.remove(open.size() - 1);
            if (all.contains(name) && found.add(name)) {
                open.addAll(constants(name));
                open.addAll(under.getOrDefault(name, Collections.emptyList()));
                open.add(name.substring(0, name.lastIndexOf('/') + 1) + "package-info");
            }
        }
        return found;
    }

    /** Every class that a class names: in types, descriptors, signatures and texts. */
    private Collection<String> constants(String name) throws NotProvable {
        Set<String> found = new HashSet<>();
        byte[] file = file(name);
        try {
            ClassReader reader = new ClassReader(file);
            for (int at = 1; at < reader.getItemCount(); at++) {
                int place = reader.getItem(at);
                if (place > 0 && reader.readByte(place - 1) == UTF8) {
                    int length = 2 + reader.readUnsignedShort(place);
                    String text = new DataInputStream(new ByteArrayInputStream(file, place, length)).readUTF();
                    found.add(text.replace('.', '/'));
                    Matcher types = TYPE.matcher(text);
                    while (text.indexOf(';') > 0 && types.find()) {
                        found.add(types.group(1));
                    }
                }
            }
        } catch (IOException | IllegalArgumentException newer) {
            throw ClassCode.unreadable(name, file);
        }
        return found;
    }

    /** com/acme/ of com/acme/orders/App. */
    private static String prefix(String name) {
        int first = name.indexOf('/');
        int second = first < 0 ? -1 : name.indexOf('/', first + 1);
        return name.substring(0, Math.max(first, second) + 1);
    }

    public boolean owns(String name) {
        return own.contains(name);
    }

    /** The names of the program's classes, sorted. */
    Collection<String> all() {
        return own;
    }

    /** Whether a class is in a package of Kafka and in one of its jars. */
    public boolean isKafka(String name) {
        return name.startsWith(kafka) && (!places.containsKey(name) || ofKafka.contains(places.get(name)));
    }

    /** Whether a class is beyond the program, the JDK and Kafka. */
    boolean isLibrary(String name) {
        return !owns(name) && !isKafka(name) && !isLogger(name) && places.containsKey(name);
    }

    /** Whether a class logs: of a jar that has nothing else, or one of those that programs call. */
    public boolean isLogger(String name) {
        return isLogger.computeIfAbsent(name, any -> {
            ClassPath.Element place = places.get(name);
            return Names.isLogger(name) && !owns(name) && (place == null || Names.isLoggerCalled(name)
                    || logsOnly.computeIfAbsent(place, all -> all.classes.keySet().stream().allMatch(Names::isLogger)));
        });
    }

    /** The classes and interfaces above one beyond the program, also through others, with itself. */
    Collection<String> beyond(String name) throws NotProvable {
        Collection<String> known = above.get(name);
        if (known != null) {
            return known;
        }
        Set<String> found = new LinkedHashSet<>(Collections.singleton(name));
        above.put(name, found);
        for (String each : aboveOf(name)) {
            found.addAll(beyond(each));
        }
        return found;
    }

    private Collection<String> aboveOf(String name) throws NotProvable {
        try (InputStream stream = stream(name)) {
            ClassReader reader = new ClassReader(stream);
            List<String> found = new ArrayList<>(java.util.Arrays.asList(reader.getInterfaces()));
            if (reader.getSuperName() != null) {
                found.add(reader.getSuperName());
            }
            return found;
        } catch (IllegalArgumentException newer) {
            throw ClassCode.unreadable(name, places.get(name) == null ? new byte[0] : file(name));
        } catch (IOException unreadable) {
            throw new NotProvable("class " + Names.shown(name) + " is not readable ("
                    + unreadable.getClass().getName() + ")");
        }
    }

    private InputStream stream(String name) throws NotProvable {
        InputStream stream = places.get(name) == null
                ? ClassLoader.getSystemResourceAsStream(name + ".class") : new ByteArrayInputStream(file(name));
        if (stream == null) {
            throw new NotProvable("class " + Names.shown(name) + " is not on the class path");
        }
        return stream;
    }

    /** The classes of the program that a library finds by the name of one of its services. */
    Collection<String> provided() {
        Set<String> found = new TreeSet<>();
        services.forEach((service, names) -> {
            if (!owns(service)) {
                names.stream().filter(this::owns).forEach(found::add);
            }
        });
        return found;
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
                    List<String> types = new ArrayList<>(java.util.Arrays.asList(reader.getInterfaces()));
                    types.add(reader.getSuperName());
                    for (String type : types) {
                        // What is beyond the program may have more above it.
                        for (String over : owns(type) ? Collections.singleton(type) : beyond(type)) {
                            below.computeIfAbsent(over, any -> new ArrayList<>()).add(each);
                        }
                    }
                } catch (IllegalArgumentException newer) {
                    throw ClassCode.unreadable(each, file(each));
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
        try (InputStream stream = stream(name)) {
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
        if (isKafkaInside) {
            Library inside = kafkaInside();
            found.put(inside.name, inside);
        }
        return found;
    }

    /** Of a jar with Kafka in it: nothing tells a class of Kafka from one that a build put into its packages. */
    private Library kafkaInside() {
        if (kafkaInside != null) {
            return kafkaInside;
        }
        StringBuilder all = new StringBuilder();
        for (ClassPath.Element element : ofKafka) {
            element.classes.forEach((name, place) -> {
                if (isKafka(name)) {
                    all.append(name).append(' ').append(element.sum(place)).append('\n');
                }
            });
        }
        kafkaInside = new Library("kafka-inside", "unknown", sha(all.toString(), 8));
        return kafkaInside;
    }

    /** The library of one class. */
    Library libraryOf(String name) throws NotProvable {
        return library(places.get(name));
    }

    private Library library(ClassPath.Element element) throws NotProvable {
        Library known = libraries.get(element);
        if (known != null) {
            return known;
        }
        try {
            MessageDigest all = MessageDigest.getInstance("SHA-256");
            boolean readsParameters = false;
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
                    readsParameters |= used.equals(PARAMETER);
                    ClassPath.Element place = places.get(used);
                    if (place != null && place != element) {
                        others.putIfAbsent(place, used);
                    }
                }
            }
            String[] named = nameOf(element);
            Library library = new Library(named[0], named[1], hex(all.digest(), 8));
            library.refersTo.addAll(others.values());
            library.readsParameters = readsParameters;
            // A library finds what is on the class path under the name of its service.
            services.forEach((service, names) -> {
                if (places.get(service) == element) {
                    library.refersTo.addAll(names);
                }
            });
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

    /** A digest of each character: UTF-8 has none for half of a pair. */
    static String sha(String of, int bytes) {
        byte[] all = new byte[of.length() * 3];
        int size = 0;
        for (int at = 0; at < of.length(); at++) {
            char each = of.charAt(at);
            if (each < 0x80) {
                all[size++] = (byte) each;
            } else {
                all[size++] = (byte) (0xe0 | each >> 12);
                all[size++] = (byte) (0x80 | each >> 6 & 0x3f);
                all[size++] = (byte) (0x80 | each & 0x3f);
            }
        }
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(all, 0, size);
            return hex(digest.digest(), bytes);
        } catch (NoSuchAlgorithmException absent) {
            throw new IllegalStateException(absent); // each JVM has it
        }
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
