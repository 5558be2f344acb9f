"""What operations have in common that each warp multiplies with for itself: where to look, and what it costs."""
