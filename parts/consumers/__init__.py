"""How the warpgroups that multiply share the tiles of a block."""
