"""The demo's environment and traffic; only the command line and the tests import it."""
