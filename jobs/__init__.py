"""What a person submits: `daybook X` is `python -m jobs.X`."""
