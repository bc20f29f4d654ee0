"""What the work costs when nothing but the work is done."""
