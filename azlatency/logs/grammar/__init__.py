"""What parsers are written with: rules for lines, JSON with positions, units, and columns of samples."""
