"""The passes of the stage `select`: each asks the tile model for one decision, and writes it into the IR."""
