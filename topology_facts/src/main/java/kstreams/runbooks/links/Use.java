package kstreams.runbooks.links;

/** How a class refers to something, and what becomes of it if the JVM does not link that. */
enum Use {
    EXTENDS("extends", When.LOADED),
    IMPLEMENTS("implements", When.LOADED),
    OVERRIDES("overrides", When.LOADED),
    CATCHES("catches", When.LOADED),
    LACKS("does not implement", When.CALLED),
    MAKES("creates", When.RUN),
    NAMES("uses", When.RUN),
    CALLS("calls", When.RUN),
    CALLS_STATIC("calls", When.RUN),
    CALLS_SPECIAL("calls", When.RUN),
    READS("reads", When.RUN),
    READS_STATIC("reads", When.RUN),
    WRITES("writes", When.RUN),
    WRITES_STATIC("writes", When.RUN),
    DECLARES("names in a signature", When.LISTED);

    /** The moment of the error, as the end of a sentence. */
    enum When {
        LOADED("dies when first used"),
        RUN("dies when first used"),
        CALLED("dies when it is called"),
        LISTED("dies if its methods are listed or verified");

        final String sentence;

        When(String sentence) {
            this.sentence = sentence;
        }
    }

    final String verb;
    final When when;

    Use(String verb, When when) {
        this.verb = verb;
        this.when = when;
    }
}
