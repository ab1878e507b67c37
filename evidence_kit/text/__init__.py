"""What a position in a text means: units, analyzers that keep offsets, and cuts into passages."""
