"""Applications found on a cluster: who they are, a draft of their fleet file, what they lack."""
