"""`python -m elegans` is the command line."""

import sys

from elegans.cli import main

sys.exit(main())
