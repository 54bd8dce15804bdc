package kstreams.runbooks.links;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;

/**
 * Finds the references from the classes of a class path into one package that the JVM does not link.
 *
 * Each class file of the class path is read once. Only those that mention the package, or a class below one of it, are
 * looked at with their code. Nothing of the class path is loaded or run.
 */
public final class LinkScan {
    /** The package of Kafka. */
    public static final String KAFKA = "org.apache.kafka.";
    /** The newest class files that are read: of Java 28. */
    public static final int NEWEST = Opcodes.V28;
    private static final int BEFORE_JAVA = 44;
    private static final String CLIENTS = "kafka/kafka-version.properties";
    private static final String STREAMS = "kafka/kafka-streams-version.properties";
    private final Map<String, Outline> outlines = new HashMap<>();
    private final Map<String, Boolean> isBelowTarget = new HashMap<>();
    private final List<Finding> findings = new ArrayList<>();
    private final Map<String, String> notScanned = new LinkedHashMap<>();
    private final Map<String, Set<String>> makes = new HashMap<>();
    private final ClassPath path;
    private final Classes classes;
    private final Target target;
    private final Resolver resolver;

    private LinkScan(ClassPath path, String prefix) throws NotScanned, IOException {
        this.path = path;
        classes = new Classes(path.elements);
        String slashed = prefix.replace('.', '/');
        String name = prefix.equals(KAFKA) ? "Kafka " + kafka() : name(prefix, slashed);
        target = new Target(slashed, name, classes.places.keySet());
        if (target.isEmpty()) {
            throw new NotScanned(absent(prefix));
        }
        resolver = new Resolver(classes, target);
    }

    /**
     * Scans a class path as `java -cp` takes it. `prefix` is a package with a dot at its end, `java` the feature release
     * of the JVM that runs the application, `strict`: each element has to exist. NotScanned in one sentence.
     */
    static Links of(String classPath, String prefix, int java, boolean strict) throws NotScanned {
        try (ClassPath path = new ClassPath(classPath, java, strict)) {
            LinkScan scan = new LinkScan(path, prefix);
            scan.run();
            return new Links(scan.target.name, path.elements.size(), scan.outlines.size(), scan.findings,
                    scan.notScanned, new HashMap<>(scan.supers()), scan.makes, scan.classes.places.keySet());
        } catch (IOException unreadable) {
            throw new NotScanned("class path: a jar is not readable (" + unreadable + "); correct that");
        }
    }

    /** Scans the class path of the JVM that runs, which ignores elements that do not exist. */
    public static Links ofThisJvm(String prefix) throws NotScanned {
        return of(System.getProperty("java.class.path"), prefix, LinkCommand.running(), false);
    }

