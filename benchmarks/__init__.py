"""Measurements as ratios in one run, against a stated peer; not part of the tests."""
