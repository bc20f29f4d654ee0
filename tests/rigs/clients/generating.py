from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..npm import install, tool
from ..servers import bare_environment

HERE = Path(__file__).resolve().parent
_FILES = ("journey.ts", "journey.py", "redocly.yaml", "spectral.yaml", "orval.config.json")
_QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}


class ClientProject:
    """A folder with the OpenAPI document and the scenarios for its generated clients."""

    def __init__(self, folder: Path, document: bytes) -> None:
        install(HERE)
        self.folder = folder
        for name in (*_FILES, "tsconfig.json", "python.yaml", "package.json"):
            shutil.copy(HERE / name, folder)
        (folder / "node_modules").symlink_to(HERE / "node_modules")
        (folder / "openapi.json").write_bytes(document)

    def node(self, name: str, *arguments: str) -> str:
        """Run a program of the npm packages, or a script of this folder."""
        path = self.folder / "node_modules" / ".bin" / name
        return self.run([tool("node"), str(path if path.exists() else name), *arguments])

    def python(self, *arguments: str) -> str:
        return self.run([sys.executable, *arguments])

    def run(self, command: Sequence[str]) -> str:
        """Run a command and return its output; if the command fails, the test fails."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=bare_environment(**_QUIET),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
        return done.stdout
