package kstreams.runbooks.links;

/** A class path that cannot be scanned; the message is one sentence: object, observed, limit, next action. */
public final class NotScanned extends Exception {
    private static final long serialVersionUID = 1L;

    NotScanned(String sentence) {
        super(sentence, null, false, false);
    }
}
