"""Passes of the stage `tensorize`, one a file."""
