"""Lists of test files for `make test` (scripts/suite.py): later rounds, and tests that run on
SQLite only. This module imports nothing."""

# Slow files with few tests. They start first, so that none of them runs alone at the end.
LONG = (
    "tests/console/test_pages.py",
    "tests/project/test_examples.py",
    "tests/core/test_generated_clients.py",
    "tests/project/test_without_extras.py",
    "tests/extension/test_applications.py",
    "tests/core/test_generated_requests.py",
    "tests/auth/test_passkey_fuzzing.py",
    "tests/project/test_site.py",
    "tests/project/test_tabs.py",
    "tests/project/test_tutorial.py",
    "tests/transfer/test_import.py",
    "tests/server/test_gunicorn.py",
    "tests/project/test_run.py",
    "tests/auth/test_sign_in_table.py",
    "tests/auth/test_refresh.py",
)

# These tests measure time, which CPU-bound tests running next to them would distort. They mostly
# wait, so they can run in parallel. The longest come first.
WAITING = (
    "tests/server/test_faults_broker.py",
    "tests/server/test_faults.py",
    "tests/notifications/test_celery_connections.py",
    "tests/server/test_faults_delivery.py",
    "tests/server/test_replicas.py",
    "tests/server/test_failover.py",
    "tests/server/test_systemd.py",
    "tests/server/test_read_only.py",
    "tests/server/test_slow_clients.py",
    "tests/server/test_reload.py",
    "tests/server/test_rolling_restart.py",
    "tests/auth/test_idp_outages.py",
    "tests/server/test_socket.py",
    "tests/notifications/test_celery.py",
    "tests/notifications/test_killed.py",
    "tests/notifications/test_killed_choices.py",
    "tests/notifications/test_choice_races.py",
    "tests/notifications/test_restarts.py",
    "tests/audit/test_killed.py",
    "tests/server/test_proxies.py",
    "tests/server/test_granian.py",
    "tests/exports/test_processes.py",
    "tests/server/test_ended_sessions.py",
    "tests/server/test_ended_tokens.py",
    "tests/server/test_clocks.py",
    "tests/server/test_full_disk.py",
    "tests/server/test_outages.py",
    "tests/server/test_raw_requests.py",
    "tests/notifications/test_concurrency.py",
    "tests/core/test_circuit_breaker.py",
    "tests/delivery/test_transactional_email.py",
    "tests/delivery/test_dkim.py",
    "tests/delivery/test_background.py",
)
# These put load on the machine or measure its speed under load: they run one by one.
ALONE = (
    "tests/core/test_migrating_under_load.py",
    "tests/notifications/test_priorities.py",
    "tests/server/test_login_flood.py",
    "tests/server/test_pictures.py",
)

# Tests of routes, forms and pages, with the same result on both databases. `make test` runs them on
# SQLite and leaves PostgreSQL to CI.
ON_SQLITE = (
    "tests/administration/",
    "tests/auth/",
    "tests/console/",
    "tests/core/test_malformed_requests.py",
    "tests/profiles/",
    "tests/workspaces/",
)
# Exceptions: locks, order and queries differ between the databases.
ON_BOTH = (
    "tests/administration/test_list.py",
    "tests/auth/test_sign_in_table.py",
    "tests/auth/test_limits.py",
    "tests/auth/test_login.py",
    "tests/auth/test_mfa_races.py",
    "tests/auth/test_passkey_races.py",
    "tests/auth/test_recovery.py",
    "tests/auth/test_refresh_races.py",
    "tests/auth/test_sessions.py",
    "tests/auth/test_sign_in_overlaps.py",
    "tests/profiles/test_profiles.py",
)

# Routes and pages that also run through PgBouncer in transaction mode.
POOLED = (
    "tests/auth/test_login.py",
    "tests/auth/test_sessions.py",
    "tests/console/test_broadcasts.py",
    "tests/console/test_owner_inbox.py",
    "tests/broadcasts/test_admin_send.py",
    "tests/notifications/test_inbox.py",
)


def is_repetition(test: str, all_tests: set[str]) -> bool:
    """Return whether a test repeats on PostgreSQL what it shows on SQLite."""
    return (
        test.startswith(ON_SQLITE)
        and not test.startswith(ON_BOTH)
        and "postgresql" in test
        and test.replace("postgresql", "sqlite") in all_tests
    )
