"""Accounts: who may come in. The model is a mixin, so that a host can bring its own."""
