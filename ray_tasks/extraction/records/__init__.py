"""Interaction records: who did what to what, where and with what (Imprint section 3.1 and Appendix B)."""
