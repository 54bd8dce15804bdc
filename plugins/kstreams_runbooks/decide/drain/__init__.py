"""Whether an application has processed every record, and why not."""
