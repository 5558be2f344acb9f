"""What passes on quantised products share."""

LEAST_READS = 16
"""How often a product reads each element of either operand, at least, to be worth sums of its own: with fewer it is as
fast as memory whatever multiplies it."""
