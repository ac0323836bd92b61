"""Recordings to captions: week time, readers for released layouts, fusion of observations."""
