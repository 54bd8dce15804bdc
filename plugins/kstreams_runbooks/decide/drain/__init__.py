"""Whether an application has processed everything, and what keeps it from that."""
