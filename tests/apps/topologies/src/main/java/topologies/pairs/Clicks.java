package topologies.pairs;

import topologies.Pair;

/** The application with generated names of the upgrade guide. */
public final class Clicks {

    /** A filter is put in front of a count that has no name. */
    public Pair filterBeforeUnnamedCount() {
        return Pair.of(
                builder -> builder.stream("clicks")
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"),
                builder -> builder.stream("clicks")
                        .filter((k, v) -> isValid(v))
                        .groupByKey()
                        .count()
                        .toStream()
                        .to("total-clicks"));
    }

    private static boolean isValid(Object click) {
        return click != null;
    }
}
