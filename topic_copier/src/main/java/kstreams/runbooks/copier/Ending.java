package kstreams.runbooks.copier;

import java.util.concurrent.CountDownLatch;

/** Why a copier ends: the first reason counts. */
final class Ending {
    private final CountDownLatch begun = new CountDownLatch(1);
    private String sentence;
    private boolean failed;

    /** As it was meant to. */
    void done(String sentence) {
        begin(sentence, false);
    }

    void failed(String sentence) {
        begin(sentence, true);
    }

    private synchronized void begin(String sentence, boolean failed) {
        if (!hasBegun()) {
            this.sentence = sentence;
            this.failed = failed;
            begun.countDown();
        }
    }

    boolean hasBegun() {
        return begun.getCount() == 0;
    }

    void await() throws InterruptedException {
        begun.await();
    }

    synchronized boolean hasFailed() {
        return failed;
    }

    synchronized String sentence() {
        return sentence;
    }
}
