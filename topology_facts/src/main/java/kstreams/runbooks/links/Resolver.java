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
    private final Classes classes;
    private final Target target;
    private final Search search;

    Resolver(Classes classes, Target target) {
        this.classes = classes;
        this.target = target;
        this.search = new Search(classes);
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
        Search.Member member;
        try {
            member = name.equals("<init>") ? Search.declared(shape, name + type) : search.method(shape, name + type);
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
        Search.Member member;
        try {
            member = search.field(shape, name + ' ' + type);
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
            for (Shape above = search.up(shape); above != null; above = search.up(above)) {
                Search.Member member = Search.declared(above, method);
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
                Search.Member member = search.method(shape, method);
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

    private boolean isAccessible(String from, Search.Member member) {
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

    private Fault notAccessible(Search.Member member) {
        String now = member.is(Opcodes.ACC_PRIVATE) ? "private"
                : member.is(Opcodes.ACC_PROTECTED) ? "protected" : "package-private";
        return new Fault("access", "IllegalAccessError", "which is " + now + " in " + target.name);
    }

    private Fault changedStatic(Search.Member member) {
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
        for (Shape next = shape; next != null && !next.name.equals("java/lang/Object"); next = search.up(next)) {
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
