package orders;

/** A setting that the application cannot start with; the message is one sentence for the person who wrote it. */
final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SettingsException(String message) {
        super(message);
    }
}
