"""How requests are read and answered: schemas in, schemas out, problems in between."""
