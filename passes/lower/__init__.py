"""Passes of the stage `lower`, one a file."""
