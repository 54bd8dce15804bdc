"""The commands about topologies and changes."""
