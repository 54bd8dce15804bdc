package orders;

/**
 * How many records of a customer were counted so far.
 *
 * @param seq of the record counted last: each names its record, so that a lost or repeated one is known
 */
record CountedCustomer(int v, String customer, long count, long seq) implements Versioned {

    static CountedCustomer none() {
        return new CountedCustomer(CURRENT, null, 0, 0);
    }

    CountedCustomer plus(Customer update) {
        return new CountedCustomer(CURRENT, update.customer(), count + 1, update.seq());
    }
}
