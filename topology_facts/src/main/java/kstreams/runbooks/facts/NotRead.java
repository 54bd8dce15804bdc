package kstreams.runbooks.facts;

/** A fact that the code does not show; the message is the reason, in one sentence. */
final class NotRead extends Exception {
    private static final long serialVersionUID = 1L;

    NotRead(String reason) {
        super(reason, null, false, false);
    }
}
