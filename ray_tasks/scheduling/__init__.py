"""The only folder, beside engines/, that imports ray."""
