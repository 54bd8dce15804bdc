package topologies;

import java.time.Duration;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;

/** Windows as they are written up to 2.8. */
public final class Windows {
    private Windows() {}

    public static TimeWindows tumbling(Duration size, Duration grace) {
        return TimeWindows.of(size).grace(grace);
    }

    public static SessionWindows sessions(Duration gap, Duration grace) {
        return SessionWindows.with(gap).grace(grace);
    }

    public static JoinWindows within(Duration difference, Duration grace) {
        return JoinWindows.of(difference).grace(grace);
    }
}
