"""Version paths for the terminal and for the documentation: the planner's answer, and the whole table of its rows."""
