"""Passes of the stage `rocdl`, one a file."""
