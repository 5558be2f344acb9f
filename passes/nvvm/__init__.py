"""Passes of the stage `nvvm`, one a file."""
