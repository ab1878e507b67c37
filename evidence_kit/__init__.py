"""The kit: receipts, exact retrieval and graded evaluation for a team's own documents."""
