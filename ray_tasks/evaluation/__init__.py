"""Evaluation: benchmark readers, one set of metrics, scored answers and how they are shown."""
