"""What charts are drawn with: figures, axes, marks, colours, names."""
