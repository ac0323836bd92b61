"""Learning the weights of retrieval and of answers from question files, with cross-validated figures."""
