"""Applications found on a cluster: their identity, a draft of their fleet file, their missing facts."""
