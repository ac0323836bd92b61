"""Captions to atoms: EgoScheme's four views, by rules or by a language model."""
