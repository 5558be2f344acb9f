"""Passes of the stage `promote`, one a file."""
