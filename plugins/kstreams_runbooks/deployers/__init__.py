"""Deployers: read, set, stop and start an instance, behind one small protocol."""

from kstreams_runbooks.deployers.factory import make_deployer
from kstreams_runbooks.deployers.protocol import Deployer

__all__ = ["Deployer", "make_deployer"]
