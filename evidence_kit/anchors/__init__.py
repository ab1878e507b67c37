"""Where it stands: receipts for quotes, their resolution in later versions, and bundles of citations."""
