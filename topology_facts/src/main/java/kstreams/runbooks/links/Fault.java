package kstreams.runbooks.links;

/** Why the JVM does not link a reference: a kind, the error that it throws, and a clause about what is referred to. */
final class Fault {
    final String kind;
    /** The simple name of a class of java.lang. */
    final String error;
    /** A clause such as "which Kafka 4.4.0 does not have". */
    final String clause;

    Fault(String kind, String error, String clause) {
        this.kind = kind;
        this.error = error;
        this.clause = clause;
    }
}
