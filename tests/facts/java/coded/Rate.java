package shop;

final class Rate {
    private final int factor;
    private final String name;

    Rate(int factor, String name) {
        this.factor = factor;
        this.name = name;
    }

    String applied(String text) {
        return text + factor + name;
    }
}
