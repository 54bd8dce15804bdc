package shop;

public class Line {
    public String article;
    public int pieces;
}
