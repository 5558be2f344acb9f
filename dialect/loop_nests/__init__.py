"""Loops of a source that read and write memory: reading them, in which order they may run, and linalg made of them."""
