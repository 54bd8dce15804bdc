package shop;

class Flat extends Discount {
    @Override
    long of(long amount) {
        return amount - Cents.round(1);
    }
}
