"""The OpenAPI document, made from the records that the routes' own decorators leave (operation.py).

It is made on the first request for it: apispec is not imported before, and costs a start nothing.
"""
