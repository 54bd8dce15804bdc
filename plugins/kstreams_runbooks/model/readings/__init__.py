"""What was read of a cluster and its applications: values, or Missing with the reason."""
