"""Elementary functions as arithmetic: formulas with Python's operators, which build operations of arith and math."""
