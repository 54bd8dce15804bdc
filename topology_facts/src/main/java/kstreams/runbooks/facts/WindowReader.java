package kstreams.runbooks.facts;

/** Reads the window of an aggregation or of a stream-stream join. */
final class WindowReader {
    private static final long DEFAULT_GRACE_MS = 86_400_000;
    private final Library library;

    WindowReader(Library library) {
        this.library = library;
    }

    /** The window, and when its results are emitted; {@code operator} is null for a join. */
    void read(Facts store, Object windows, Object operator) {
        Facts window = store.at("window");
        switch (library.known(windows)) {
            case "streams.kstream.TimeWindows":
                window.read("kind", () -> isTumbling(windows) ? "tumbling" : "hopping");
                window.read("size_ms", () -> Peek.number(windows, "sizeMs"));
                window.read("advance_ms", () -> isTumbling(windows) ? null : Peek.number(windows, "advanceMs"));
                break;
            case "streams.kstream.SessionWindows":
                window.read("kind", () -> "session");
                window.read("size_ms", () -> Peek.number(windows, "gapMs"));
                break;
            case "streams.kstream.SlidingWindows":
                window.read("kind", () -> "sliding");
                window.read("size_ms", () -> Peek.number(windows, "timeDifferenceMs"));
                break;
            case "streams.kstream.JoinWindows":
                window.read("kind", () -> "join");
                window.read("size_ms", () ->
                        difference(Peek.number(windows, "beforeMs"), Peek.number(windows, "afterMs")));
                window.read("before_ms", () -> Peek.number(windows, "beforeMs"));
                window.read("after_ms", () -> Peek.number(windows, "afterMs"));
                break;
            default:
                window.notRead("kind", "class " + Peek.nameOf(windows)
                        + " of the window is not known (TimeWindows, SessionWindows, SlidingWindows and JoinWindows "
                        + "are); declare the window manually");
                return;
        }
        window.read("grace_ms", () -> Peek.call(windows, "gracePeriodMs"));
        window.read("grace_given", () -> graceGiven(windows));
        if (operator != null) {
            window.read("emit", () -> emit(operator));
        }
    }

    private static boolean isTumbling(Object windows) throws NotRead {
        return Peek.number(windows, "sizeMs") == Peek.number(windows, "advanceMs");
    }

    /** The one difference that a declaration has, in ms; NotRead if a join looks further back than ahead. */
    static long difference(long before, long after) throws NotRead {
        if (before != after) {
            throw new NotRead("the join looks " + before + " ms back and " + after
                    + " ms ahead, and a declaration has one difference; declare the window manually");
        }
        return before;
    }

    /** Each family of releases marks in another way that the program leaves the grace to the default. */
    private boolean graceGiven(Object windows) throws NotRead {
        if (Peek.has(windows, "maintainDurationMs")) {
            return Peek.number(windows, "graceMs") != -1;
        }
        boolean everyFactoryTakesOne = library.isAtLeast(4, 0) || library.known(windows).endsWith("SlidingWindows");
        if (everyFactoryTakesOne
                || isFlagged(windows, "hasSetGrace")
                || isFlagged(windows, "enableSpuriousResultFix")) {
            return true;
        }
        // A flag that is not set proves nothing of a hopping window: advanceBy forgets it.
        boolean isProof = Peek.has(windows, "hasSetGrace") && !(Peek.has(windows, "advanceMs") && !isTumbling(windows));
        long size = Peek.has(windows, "gapMs") ? Peek.number(windows, "gapMs") : (Long) Peek.call(windows, "size");
        long grace = Peek.number(windows, "graceMs");
        return !(isProof && isDefault(grace, size)) && isNotDefault(grace, size);
    }

    private static boolean isFlagged(Object windows, String flag) throws NotRead {
        return Peek.has(windows, flag) && Peek.flag(windows, flag);
    }

    private static boolean isDefault(long grace, long size) {
        return grace == DEFAULT_GRACE_MS || grace == Math.max(DEFAULT_GRACE_MS - size, 0);
    }

    /** True for a grace that no release has as its default; NotRead for one that may be given or the default. */
    static boolean isNotDefault(long grace, long size) throws NotRead {
        if (isDefault(grace, size)) {
            throw new NotRead("the grace of " + grace + " ms may be given or the default of this release; declare it");
        }
        return true;
    }

    /** The strategy of KIP-825; before release 3.3 there is only one. */
    String emit(Object operator) throws NotRead {
        if (!Peek.has(operator, "emitStrategy") && library.isBefore(3, 3)) {
            return "on_window_update";
        }
        String strategy = String.valueOf(Peek.call(Peek.field(operator, "emitStrategy"), "type"));
        switch (strategy) {
            case "ON_WINDOW_CLOSE":
                return "on_window_close";
            case "ON_WINDOW_UPDATE":
                return "on_window_update";
            default:
                throw new NotRead("emit strategy " + strategy + " is not known; declare it manually");
        }
    }
}
