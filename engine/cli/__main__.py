"""`python -m phaseline.engine.cli`: the command where no script of it is installed. Belongs here: nothing else."""

from phaseline.engine.cli import main

main()
