package topologies;

import java.time.Duration;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;

/** Windows as they are written now. */
public final class Windows {
    private Windows() {}

    public static TimeWindows tumbling(Duration size, Duration grace) {
        return TimeWindows.ofSizeAndGrace(size, grace);
    }

    public static SessionWindows sessions(Duration gap, Duration grace) {
        return SessionWindows.ofInactivityGapAndGrace(gap, grace);
    }

    public static JoinWindows within(Duration difference, Duration grace) {
        return JoinWindows.ofTimeDifferenceAndGrace(difference, grace);
    }
}
