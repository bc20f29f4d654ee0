"""What the console's pages are tried with, in a real browser and without one."""
