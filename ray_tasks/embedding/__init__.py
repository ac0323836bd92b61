"""Texts to unit vectors."""
