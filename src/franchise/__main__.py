"""``python -m franchise``: the command line."""

from franchise.cli import main

main(prog_name="franchise")
