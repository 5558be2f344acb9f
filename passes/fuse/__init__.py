"""Passes of the stage `fuse`, one a file."""
