"""The code fences of the documentation: commands name no undefined variable, and tests run the
fences or give a reason why not."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ..rigs.guides import WHOLE, Fence, fences, page, page_names, tabs, without_tabs
from ..rigs.servers import ROOT

# Generated pages: test_http_api.py sends the commands, and tests/cli/test_help.py reads the help.
GENERATED = ("http-api/", "cli")
# Variables of a caller who reads the generated pages, named as in the guides.
CALLERS = {"API", "TOKEN", "PASSWORD", "INVITATION"}
LANGUAGES = ("sh", "python", "js", "ts", "tsx", "nginx")
SOURCE = re.compile(r"\A(?:#|//) (?:examples|tests)/")
IN_SINGLE_QUOTES = re.compile(r"'[^']*'")
USED = re.compile(r"\$\{?([A-Za-z_]\w*)")
DEFINED = re.compile(
    r"(?:^|[\s;&(])(?:export |alias )?([A-Za-z_]\w*)=|\bfor (\w+) in\b", re.MULTILINE
)
INLINE_COMMAND = re.compile(r"`((?:curl|flask) [^`]*)`")
# Variables of the shell, and those that a command on the page reads from a file.
KNOWN = {
    "": {"HOME", "PATH", "PWD", "OLDPWD"},
    "api": {"FIRST_SUPERUSER", "FIRST_SUPERUSER_PASSWORD"},
}

OPERATES = "commands of a server with services that other tests run: tests/server, tests/rigs/soak"
CONTAINERS = "needs images and a registry; tests/project/test_kubernetes.py, scripts/image.py"
OF_COMMANDS = "the same commands run in tests/cli and tests/transfer"
SECOND_PART = (
    "needs a code, a token or an id of an earlier response, which the tests of the feature use"
)
ENVIRONMENT = "settings of an environment, which tests of settings set"
SHOWN_BEFORE = "repeats a step of a tested example"
EXCERPT = "part of a reader's own code, which tests of the feature have in other words"
# Fences that no test executes: for each page their number, and why.
NOT_EXECUTED = {
    "accounts": (3, SECOND_PART),
    "administration": (3, OF_COMMANDS),
    "api": (
        1,
        "the first requests of the service: tests/core, tests/tasks and test_run.py send them",
    ),
    "backup": (2, OPERATES),
    "compose": (9, CONTAINERS),
    "configuration": (4, ENVIRONMENT),
    "console": (2, EXCERPT),
    "cookbook/column-mapping": (2, SHOWN_BEFORE),
    "cookbook/deploying": (4, OPERATES),
    "cookbook/flask-sqlalchemy-lite": (1, SHOWN_BEFORE),
    "cookbook/roles-from-groups": (2, "tests/auth/test_idp_groups.py has the settings and events"),
    "cookbook/s3-avatars": (1, ENVIRONMENT),
    "cookbook/sso": (1, ENVIRONMENT),
    "cookbook/subdomains": (1, "needs a domain; examples/subdomains sends the request"),
    "cookbook/test-fixtures": (1, "the run of the page's tests: test_examples.py"),
    "custom-authentication": (1, "needs a server that signs users in; the example's tests run"),
    "custom-emails": (1, OF_COMMANDS),
    "custom-schemas": (2, EXCERPT),
    "decorators": (2, "the setting, and a request to the view of the example"),
    "development-emails": (
        4,
        "needs the image of Mailpit; tests/cli and tests/delivery send emails",
    ),
    "docker": (3, CONTAINERS),
    "email-delivery": (1, ENVIRONMENT),
    "existing-app": (1, EXCERPT),
    "exports": (1, "the file is ready some seconds later; tests/exports downloads it"),
    "gunicorn": (3, OPERATES),
    "idp": (9, EXCERPT),
    "import-users": (3, OF_COMMANDS),
    "installation": (4, "installs packages: tests/project/test_wheel.py and test_run.py do"),
    "invitations": (1, SECOND_PART),
    "kubernetes": (6, CONTAINERS),
    "make-the-console-yours": (6, "examples/console_pages has them, and its tests open them"),
    "mfa": (6, SECOND_PART),
    "migrations": (1, "tests/project/test_separate_history.py runs it"),
    "monitoring": (1, OPERATES),
    "notifications": (8, EXCERPT),
    "operations": (1, OPERATES),
    "passwordless": (1, SECOND_PART),
    "profiles": (2, EXCERPT),
    "quickstart": (3, "examples/quickstart/steps.sh has a folder and a server already"),
    "rate-limits": (1, ENVIRONMENT),
    "react": (2, "needs npm's registry; tests/project/in_react.py builds and starts the example"),
    "remove": (1, "examples/separate_history/steps.sh runs it"),
    "scale": (1, OPERATES),
    "scopes": (1, "a request to the view of the example"),
    "sessions": (1, "needs another setting; tests/auth/test_refresh.py sends the requests"),
    "signing-keys": (3, OF_COMMANDS),
    "step-up": (2, SECOND_PART),
    "systemd": (4, OPERATES),
    "testing": (1, "the run of the page's tests: test_examples.py"),
    "tokens": (4, "tests/tokens sends the requests and runs the script"),
    "troubleshooting": (1, OF_COMMANDS),
    "tutorial": (5, "examples/tutorial/steps.sh has a folder and a server already"),
    "workspaces": (4, SECOND_PART),
}


def undefined(name: str) -> list[str]:
    """Return the variables of a page's commands that no earlier command on the page defines."""
    text = page(name)
    defined = set(KNOWN[""]) | KNOWN.get(name, set())
    if name.startswith(GENERATED):
        defined |= CALLERS
    found = []
    for fence in fences(text):
        if fence.language == "sh":
            defined |= {a or b for a, b in DEFINED.findall(fence.code)}
            found += [v for v in variables(fence.code) if v not in defined]
    for command in INLINE_COMMAND.findall(text):
        found += [v for v in variables(command) if v not in defined]
    return found


