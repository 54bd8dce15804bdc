package kstreams.runbooks.links;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Resolves references as the JVM does and says what it refuses.
 *
 * Only what is in the target, the package that is looked for, is judged: what depends on a class outside it that the
 * class path lacks is not a fault of the target.
 *
 * Source: Java Virtual Machine Specification 5.4.3 (resolution) and 5.4.4 (access control).
 */
final class Resolver {
    /** A method or field that was found: the class that declares it and its flags. */
    private static final class Member {
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
    private final Target target;

    Resolver(Classes classes, Target target) {
        this.classes = classes;
        this.target = target;
    }

    /** A class that another one refers to; null if the JVM links it. */
    Fault type(String from, String name) {
        if (!target.has(name)) {
            return null;
        }
        Shape shape = classes.of(name);
        if (shape == null) {
            return new Fault("class", "NoClassDefFoundError", target.lacks(name));
        }
        if (!shape.is(Opcodes.ACC_PUBLIC) && !shape.inPackage().equals(Shape.packageOf(from))) {
            return new Fault("access", "IllegalAccessError", "which is not public in " + target.name);
        }
        return null;
    }

    /** A class of which an object is made. */
    Fault made(String from, String name) {
        Fault fault = type(from, name);
        if (fault == null && target.has(name) && !classes.of(name).isConcrete()) {
            String now = classes.of(name).isInterface() ? "an interface" : "abstract";
            return new Fault("abstract", "InstantiationError", "which is " + now + " in " + target.name);
        }
        return fault;
    }

    /** A method that code calls or a handle names. `isInterface`: the reference takes its owner for an interface. */
    Fault method(String from, Use use, String owner, String name, String type, boolean isInterface) {
        Fault fault = type(from, owner);
        Shape shape = fault == null ? classes.of(owner) : null;
        if (shape == null) {
            return fault;
        }
        if (shape.isInterface() != isInterface) {
            return target.has(owner) ? kind(shape) : null;
        }
        Member member;
        try {
            member = name.equals("<init>") ? declared(shape, name + type) : method(shape, name + type);
        } catch (ClassNotFoundException unknown) {
            return null;
        }
        if (member == null) {
            return new Fault("method", "NoSuchMethodError", target.lacks(otherMethods(shape, name, owner)));
        }
        if (!target.has(member.owner.name)) {
            return null;
        }
        if (member.is(Opcodes.ACC_STATIC) != (use == Use.CALLS_STATIC)) {
            return changedStatic(member);
        }
        if (!isAccessible(from, member)) {
            return notAccessible(member);
        }
        if (use == Use.CALLS_SPECIAL && member.is(Opcodes.ACC_ABSTRACT)) {
            return new Fault("abstract", "AbstractMethodError", "which is abstract in " + target.name);
        }
        return null;
    }

    /** A field that code reads or writes. */
    Fault field(String from, Use use, String owner, String name, String type) {
        Fault fault = type(from, owner);
        Shape shape = fault == null ? classes.of(owner) : null;
        if (shape == null) {
            return fault;
        }
        Member member;
        try {
            member = field(shape, name + ' ' + type);
        } catch (ClassNotFoundException unknown) {
            return null;
        }
        if (member == null) {
            return new Fault("field", "NoSuchFieldError", target.lacks(otherFields(shape, name)));
        }
        if (!target.has(member.owner.name)) {
            return null;
        }
        if (member.is(Opcodes.ACC_STATIC) != (use == Use.READS_STATIC || use == Use.WRITES_STATIC)) {
            return changedStatic(member);
        }
        if (!isAccessible(from, member)) {
            return notAccessible(member);
        }
        boolean isWritten = use == Use.WRITES || use == Use.WRITES_STATIC;
        if (isWritten && member.is(Opcodes.ACC_FINAL) && !member.owner.name.equals(from)) {
            return new Fault("final", "IllegalAccessError", "which is final in " + target.name);
        }
        return null;
    }

    /** The class above another one. */
    Fault above(String from, String name) {
        Fault fault = type(from, name);
        if (fault != null || !target.has(name)) {
            return fault;
        }
        Shape shape = classes.of(name);
        if (shape.isInterface()) {
            return kind(shape);
        }
        if (shape.is(Opcodes.ACC_FINAL)) {
            return new Fault("final", "IncompatibleClassChangeError", "which is final in " + target.name);
        }
        return sealed(from, shape);
    }

    /** An interface of a class. */
    Fault face(String from, String name) {
        Fault fault = type(from, name);
        if (fault != null || !target.has(name)) {
            return fault;
        }
        Shape shape = classes.of(name);
        return shape.isInterface() ? sealed(from, shape) : kind(shape);
    }

    /** The final methods of the target that a class overrides, with the reason. */
    Map<String, Fault> overridden(Shape shape) {
        Map<String, Fault> faults = new LinkedHashMap<>();
        shape.methods.forEach((method, access) -> {
            if ((access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) != 0 || method.startsWith("<")) {
                return;
            }
            for (Shape above = up(shape); above != null; above = up(above)) {
                Member member = declared(above, method);
                if (member != null && target.has(above.name) && member.is(Opcodes.ACC_FINAL)
                        && !member.is(Opcodes.ACC_STATIC) && isAccessible(shape.name, member)) {
                    faults.put(Names.member(above.name, method), new Fault("final", "IncompatibleClassChangeError",
                            "which is final in " + target.name));
                    return;
                }
            }
        });
        return faults;
    }

