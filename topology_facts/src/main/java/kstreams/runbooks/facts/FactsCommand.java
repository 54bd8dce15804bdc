package kstreams.runbooks.facts;
final class FactsCommand { public static void main(String[] a) {} }
