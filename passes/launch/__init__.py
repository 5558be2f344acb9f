"""Passes of the stage `launch`, one a file."""
