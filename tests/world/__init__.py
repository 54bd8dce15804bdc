"""Values and files for the tests of several rooms."""
