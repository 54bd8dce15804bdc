package orders;

/** A record that says itself when it happened. */
interface Timed {
    /** Event time, ms since the epoch. */
    long ts();
}
