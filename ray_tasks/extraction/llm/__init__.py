"""EgoScheme by a language model (EgoCITE section 4.1, appendix B.2): every reply is validated before it is believed."""
