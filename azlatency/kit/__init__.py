"""How any page writes a table and a sentence from a frame."""
