"""The evidence finder: where the words of a question stand in sources, not what they prove."""
