package kstreams.runbooks.copier;

import java.math.BigDecimal;
import java.util.regex.Pattern;

/** In which order the records of different partitions are copied; each partition keeps its own order. */
final class Order {
    private static final Pattern FACTOR = Pattern.compile("\\d{1,6}(\\.\\d{1,3})?");
    private static final String AS_READ = "as-read";
    private static final String BY_TIME = "by-time";

    final String written;
    /** Milliseconds of the records' time in a millisecond; infinite without a limit. */
    final double pace;

    private Order(String written, double pace) {
        this.written = written;
        this.pace = pace;
    }

    static Order parse(String order, String pace) throws Refused {
        if (!order.equals(AS_READ) && !order.equals(BY_TIME)) {
            throw new Refused("order: '" + order + "' is not as-read or by-time.");
        }
        if (pace.isEmpty()) {
            return new Order(order, Double.POSITIVE_INFINITY);
        }
        if (!FACTOR.matcher(pace).matches() || new BigDecimal(pace).compareTo(BigDecimal.ONE) <= 0) {
            throw new Refused("pace: '" + pace
                + "' is not a number above 1 (10: ten minutes of records in one minute).");
        }
        if (order.equals(AS_READ)) {
            throw new Refused("pace is set, and order is as-read: only order=by-time has a pace. Set that, or remove pace.");
        }
        return new Order(order, Double.parseDouble(pace));
    }

    boolean isByTime() {
        return written.equals(BY_TIME);
    }

    @Override
    public String toString() {
        return Double.isInfinite(pace) ? written : written + " at most " + pace + " times as fast";
    }
}
