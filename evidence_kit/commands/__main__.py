"""`python -m evidence_kit.commands`: the `evidence` command where no script is installed."""

import sys

from evidence_kit.commands import main

sys.exit(main())