def variables(code: str) -> list[str]:
    """Return the variables that a shell would replace."""
    # A text such as '{"password": "'"$PASSWORD"'"}' ends its single quotes around the variable.
    return USED.findall(IN_SINGLE_QUOTES.sub("", code))


def not_executed(name: str) -> list[Fence]:
    text = page(name)
    executed = [each for tab in tabs(text, "application") for each in fences(tab)]
    executed += [each for tab in tabs(text, "service") for each in fences(tab)]
    if name in WHOLE:
        executed += [each for each in fences(without_tabs(text)) if each.language == "sh"]
    left = Counter(fences(text))
    left.subtract(Counter(executed))
    return [
        fence
        for fence, count in left.items()
        for _ in range(count)
        if fence.language in LANGUAGES and not SOURCE.match(fence.code)
    ]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("curl $API/login", ["API"]),
        ("echo '$2b$12$x' \"$TOKEN\"", ["TOKEN"]),
        ("""-d '{"password": "'"$PASSWORD"'"}'""", ["PASSWORD"]),
    ],
)
def test_variables_of_commands_are_found(code: str, found: list[str]) -> None:
    assert variables(code) == found


def test_commands_use_no_undefined_variable() -> None:
    assert {name: found for name in page_names() if (found := undefined(name))} == {}


def test_every_fence_is_executed_or_has_a_reason_why_not() -> None:
    found = {n: not_executed(n) for n in page_names() if not n.startswith(GENERATED)}
    numbers = {name: len(left) for name, left in found.items() if left}
    assert numbers == {name: number for name, (number, _) in NOT_EXECUTED.items()}


def test_service_tabs_export_settings() -> None:
    """The tests of an application run the other tab; these variables are its counterpart."""
    settings = (ROOT / "docs" / "settings.md").read_text()
    exported = {
        variable
        for name in page_names()
        for tab in tabs(page(name), "service")
        for fence in fences(tab)
        for variable in re.findall(r"^export (\w+)=", fence.code, re.MULTILINE)
    }
    assert len(exported) > 10
    entries = set(re.findall(r"^(?:\| `|:::\{confval\} )([A-Z_0-9]+)", settings, re.MULTILINE))
    assert exported - entries == set()


def test_both_tabs_of_a_guide_set_the_same_identity_providers() -> None:
    """The tests of an application start it with the providers of its tab."""
    found = {}
    for name in page_names():
        values = [
            re.findall(r"^export (?:FRONTDESK_)?AUTH__PROVIDERS=(.+)", fence.code, re.MULTILINE)
            for key in ("application", "service")
            for tab in tabs(page(name), key)
            for fence in fences(tab)
        ]
        if any(values):
            found[name] = [value for each in values for value in each]
    assert {"cookbook/apple", "cookbook/keycloak"} <= found.keys()
    assert {name for name, each in found.items() if len(each) != 2 or each[0] != each[1]} == set()
