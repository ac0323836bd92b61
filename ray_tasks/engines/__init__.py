"""Chat endpoints: the client that speaks to them, and vLLM on Ray Serve where the job starts its own."""
