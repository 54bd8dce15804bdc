"""One run as its steps see it: its form, its record, how a step ends, who is notified."""
