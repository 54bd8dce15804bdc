package kstreams.runbooks.copier;

import java.util.List;

/** The copier may not start, or may not go on: each sentence has the object, its figures and what to do. */
final class Refused extends Exception {
    private static final int SHOWN = 5;

    Refused(String sentence) {
        super(sentence);
    }

    /** One line of several sentences, the first five in full. */
    static Refused of(List<String> sentences) {
        String shown = String.join(" Also: ", sentences.subList(0, Math.min(SHOWN, sentences.size())));
        int more = sentences.size() - SHOWN;
        return new Refused(more > 0 ? shown + " And " + more + " more." : shown);
    }
}
