"""The deployer's part of a fleet file, one module for each kind."""
