"""One SQLite file and, in it, one append-only table of revisions."""
