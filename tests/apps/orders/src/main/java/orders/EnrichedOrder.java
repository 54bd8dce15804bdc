package orders;

/**
 * The latest version of an order beside the latest version of its customer.
 *
 * @param seq the version of the customer that was joined
 */
record EnrichedOrder(int v, String order, String event, String customer, long amount, String region, long seq)
        implements Versioned {

    static EnrichedOrder of(Order order, Customer customer) {
        return new EnrichedOrder(
                CURRENT,
                order.order(),
                order.event(),
                order.customer(),
                order.amount(),
                customer.region(),
                customer.seq());
    }
}
