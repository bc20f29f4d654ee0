"""Client generators, and scenarios that use the generated clients."""
