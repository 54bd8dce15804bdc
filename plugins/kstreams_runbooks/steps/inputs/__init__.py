"""Inputs that are held back while an application is changed."""
