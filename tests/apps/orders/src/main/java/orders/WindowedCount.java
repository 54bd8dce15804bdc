package orders;

import org.apache.kafka.streams.kstream.Windowed;

/**
 * How many events of a customer fell into one window.
 *
 * @param start first ms of the window
 * @param end first ms after it
 */
record WindowedCount(int v, String customer, long start, long end, long count) implements Versioned {

    static WindowedCount of(Windowed<String> window, long count) {
        return new WindowedCount(
                CURRENT, window.key(), window.window().start(), window.window().end(), count);
    }

    /** The key it is written under: {@code c-17@1700000000000}. */
    String key() {
        return customer + "@" + start;
    }
}
