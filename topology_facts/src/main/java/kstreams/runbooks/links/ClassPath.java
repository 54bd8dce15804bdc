package kstreams.runbooks.links;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The jars and directories of a class path in its order, and the class files that a JVM of one Java release takes from
 * each: wildcards, {@code Class-Path} of manifests, multi-release jars, and the jars inside a jar of Spring Boot or a
 * war.
 */
public final class ClassPath implements Closeable {
    /** One jar or directory: `label` is its file name, `classes` has the place of each class by its internal name. */
    public static final class Element {
        /** The file name of a jar, the path of a directory. */
        public final String label;
        /** The place of each class by its internal name. */
        public final Map<String, String> classes = new LinkedHashMap<>();
        private final ZipFile zip;
        private final Path folder;

        Element(String label, ZipFile zip, Path folder) {
            this.label = label;
            this.zip = zip;
            this.folder = folder;
        }

        /** Whether it is a directory. */
        public boolean isFolder() {
            return zip == null;
        }

        /** The places of the files whose names end so. */
        public List<String> endingWith(String end) {
            return zip == null
                    ? Collections.emptyList()
                    : zip.stream().map(ZipEntry::getName).filter(name -> name.endsWith(end)).collect(Collectors.toList());
        }

        /** The places of the files that name the classes of services. */
        public List<String> services() throws IOException {
            String folderOfServices = "META-INF/services/";
            if (zip != null) {
                return zip.stream().map(ZipEntry::getName)
                        .filter(name -> name.startsWith(folderOfServices) && !name.endsWith("/"))
                        .collect(Collectors.toList());
            }
            Path place = folder.resolve(folderOfServices);
            if (!Files.isDirectory(place)) {
                return Collections.emptyList();
            }
            try (Stream<Path> files = Files.list(place)) {
                return files.filter(Files::isRegularFile).map(file -> folderOfServices + file.getFileName()).sorted()
                        .collect(Collectors.toList());
            }
        }

        /** A sum of a file of this element, which a jar keeps with its name. */
        public String sum(String place) {
            try {
                ZipEntry entry = zip == null ? null : zip.getEntry(place);
                if (entry != null && entry.getCrc() >= 0) {
                    return entry.getCrc() + " " + entry.getSize();
                }
                byte[] content = read(place);
                CRC32 sum = new CRC32();
                sum.update(content, 0, content.length);
                return sum.getValue() + " " + content.length;
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        /** The bytes of a file of this element; null if it has none of this name. */
        public byte[] read(String place) throws IOException {
            if (zip == null) {
                Path file = folder.resolve(place);
                return Files.isRegularFile(file) ? Files.readAllBytes(file) : null;
            }
            ZipEntry entry = zip.getEntry(place);
            if (entry == null) {
                return null;
            }
            try (InputStream stream = zip.getInputStream(entry)) {
                return bytes(stream, (int) Math.max(entry.getSize(), 0));
            }
        }
    }

    private static final String CLASS = ".class";
    private static final String VERSIONS = "META-INF/versions/";
    private static final String[] NESTED = {"BOOT-INF/", "WEB-INF/"};
    /** In the order of the class path. */
    public final List<Element> elements = new ArrayList<>();
    private final Set<Path> opened = new HashSet<>();
    private final List<ZipFile> zips = new ArrayList<>();
    private final List<Path> unpacked = new ArrayList<>();
    private final int java;

    /** `given` is the class path; `java` the feature release of the JVM; `strict`: each element has to exist. */
    public ClassPath(String given, int java, boolean strict) throws NotScanned {
        this.java = java;
        try {
            for (String element : given.split(File.pathSeparator, -1)) {
                add(element.isEmpty() ? "." : element, strict);
            }
        } catch (NotScanned | RuntimeException refused) {
            close();
            throw refused;
        }
    }

    private void add(String element, boolean strict) throws NotScanned {
        if (element.equals("*") || element.endsWith(File.separator + "*")) {
            for (Path jar : jars(Paths.get(element.substring(0, element.length() - 1)), element, strict)) {
                open(jar);
            }
            return;
        }
        Path path = Paths.get(element);
        if (Files.exists(path)) {
            open(path);
        } else if (strict) {
            throw new NotScanned("class path: " + element + " does not exist; correct the path");
        }
    }

    private static List<Path> jars(Path folder, String element, boolean strict) throws NotScanned {
        try (Stream<Path> files = Files.list(folder.toString().isEmpty() ? Paths.get(".") : folder)) {
            return files.filter(file -> file.toString().matches("(?i).*\\.jar")).sorted().collect(Collectors.toList());
        } catch (IOException unreadable) {
            if (strict) {
                throw new NotScanned("class path: " + element + " is not a readable directory; correct the path");
            }
            return Collections.emptyList();
        }
    }

    private void open(Path path) throws NotScanned {
        if (!opened.add(path.toAbsolutePath().normalize())) {
            return;
        }
        try {
            if (Files.isDirectory(path)) {
                addFolder(path);
            } else {
                addJar(path, String.valueOf(path.getFileName()));
            }
        } catch (IOException | IllegalArgumentException broken) {
            throw new NotScanned("class path: " + path + " is not a readable jar (" + broken.getClass().getName()
                    + "); replace the file, or leave it out");
        }
    }

    private void addFolder(Path folder) throws IOException {
        Element element = new Element(String.valueOf(folder), null, folder);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
                if (name.endsWith(CLASS)) {
                    element.classes.put(name.substring(0, name.length() - CLASS.length()), name);
                }
            }
        }
        elements.add(element);
    }

