"""The commands of the Makefile: set up, serve, test, pin, generate pages."""
