"""Tasks: the sample resource, and the smallest package. Other packages have the same files."""
