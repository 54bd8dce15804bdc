package orders;

/**
 * One version of an order, as it is sent: {@code {"v":1,"event":"k3x-7","order":"o-k3x-2","customer":"c-17","amount":123,"ts":...}}.
 * The same order comes several times, always for the same customer, each time as a new event.
 *
 * @param ts event time, ms since the epoch
 */
record Order(int v, String event, String order, String customer, long amount, long ts) implements Versioned, Timed {}
