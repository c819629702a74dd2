"""`python -m phaseline.engine.surfaces.cli`: the command without its script. Belongs here: nothing else."""

from phaseline.engine.surfaces.cli import main

main()
