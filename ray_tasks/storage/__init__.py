"""Object store, shard cache, manifests and publishing."""
