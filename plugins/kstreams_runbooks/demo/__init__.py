"""The demo's environment and traffic; nothing but the command line and the tests imports it."""
