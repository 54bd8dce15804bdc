package kstreams.runbooks.links;

/** One reference that the JVM does not link. */
public final class Finding {
    /** The class that has it, and the jar or directory that this class is from. */
    public final String from;
    public final String jar;
    /** The method that has it, such as configure(Map, boolean); empty for a supertype, a signature, a whole class. */
    public final String inMethod;
    /** What is referred to: a class, or a member with its class. */
    public final String to;
    /** class, method, field, access, static, kind, final, abstract or not-implemented. */
    public final String kind;
    /** The simple name of the error of java.lang. */
    public final String error;
    /** Whether the method goes on after the error. */
    public final boolean isHandled;
    final String clause;
    final Use use;

    Finding(String from, String jar, References.Reference reference, String to, Fault fault, boolean isHandled) {
        this.from = Names.plain(from);
        this.jar = jar;
        this.inMethod = reference.inMethod;
        this.to = to;
        this.kind = fault.kind;
        this.error = fault.error;
        this.clause = fault.clause;
        this.isHandled = isHandled;
        this.use = reference.use;
    }

    /** How it is referred to: calls, reads, creates, extends. */
    public String use() {
        return use.verb;
    }

    /** One sentence: who refers to what, what the class path has instead, and what becomes of it. */
    public String sentence() {
        String end = isHandled ? "handles the " + error : use.when.sentence;
        return Names.simple(from) + " (" + jar + ") " + clause() + ": " + end;
    }

    /** The sentence without who and what becomes of it. */
    String clause() {
        return use.verb + " " + to + ", " + clause;
    }

    /** The same reference in another method is the same finding. */
    String key() {
        return from + ' ' + to + ' ' + kind;
    }
}
