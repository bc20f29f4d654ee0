"""The OpenAPI document, built from the records of the routes' decorators (operation.py).

It is made on the first request for it: apispec is not imported before, and costs a start nothing.
"""
