"""`python -m hearth`: the program, as the console script `hearth`."""

from hearth._program import main

main()
