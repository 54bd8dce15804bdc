"""Values and files that tests of several rooms begin from."""
