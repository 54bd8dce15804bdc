"""The lag of applications and groups on the terminal."""
