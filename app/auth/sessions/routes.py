from __future__ import annotations

from .blueprint import blueprint as blueprint
