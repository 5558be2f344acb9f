"""Reading and building linalg: loops, indexing maps and bodies, reshapes, products, the names of sizes, and what a
source may say of itself. Modules here know nothing of kernels.
"""
