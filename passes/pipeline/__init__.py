"""Passes of the stage `pipeline`, one a file."""
