"""EgoCITE's three agents by a language model: drafting, sampling and response (§4.2, Appendix B.3-B.5)."""
