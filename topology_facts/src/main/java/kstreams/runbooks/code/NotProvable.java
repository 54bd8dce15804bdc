package kstreams.runbooks.code;

/** Why the code behind an object cannot be compared, as one sentence. Not provable is never equal. */
public final class NotProvable extends Exception {
    private static final long serialVersionUID = 1;

    /** {@code reason} names the class or method, and what hides the rest of its code. */
    public NotProvable(String reason) {
        super(reason);
    }
}
