"""Whether one topic equals another: a copy, a side of blue/green, an output after a change."""
