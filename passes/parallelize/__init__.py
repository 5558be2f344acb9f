"""Passes of the stage `parallelize`, one a file."""
