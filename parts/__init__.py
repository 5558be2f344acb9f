"""What kernels are made of: a file for each part, which says what it is (traits) and which passes it needs, as data.

No bindings are loaded here: the tile model asks parts for their traits, the pipeline for their passes."""
