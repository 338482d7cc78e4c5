"""`python -m sabath ARGUMENT...`: the program `sabath`, in the place of this process."""

import os
import sys

from . import errors, program

try:
    FILE = program.find()
except errors.SabathError as error:
    sys.exit(f"sabath: {error}")
os.execv(FILE, [FILE, *sys.argv[1:]])
