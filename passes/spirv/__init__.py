"""Passes of the stage `spirv`, one a file."""
