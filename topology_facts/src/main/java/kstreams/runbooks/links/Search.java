package kstreams.runbooks.links;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.objectweb.asm.Opcodes;

/**
 * Finds the method or the field that a name and a descriptor mean in a class, in the order of the JVM.
 *
 * ClassNotFoundException if a supertype is neither on the class path nor in the JDK: then nothing is known.
 *
 * Source: Java Virtual Machine Specification 5.4.3.2 to 5.4.3.4.
 */
final class Search {
    /** A method or field that was found: the class that declares it and its flags. */
    static final class Member {
        final Shape owner;
        final int access;

        Member(Shape owner, int access) {
            this.owner = owner;
            this.access = access;
        }

        boolean is(int flag) {
            return (access & flag) != 0;
        }
    }

    private final Classes classes;

    Search(Classes classes) {
        this.classes = classes;
    }

    /** The class above another one; null if there is none, or it is not known. */
    Shape up(Shape shape) {
        return shape.superName == null ? null : classes.of(shape.superName);
    }

    /** The method that a class itself declares; null if it declares none. */
    static Member declared(Shape shape, String key) {
        Integer access = shape.methods.get(key);
        return access == null ? null : new Member(shape, access);
    }

    /** The method that the JVM finds by its name and descriptor, in the order of its search; null if there is none. */
    Member method(Shape owner, String key) throws ClassNotFoundException {
        boolean isUnknown = false;
        for (Shape shape = owner; shape != null;) {
            Member member = declared(shape, key);
            if (member != null) {
                return member;
            }
            Shape above = up(shape);
            isUnknown |= above == null && shape.superName != null;
            shape = shape.isInterface() && above != null && !isPublicInstance(above, key) ? null : above;
        }
        Member member = ofInterfaces(owner, key);
        if (member == null && isUnknown) {
            throw new ClassNotFoundException(owner.name);
        }
        return member;
    }

    /** An interface has java.lang.Object above it, of which only the public methods of objects count. */
    private static boolean isPublicInstance(Shape object, String key) {
        int access = object.methods.getOrDefault(key, 0);
        return (access & Opcodes.ACC_PUBLIC) != 0 && (access & Opcodes.ACC_STATIC) == 0;
    }

    /** The most specific method of all interfaces; one with code before an abstract one. */
    private Member ofInterfaces(Shape owner, String key) throws ClassNotFoundException {
        Map<String, Member> candidates = new LinkedHashMap<>();
        boolean isUnknown = false;
        Deque<String> open = new ArrayDeque<>();
        TreeSet<String> seen = new TreeSet<>();
        for (Shape shape = owner; shape != null; shape = up(shape)) {
            Collections.addAll(open, shape.interfaces);
        }
        while (!open.isEmpty()) {
            String name = open.remove();
            if (!seen.add(name)) {
                continue;
            }
            Shape face = classes.of(name);
            if (face == null) {
                isUnknown = true;
                continue;
            }
            Collections.addAll(open, face.interfaces);
            Integer access = face.methods.get(key);
            if (access != null && (access & (Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC)) == 0) {
                candidates.put(name, new Member(face, access));
            }
        }
        candidates.values().removeIf(member -> candidates.values().stream()
                .anyMatch(other -> other != member && isFaceBelow(other.owner, member.owner.name)));
        for (Member member : candidates.values()) {
            if (!member.is(Opcodes.ACC_ABSTRACT)) {
                return member;
            }
        }
        if (isUnknown) {
            throw new ClassNotFoundException(owner.name);
        }
        return candidates.isEmpty() ? null : candidates.values().iterator().next();
    }

    private boolean isFaceBelow(Shape face, String other) {
        for (String above : face == null ? new String[0] : face.interfaces) {
            if (above.equals(other) || isFaceBelow(classes.of(above), other)) {
                return true;
            }
        }
        return false;
    }

    /** The field that the JVM finds; null if there is none. */
    Member field(Shape owner, String key) throws ClassNotFoundException {
        Integer access = owner.fields.get(key);
        if (access != null) {
            return new Member(owner, access);
        }
        boolean isUnknown = false;
        for (String face : owner.interfaces) {
            Shape shape = classes.of(face);
            Member member = shape == null ? null : field(shape, key);
            isUnknown |= shape == null;
            if (member != null) {
                return member;
            }
        }
        if (owner.superName != null) {
            Shape above = up(owner);
            Member member = above == null ? null : field(above, key);
            isUnknown |= above == null;
            if (member != null) {
                return member;
            }
        }
        if (isUnknown) {
            throw new ClassNotFoundException(owner.name);
        }
        return null;
    }
}
