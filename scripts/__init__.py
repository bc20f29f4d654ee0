"""What `make` runs: setting up, serving, testing, pinning."""
