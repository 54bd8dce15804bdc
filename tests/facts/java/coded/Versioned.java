package shop;

public class Versioned {
    public int version = 1;
}
