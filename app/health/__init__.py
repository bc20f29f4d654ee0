"""Health: is the process alive, and can it reach what it needs?"""
