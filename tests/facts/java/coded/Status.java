package shop;

public enum Status {
    OPEN, PAID, SENT
}