    private void addJar(Path path, String label) throws IOException, NotScanned {
        ZipFile zip = new ZipFile(path.toFile());
        zips.add(zip);
        Element root = new Element(label, zip, null);
        Attributes manifest = manifest(root);
        boolean isMultiRelease = "true".equalsIgnoreCase(manifest.getValue("Multi-Release"));
        List<String> jars = new ArrayList<>();
        Map<String, Element> inside = new LinkedHashMap<>();
        Map<String, Integer> taken = new LinkedHashMap<>();
        for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements();) {
            String place = all.nextElement().getName();
            if (place.endsWith(".jar") && place.matches("(BOOT|WEB)-INF/lib(-provided)?/[^/]+")) {
                jars.add(place);
            } else if (place.endsWith(CLASS)) {
                addClass(root, inside, place, isMultiRelease ? taken : null);
            }
        }
        elements.add(root);
        elements.addAll(inside.values());
        for (String jar : inOrder(root, jars)) {
            addJar(unpack(root, jar), jar.substring(jar.lastIndexOf('/') + 1));
        }
        follow(path, manifest.getValue(Attributes.Name.CLASS_PATH));
    }

    /** Puts a class where the JVM finds it; `taken` has the release of each class of a multi-release jar. */
    private void addClass(Element root, Map<String, Element> inside, String place, Map<String, Integer> taken) {
        Element element = root;
        String name = place.substring(0, place.length() - CLASS.length());
        int release = 0;
        for (String nested : NESTED) {
            if (name.startsWith(nested + "classes/")) {
                element = inside.computeIfAbsent(nested, its -> new Element(root.label, root.zip, null));
                name = name.substring(nested.length() + "classes/".length());
            }
        }
        if (name.startsWith(VERSIONS)) {
            int slash = name.indexOf('/', VERSIONS.length());
            String number = slash < 0 ? "" : name.substring(VERSIONS.length(), slash);
            if (taken == null || !number.matches("[0-9]{1,3}") || Integer.parseInt(number) > java) {
                return;
            }
            release = Integer.parseInt(number);
            name = name.substring(slash + 1);
        }
        if (name.endsWith("module-info") || (taken != null && taken.getOrDefault(name, -1) > release)) {
            return;
        }
        if (taken != null) {
            taken.put(name, release);
        }
        element.classes.put(name, place);
    }

    private static Attributes manifest(Element root) throws IOException {
        byte[] text = root.read(JarFile.MANIFEST_NAME);
        return text == null ? new Attributes() : new Manifest(new ByteArrayInputStream(text)).getMainAttributes();
    }

    /** In the order of the index that Spring Boot's loader reads; without one in that of the jar. */
    private static List<String> inOrder(Element root, List<String> jars) throws IOException {
        byte[] index = root.read("BOOT-INF/classpath.idx");
        if (index == null) {
            return jars;
        }
        List<String> ordered = new ArrayList<>();
        for (String line : new String(index, StandardCharsets.UTF_8).split("\n")) {
            String jar = line.trim().replaceAll("^- \"(.*)\"$", "$1");
            if (jars.contains(jar)) {
                ordered.add(jar);
            }
        }
        jars.removeAll(ordered);
        ordered.addAll(jars);
        return ordered;
    }

    private Path unpack(Element root, String jar) throws IOException {
        Path file = Files.createTempFile("links-", ".jar");
        unpacked.add(file);
        try (InputStream stream = root.zip.getInputStream(root.zip.getEntry(jar))) {
            Files.copy(stream, file, StandardCopyOption.REPLACE_EXISTING);
        }
        return file;
    }

    /** The elements that a manifest names; the JVM ignores those that do not exist. */
    private void follow(Path jar, String named) throws NotScanned {
        for (String address : named == null ? new String[0] : named.trim().split("\\s+")) {
            try {
                URI absolute = jar.toAbsolutePath().toUri().resolve(address);
                if ("file".equals(absolute.getScheme()) && Files.exists(Paths.get(absolute))) {
                    open(Paths.get(absolute));
                }
            } catch (IllegalArgumentException notAnAddress) {
                continue; // ignored by the JVM too
            }
        }
    }

    /** All bytes of a stream, of which `size` are expected; 0 if their number is not known. */
    static byte[] bytes(InputStream stream, int size) throws IOException {
        byte[] whole = new byte[size];
        int read = 0;
        while (read < size) {
            int more = stream.read(whole, read, size - read);
            if (more < 0) {
                return Arrays.copyOf(whole, read);
            }
            read += more;
        }
        if (size > 0) {
            return whole;
        }
        ByteArrayOutputStream copy = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int more = stream.read(buffer); more >= 0; more = stream.read(buffer)) {
            copy.write(buffer, 0, more);
        }
        return copy.toByteArray();
    }

    @Override
    public void close() {
        try {
            for (ZipFile zip : zips) {
                zip.close();
            }
            for (Path file : unpacked) {
                Files.deleteIfExists(file);
            }
        } catch (IOException left) {
            return; // files of the system's temporary directory
        }
    }
}
