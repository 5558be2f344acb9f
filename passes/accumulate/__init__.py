"""Passes of the stage `accumulate`, one a file."""
