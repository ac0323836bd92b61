"""The work that runs on the cluster: one folder for each stage of the data's way."""
