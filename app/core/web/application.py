"""The service's Flask: URL rules that are compiled late, and sessions only where a cookie came."""

from __future__ import annotations

from flask import Flask

from .rules import RuleReadFirst
from .sessions import SessionsWhenSent


class Application(Flask):
    url_rule_class = RuleReadFirst
    session_interface = SessionsWhenSent()
