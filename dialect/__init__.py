"""The `tile` dialect, and what everything that works through the MLIR bindings builds on: finding, making and copying
operations, constants, indices, sizes, affine loops, locations. What serves one purpose has a folder of its own; modules
here import none of those.
"""
