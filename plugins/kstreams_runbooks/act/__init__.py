"""Writes: the only modules, with deployers, that change a cluster, a deployment or a disk."""
