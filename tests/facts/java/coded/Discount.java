package shop;

abstract class Discount {
    abstract long of(long amount);
}
