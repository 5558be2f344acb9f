"""Passes of the stage `tile`, one a file."""
