package kstreams.runbooks.links;

import java.io.IOException;
import java.io.InputStream;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** The class that the JVM loads for each name: the first of the class path, or the JDK's own. */
final class Classes {
    private static final ClassLoader JDK = ClassLoader.getSystemClassLoader().getParent();
    /** The element that the JVM takes each class from, by the internal name of the class. */
    final Map<String, ClassPath.Element> places = new LinkedHashMap<>();
    private final Map<String, Shape> shapes = new HashMap<>();

    Classes(Collection<ClassPath.Element> elements) {
        for (ClassPath.Element element : elements) {
            for (String name : element.classes.keySet()) {
                places.putIfAbsent(name, element);
            }
        }
    }

    /** The shape of a class; null if neither the class path nor the JDK of this JVM has it, or it is not readable. */
    Shape of(String name) {
        if (shapes.containsKey(name)) {
            return shapes.get(name);
        }
        Shape shape = null;
        try {
            byte[] file = file(name);
            shape = file == null ? null : Shape.of(file);
        } catch (IOException | IllegalArgumentException unreadable) {
            shape = null; // what depends on it is not known
        }
        shapes.put(name, shape);
        return shape;
    }

    /** The class file that the JVM loads; null if there is none. The JDK's own classes come first, as for the JVM. */
    byte[] file(String name) throws IOException {
        ClassPath.Element element = places.get(name);
        if (element != null && !name.startsWith("java/")) {
            return element.read(element.classes.get(name));
        }
        if (JDK == null) {
            return null;
        }
        try (InputStream stream = JDK.getResourceAsStream(name + ".class")) {
            return stream == null ? null : ClassPath.bytes(stream, 0);
        }
    }

    /** Whether a class is another one or below it. */
    boolean isBelow(String name, String other) {
        for (Shape shape = of(name); shape != null; shape = shape.superName == null ? null : of(shape.superName)) {
            if (shape.name.equals(other)) {
                return true;
            }
        }
        return false;
    }
}
