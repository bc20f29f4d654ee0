"""Tasks: the sample resource, and the smallest slice. Who knows its rooms knows all the others."""
