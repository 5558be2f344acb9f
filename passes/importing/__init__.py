"""Passes of the stage `import`, one a file."""
