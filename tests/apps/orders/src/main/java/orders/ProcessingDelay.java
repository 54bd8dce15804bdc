package orders;

import org.apache.kafka.common.errors.InterruptException;

/** TEST ONLY: a pause per order ({@code processing.delay.ms}), so that lag builds up behind an instance that runs. */
record ProcessingDelay(long millis) {

    void await() {
        if (millis > 0) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new InterruptException(e);
            }
        }
    }
}
