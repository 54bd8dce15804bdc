package kstreams.runbooks.code;

/** What a method or a class refers to. */
final class Ref {
    /** How: each kind leads to other code. */
    enum Kind {
        /** A call that no subclass can take: static, a constructor, super. */
        CALL,
        /** A call that an override may take. */
        VIRTUAL,
        /** The body of a lambda, or an accessor that the compiler makes: it counts where it is used. */
        INLINE,
        READ_FIELD,
        WRITE_FIELD,
        READ_STATIC,
        /** A type of objects. */
        TYPE,
        /** The type to which the code casts an object that it has got. */
        CAST,
        /** A class literal: its shape counts. */
        LITERAL
    }

    final Kind kind;
    final String owner;
    final String name;
    final String desc;

    Ref(Kind kind, String owner, String name, String desc) {
        this.kind = kind;
        this.owner = owner;
        this.name = name;
        this.desc = desc;
    }

    String key() {
        return name + desc;
    }
}
