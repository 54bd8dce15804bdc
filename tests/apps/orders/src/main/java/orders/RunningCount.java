package orders;

/**
 * How many events of a customer were counted so far and what they sum up to.
 *
 * @param event the event counted last
 * @param amount its amount
 */
record RunningCount(int v, String customer, long count, long sum, String event, long amount) implements Versioned {

    static RunningCount none() {
        return new RunningCount(CURRENT, null, 0, 0, null, 0);
    }

    RunningCount plus(Order order) {
        return new RunningCount(
                CURRENT, order.customer(), count + 1, sum + order.amount(), order.event(), order.amount());
    }
}
