package orders;

/**
 * One version of a customer.
 *
 * @param seq grows with each version
 * @param ts event time, ms since the epoch
 */
record Customer(int v, String customer, String region, long seq, long ts) implements Versioned, Timed {}
