"""Graded evaluation on your own material: records, runs, baselines, and what is kept of them."""
