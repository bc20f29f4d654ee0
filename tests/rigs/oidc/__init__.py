"""A real identity provider for tests: the certified one in `tests/oidc_provider`, and its setting.

`node` starts the provider, `proxy` forwards the service's requests and can alter the responses,
`browser` signs in at the provider's pages. `fixtures` has the pytest fixtures.
"""
