"""The OpenAPI document, built by its first request from the records of the routes' decorators."""
