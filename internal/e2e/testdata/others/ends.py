"""A program where a module was expected: it ends the process that imports it."""

import sys

sys.exit(7)
