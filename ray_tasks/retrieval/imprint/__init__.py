"""Imprint's retrieval and question answering (section 3.3, Appendix D) over compressed interaction records."""
