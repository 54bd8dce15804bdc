package shop;

class Percent extends Discount {
    private final int percent;

    Percent(int percent) {
        this.percent = percent;
    }

    @Override
    long of(long amount) {
        return amount * (100 - percent) / 100;
    }
}
