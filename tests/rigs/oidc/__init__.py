"""A real identity provider for tests: the certified one in `tests/oidc_provider`, and its setting.

`node` starts it, `proxy` stands between it and the service under test and can make it misbehave,
`browser` signs in at its pages as a person would. `fixtures` ties the three together for pytest.
"""
