"""How kernels follow each other in a stream."""