    /** The abstract methods of the target that a class does not implement, with the class that has each. */
    Map<String, Shape> unimplemented(Shape shape) {
        Map<String, Shape> lacking = abstractMethods(shape);
        try {
            for (String method : new ArrayList<>(lacking.keySet())) {
                Member member = method(shape, method);
                if (isOfObject(method) || (member != null && !member.is(Opcodes.ACC_ABSTRACT))) {
                    lacking.remove(method);
                }
            }
        } catch (ClassNotFoundException unknown) {
            lacking.clear();
        }
        return lacking;
    }

    /** Why a class fails that does not implement a method. */
    Fault notImplemented() {
        return new Fault("not-implemented", "AbstractMethodError", "which " + target.name + " has");
    }

    private Map<String, Shape> abstractMethods(Shape shape) {
        Map<String, Shape> methods = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>();
        open.add(shape.name);
        TreeSet<String> seen = new TreeSet<>();
        while (!open.isEmpty()) {
            String name = open.remove();
            Shape next = seen.add(name) ? classes.of(name) : null;
            if (next == null) {
                continue;
            }
            if (next.superName != null) {
                open.add(next.superName);
            }
            Collections.addAll(open, next.interfaces);
            if (target.has(name)) {
                next.methods.forEach((method, access) -> {
                    if ((access & Opcodes.ACC_ABSTRACT) != 0) {
                        methods.putIfAbsent(method, next);
                    }
                });
            }
        }
        return methods;
    }

    /** Whether java.lang.Object has a public method: then each object implements it. */
    private boolean isOfObject(String method) {
        return (classes.of("java/lang/Object").methods.getOrDefault(method, 0) & Opcodes.ACC_PUBLIC) != 0;
    }

    private Shape up(Shape shape) {
        return shape.superName == null ? null : classes.of(shape.superName);
    }

    private static Member declared(Shape shape, String key) {
        Integer access = shape.methods.get(key);
        return access == null ? null : new Member(shape, access);
    }

    /** The method that the JVM finds by its name and descriptor, in the order of its search; null if there is none. */
    private Member method(Shape owner, String key) throws ClassNotFoundException {
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

    private Member field(Shape owner, String key) throws ClassNotFoundException {
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

    private boolean isAccessible(String from, Member member) {
        if (member.is(Opcodes.ACC_PUBLIC)) {
            return true;
        }
        if (member.is(Opcodes.ACC_PRIVATE)) {
            Shape own = classes.of(from);
            return from.equals(member.owner.name) || (own != null && own.nest.equals(member.owner.nest));
        }
        boolean isOfPackage = member.owner.inPackage().equals(Shape.packageOf(from));
        return isOfPackage || (member.is(Opcodes.ACC_PROTECTED) && classes.isBelow(from, member.owner.name));
    }

    private Fault notAccessible(Member member) {
        String now = member.is(Opcodes.ACC_PRIVATE) ? "private"
                : member.is(Opcodes.ACC_PROTECTED) ? "protected" : "package-private";
        return new Fault("access", "IllegalAccessError", "which is " + now + " in " + target.name);
    }

    private Fault changedStatic(Member member) {
        String now = member.is(Opcodes.ACC_STATIC) ? "static" : "not static";
        return new Fault("static", "IncompatibleClassChangeError", "which is " + now + " in " + target.name);
    }

    private Fault kind(Shape shape) {
        String now = shape.isInterface() ? "an interface" : "a class";
        return new Fault("kind", "IncompatibleClassChangeError",
                "whose owner is " + now + " in " + target.name);
    }

    private Fault sealed(String from, Shape shape) {
        return shape.permitted == null || shape.permitted.contains(from) ? null
                : new Fault("final", "IncompatibleClassChangeError", "which is sealed in " + target.name);
    }

    /** The methods of the same name, as a clause after what the target lacks; the name of a class has none. */
    private Lacking otherMethods(Shape shape, String name, String owner) {
        TreeSet<String> others = new TreeSet<>();
        for (Shape next = shape; next != null && !next.name.equals("java/lang/Object"); next = up(next)) {
            for (Map.Entry<String, Integer> method : next.methods.entrySet()) {
                if (method.getKey().startsWith(name + "(") && (method.getValue() & Opcodes.ACC_SYNTHETIC) == 0) {
                    others.add(Names.signature(method.getKey())
                            + (name.equals("<init>") ? "" : ": " + Names.simple(
                                    Type.getReturnType(method.getKey().substring(name.length())).getClassName())));
                }
            }
            if (name.equals("<init>")) {
                break;
            }
        }
        return new Lacking(owner, others);
    }

    private Lacking otherFields(Shape shape, String name) {
        TreeSet<String> others = new TreeSet<>();
        for (String field : shape.fields.keySet()) {
            if (field.startsWith(name + " ")) {
                others.add(name + ": " + Names.simple(Type.getType(field.substring(name.length() + 1)).getClassName()));
            }
        }
        return new Lacking(shape.name, others);
    }

    /** A member that a class of the target lacks, and those of the same name that it has. */
    static final class Lacking {
        final String owner;
        final TreeSet<String> others;

        Lacking(String owner, TreeSet<String> others) {
            this.owner = owner;
            this.others = others;
        }
    }
}
