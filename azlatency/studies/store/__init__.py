"""The tables of an imported study, and the folder or store that contains them."""
