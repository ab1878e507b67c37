"""What may be cited: sources, their versions and the text that is stored for each."""