    private void run() throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        byte[] prefix = target.prefix.getBytes(StandardCharsets.UTF_8);
        for (ClassPath.Element element : path.elements) {
            boolean isOwn = isOwn(element);
            for (Map.Entry<String, String> one : element.classes.entrySet()) {
                String name = one.getKey();
                if (classes.places.get(name) != element || (isOwn && target.has(name))) {
                    continue;
                }
                byte[] file = element.read(one.getValue());
                Outline outline = outline(name, element, file, prefix);
                if (outline != null) {
                    outlines.put(name, outline);
                    if (outline.mentions) {
                        files.put(name, file);
                    }
                }
            }
        }
        Set<Integer> below = new HashSet<>();
        for (String name : outlines.keySet()) {
            if (isBelowTarget(name)) {
                below.add(Outline.hash(name.getBytes(StandardCharsets.UTF_8)));
            }
        }
        for (Map.Entry<String, Outline> one : outlines.entrySet()) {
            boolean isNear = one.getValue().mentions || isBelowTarget(one.getKey());
            for (int at = 0; !isNear && at < one.getValue().classes.length; at++) {
                isNear = below.contains(one.getValue().classes[at]);
            }
            if (isNear) {
                byte[] file = files.remove(one.getKey());
                look(one.getKey(), file == null ? classes.file(one.getKey()) : file);
            }
        }
        findings.sort((one, other) -> (one.jar + one.key()).compareTo(other.jar + other.key()));
    }

    private Outline outline(String name, ClassPath.Element element, byte[] file, byte[] prefix) {
        try {
            Outline outline = new Outline(file, prefix);
            if (outline.major <= NEWEST) {
                return outline;
            }
            unread(name, element, "has class files of Java " + (outline.major - BEFORE_JAVA)
                    + " (newest that are read: Java " + (NEWEST - BEFORE_JAVA)
                    + "); scan with a newer topology-facts.jar");
        } catch (IllegalArgumentException | IndexOutOfBoundsException broken) {
            unread(name, element, "is not a readable class file; build the jar again");
        }
        return null;
    }

    private void unread(String name, ClassPath.Element element, String why) {
        notScanned.put(Names.plain(name), element.label + ": class " + Names.plain(name) + " " + why);
    }

    /** Whether a supertype of a class, at any distance, is of the target. */
    private boolean isBelowTarget(String name) {
        Boolean known = isBelowTarget.get(name);
        Outline outline = outlines.get(name);
        if (known != null || outline == null) {
            return known == null ? target.has(name) : known;
        }
        isBelowTarget.put(name, false); // a class that is below itself
        boolean isBelow = outline.superName != null
                && (target.has(outline.superName) || isBelowTarget(outline.superName));
        for (String face : outline.interfaces) {
            isBelow |= target.has(face) || isBelowTarget(face);
        }
        isBelowTarget.put(name, isBelow);
        return isBelow;
    }

    private void look(String name, byte[] file) {
        References found = new References();
        Shape shape;
        try {
            new ClassReader(file).accept(found, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            shape = classes.of(name);
        } catch (RuntimeException broken) {
            unread(name, classes.places.get(name), "is not a readable class file (" + broken.getClass().getName()
                    + "); build the jar again");
            return;
        }
        Map<String, Finding> own = new LinkedHashMap<>();
        Set<String> made = new HashSet<>();
        for (References.Reference reference : found.references) {
            Fault fault = fault(name, reference);
            if (fault != null) {
                boolean isOfClass = reference.name == null || fault.clause.equals(target.lacks(reference.owner));
                add(own, name, reference, isOfClass ? Names.plain(reference.owner) : Names.member(reference.owner,
                        reference.name + (reference.type.startsWith("(") ? "" : " ") + reference.type), fault);
            }
            if (reference.use == Use.MAKES && isBelowTarget(reference.owner)) {
                made.add(Names.plain(reference.owner));
            }
        }
        for (References.Lambda lambda : found.lambdas) {
            lambda(own, name, lambda);
        }
        if (isBelowTarget(name) && !own.values().stream().anyMatch(finding -> finding.use.when == Use.When.LOADED)) {
            supertypes(own, name, shape);
        }
        makes.put(Names.plain(name), made);
        findings.addAll(own.values());
    }

    private Fault fault(String from, References.Reference reference) {
        if (!target.has(reference.owner) && (reference.name == null || !isBelowTarget(reference.owner))) {
            return null;
        }
        switch (reference.use) {
            case EXTENDS:
                return resolver.above(from, reference.owner);
            case IMPLEMENTS:
                return resolver.face(from, reference.owner);
            case MAKES:
                return resolver.made(from, reference.owner);
            case READS:
            case READS_STATIC:
            case WRITES:
            case WRITES_STATIC:
                return resolver.field(from, reference.use, reference.owner, reference.name, reference.type);
            case CALLS:
            case CALLS_STATIC:
            case CALLS_SPECIAL:
                return resolver.method(from, reference.use, reference.owner, reference.name, reference.type,
                        reference.isInterface);
            default:
                return resolver.type(from, reference.owner);
        }
    }

    private void supertypes(Map<String, Finding> own, String name, Shape shape) {
        References.Reference whole = new References.Reference(Use.OVERRIDES, name, null, null, false, null, false);
        resolver.overridden(shape).forEach((method, fault) -> add(own, name, whole, method, fault));
        References.Reference lacking = new References.Reference(Use.LACKS, name, null, null, false, null, false);
        if (shape.isConcrete()) {
            resolver.unimplemented(shape).forEach((method, owner) -> add(own, name, lacking,
                    Names.member(owner.name, method), resolver.notImplemented()));
        }
    }

    /** A lambda has one method: each other abstract one of its interface is missing. */
    private void lambda(Map<String, Finding> own, String name, References.Lambda lambda) {
        Shape face = target.has(lambda.face) || isBelowTarget(lambda.face) ? classes.of(lambda.face) : null;
        if (face == null || !face.isInterface()) {
            return; // a class that is absent is a reference of its own
        }
        resolver.unimplemented(face).forEach((method, owner) -> {
            if (!lambda.methods.contains(method)) {
                add(own, name, lambda.at, Names.member(owner.name, method), resolver.notImplemented());
            }
        });
    }

    private void add(Map<String, Finding> own, String from, References.Reference reference, String to, Fault fault) {
        boolean isHandled = reference.flow != null && reference.use.when == Use.When.RUN
                && reference.flow.handles(reference.instruction, fault.error, !reference.isDynamic);
        Finding finding = new Finding(from, classes.places.get(from).label, reference, to, fault, isHandled);
        own.merge(finding.key(), finding, LinkScan::worse);
    }

    /** Of several references to one thing: that which no handler takes, and of these the one that is met first. */
    private static Finding worse(Finding one, Finding other) {
        if (one.isHandled != other.isHandled) {
            return one.isHandled ? other : one;
        }
        return other.use.when.compareTo(one.use.when) < 0 ? other : one;
    }

    private Map<String, List<String>> supers() {
        Map<String, List<String>> supers = new HashMap<>();
        outlines.forEach((name, outline) -> {
            List<String> above = new ArrayList<>();
            if (outline.superName != null) {
                above.add(Names.plain(outline.superName));
            }
            for (String face : outline.interfaces) {
                above.add(Names.plain(face));
            }
            supers.put(Names.plain(name), above);
        });
        return supers;
    }

    /** Whether an element is a jar of the target itself, whose references to its own classes are not looked at. */
    private boolean isOwn(ClassPath.Element element) throws IOException {
        if (element.read(CLIENTS) != null || element.read(STREAMS) != null) {
            return true;
        }
        for (String type : element.classes.keySet()) {
            if (!target.has(type) && !type.startsWith("kafka/")) {
                return false;
            }
        }
        return true;
    }

    /** The one release of Kafka on the class path. */
    private String kafka() throws NotScanned, IOException {
        Map<String, Set<String>> jars = new LinkedHashMap<>();
        for (String file : new String[] {CLIENTS, STREAMS}) {
            Set<String> of = new TreeSet<>();
            String entry = file.equals(CLIENTS) ? "clients/consumer/KafkaConsumer" : "streams/KafkaStreams";
            for (ClassPath.Element element : path.elements) {
                byte[] text = element.read(file);
                // A library with a Kafka of its own, in another package, has the file too.
                if (text != null && element.classes.containsKey(KAFKA.replace('.', '/') + entry)) {
                    Properties properties = new Properties();
                    properties.load(new ByteArrayInputStream(text));
                    String release = String.valueOf(properties.getProperty("version"));
                    jars.computeIfAbsent(release, its -> new TreeSet<>()).add(element.label);
                    of.add(release);
                }
            }
            if (of.isEmpty()) {
                String relocated = absent(KAFKA);
                String jar = file.equals(CLIENTS) ? "kafka-clients" : "kafka-streams";
                throw new NotScanned(relocated.contains("--package") ? relocated : "class path: " + jar
                        + " is not on it (expected: the application's jars and its Kafka); add the jar of " + jar);
            }
        }
        if (jars.size() > 1) {
            throw new NotScanned("class path: it has Kafka " + String.join(" and Kafka ", new TreeSet<>(jars.keySet()))
                    + " (" + jars.values() + ", expected one release); remove the jars of the other");
        }
        return jars.keySet().iterator().next();
    }

    private static String name(String prefix, String slashed) {
        return "the class path's " + prefix.substring(0, prefix.length() - 1);
    }

    private String absent(String prefix) {
        for (String type : classes.places.keySet()) {
            for (String known : new String[] {"clients/consumer/KafkaConsumer", "streams/KafkaStreams"}) {
                if (type.endsWith("/" + known) && !type.startsWith(KAFKA.replace('.', '/'))) {
                    String other = Names.plain(type.substring(0, type.length() - known.length() - 1));
                    return "class path: Kafka is in package " + other + " of " + classes.places.get(type).label
                            + " (expected " + KAFKA.substring(0, KAFKA.length() - 1) + "); scan with --package " + other;
                }
            }
        }
        return "class path: it has no class of " + prefix.substring(0, prefix.length() - 1)
                + "; add its jars, or correct the package";
    }
}
