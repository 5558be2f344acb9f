"""Passes of the stage `distribute`, one a file."""
