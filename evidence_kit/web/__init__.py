"""The workbench: the kit's evidence in a browser, and a small JSON interface beside it."""
