package kstreams.runbooks.copier;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One topic that is copied into another one. */
final class Route {
    private static final Pattern WRITTEN =
        Pattern.compile("\\s*([A-Za-z0-9._-]+?)\\s*->\\s*([A-Za-z0-9._-]+)\\s*");

    final String from;
    final String to;

    Route(String from, String to) {
        this.from = from;
        this.to = to;
    }

    /** Routes as {@code orders-sent -> orders, customers-sent -> customers}. */
    static List<Route> parse(String text) throws Refused {
        List<Route> routes = new ArrayList<>();
        for (String written : text.split(",")) {
            Matcher names = WRITTEN.matcher(written);
            if (!names.matches()) {
                throw new Refused("routes: '" + written.trim() + "' is not FROM -> TO with the names of two topics.");
            }
            routes.add(new Route(names.group(1), names.group(2)));
        }
        requireApart(routes);
        return routes;
    }

    /** A topic that is in two routes would be mixed from two sources, or copied in a circle. */
    private static void requireApart(List<Route> routes) throws Refused {
        Set<String> names = new HashSet<>();
        for (Route route : routes) {
            for (String name : List.of(route.from, route.to)) {
                if (!names.add(name)) {
                    throw new Refused("routes: topic " + name + " is named twice; a topic is in one route, as one of"
                        + " its two topics. Remove one of both routes: two sources in one target would be mixed.");
                }
            }
        }
    }

    @Override
    public String toString() {
        return from + " -> " + to;
    }
}
