"""One application: its instances, metrics, topologies and drain."""
