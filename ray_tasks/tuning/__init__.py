"""Learning the weights of retrieval from questions whose evidence is known: pure logic, run by `daybook tune`."""
