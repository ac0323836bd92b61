"""How people speak of time in English: parts of the day, clock times, days and amounts of time."""
