"""The drain of one application on the terminal."""
