package orders;

/** How many distinct orders a customer has. */
record CustomerCount(int v, String customer, long count) implements Versioned {

    static CustomerCount of(String customer, long count) {
        return new CustomerCount(CURRENT, customer, count);
    }
}
