"""How good a ranking was: measures over graded judgments, and how sure a difference between two runs is."""
