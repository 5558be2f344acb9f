"""Passes of the stage `describe`, one a file."""
