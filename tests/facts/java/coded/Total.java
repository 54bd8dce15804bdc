package shop;

final class Total {
    final long sum;

    Total() {
        this(0);
    }

    Total(long sum) {
        this.sum = sum;
    }

    Total plus(long amount) {
        return new Total(sum + amount);
    }

    Total merged(Total other) {
        return plus(other.sum);
    }
}
