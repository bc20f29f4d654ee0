"""One file for each work that is measured."""
