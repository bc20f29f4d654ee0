"""Requests and responses: schemas validate and serialize, errors are problem documents."""
