package shop;

public class Line extends Versioned {
    public String article;
    public int pieces;
}
