"""EgoIndex: searchable views of one wearer's memory, exact and causal."""
