"""Instances under supervisord, over its XML-RPC."""
