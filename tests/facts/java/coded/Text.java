package shop;

final class Text {
    private static final org.slf4j.Logger LOG = org.slf4j.LoggerFactory.getLogger(Text.class);

    private Text() {}

    static String cleaned(String name) {
        switch (name) {
            case "none":
                return "";
            default:
                return name.trim();
        }
    }

    static void log(String id) {
        LOG.info("order {}", id);
    }
}
