"""The internal topics that a topology gets, before its application starts."""
