"""Passes of the stage `select`, one a file."""
