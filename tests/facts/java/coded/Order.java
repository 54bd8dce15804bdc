package shop;

public class Order {
    public String customer;
    public long amount;
    public Status status = Status.OPEN;
    public Line line = new Line();
    private Discount discount = new Flat();

    Order with(String name) {
        Order other = new Order();
        other.customer = name;
        other.amount = amount;
        other.status = status;
        return other;
    }

    long discounted() {
        return discount.of(amount);
    }

    boolean isOpen() {
        return status == Status.OPEN;
    }

    @Override
    public String toString() {
        return customer + ":" + amount;
    }
}
