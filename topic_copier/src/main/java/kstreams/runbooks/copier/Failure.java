package kstreams.runbooks.copier;

import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.config.ConfigException;

/** An exception as one sentence with its next action. */
final class Failure {
    private Failure() {
    }

    static Refused of(Throwable error) {
        return new Refused(sentence(error));
    }

    static String sentence(Throwable error) {
        Throwable cause = root(error);
        String message = cause.getClass().getSimpleName() + ": " + Poison.oneLine(cause.getMessage());
        return message + " " + remedy(cause);
    }

    /** The first cause that Kafka names by more than "an exception in a thread". */
    static Throwable root(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String remedy(Throwable cause) {
        if (cause instanceof TopicAuthorizationException) {
            return "Grant the copier's login Read on the sources, Read and Write on the targets, and"
                + " DescribeConfigs on both.";
        }
        if (cause instanceof GroupAuthorizationException) {
            return "Grant the copier's login Read on the group.";
        }
        if (cause instanceof TransactionalIdAuthorizationException) {
            return "Grant the copier's login Write on the transactional ids that begin with its application.id.";
        }
        if (cause instanceof AuthorizationException) {
            return "Grant the copier's login this right.";
        }
        if (cause instanceof AuthenticationException) {
            return "Correct the login in the settings.";
        }
        if (cause instanceof LogTruncationException) {
            return "The source has lost records that were read, as after an unclean election. Compare source and target,"
                + " then commit the offset at which the copy goes on (docs/copier_on_call.md).";
        }
        if (cause instanceof ConfigException) {
            return "Correct the setting.";
        }
        if (cause instanceof RetriableException || cause instanceof InterruptedException) {
            return "Start the copier again once the brokers answer.";
        }
        return "Start the copier again; it continues at its committed offsets.";
    }
}
