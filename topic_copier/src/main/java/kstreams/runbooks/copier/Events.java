package kstreams.runbooks.copier;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** One line on standard output for each event; warnings of the Kafka clients are on standard error. */
final class Events {
    private static String subject = "topic-copier";
    private static boolean ended;

    private Events() {
    }

    static synchronized void about(String group) {
        subject = "topic-copier " + group;
    }

    /** The line that says why the copier has ended: none comes after it. */
    static synchronized void sayLast(String event) {
        say(event);
        ended = true;
    }

    static synchronized void say(String event) {
        if (ended) {
            return;
        }
        System.out.println(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + subject + ": "
            + event.replaceAll("\\s*[\\r\\n]+\\s*", " "));
        System.out.flush();
    }
}
