"""What would bite an operator, found before it does."""
