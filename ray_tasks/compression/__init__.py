"""Imprint: online compression of interaction records into recurring memories."""
