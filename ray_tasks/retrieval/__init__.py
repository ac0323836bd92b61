"""Methods that answer a question from a memory; one interface, many methods."""
