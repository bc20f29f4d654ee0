"""gunicorn's own lines in the form of the application's."""

from __future__ import annotations

from typing import Any

from gunicorn.glogging import Logger


class ApplicationLog(Logger):  # type: ignore[misc]
    """From the first line on: the application is loaded before, and has configured logging. A file
    that the operator names for gunicorn's log keeps gunicorn's own form."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        if cfg.errorlog == "-":
            for handler in list(self.error_log.handlers):
                if getattr(handler, "_gunicorn", False):
                    self.error_log.removeHandler(handler)
            self.error_log.propagate = True
