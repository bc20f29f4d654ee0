from ..accounts.service import Accounts
from ..core.config.environment import SettingsError
from ..core.config.settings import CoreSettings
from ..core.context import Context
from ..core.extras import missing_extra
from ..core.security_log import RejectionLog


def assemble(context: Context) -> None:
    """Add metrics and tracing to the service; an application has its own monitoring."""
    core = context.settings.core
    if not context.owns_application:
        return
    _check_extras(core)
    if core.METRICS_ENABLED:
        from .metrics import QueueMetrics, ReplicaMetrics, measure

        metrics = measure(context.app, context.engine)
        context.add(metrics)
        context.actions.watchers.append(metrics.count_action)
        context.get(RejectionLog).watchers.append(metrics.count_rejection)
        if context.has(Accounts) and (breaches := context.get(Accounts).passwords.rules.breaches):
            breaches.when_unanswered.append(metrics.unasked_breaches.inc)
        context.add(QueueMetrics(context.session, context.clock))
        if context.replica is not None:
            metrics.watch_pool(context.replica.engine, "replica_")
            context.add(ReplicaMetrics(context.replica, metrics.registry))
    if core.METRICS_BIND:
        from .requests import separate_metrics

        separate_metrics(context.app, core.METRICS_BIND)
    if core.TRACING_ENABLED:
        from .tracing import create_tracer_provider, trace

        trace(context.app, create_tracer_provider(core.PROJECT_NAME))


def _check_extras(core: CoreSettings) -> None:
    for name, is_on, extra in (
        ("METRICS_ENABLED", core.METRICS_ENABLED, "metrics"),
        ("METRICS_BIND", core.METRICS_BIND, "metrics"),
        ("TRACING_ENABLED", core.TRACING_ENABLED, "tracing"),
    ):
        if is_on and (line := missing_extra(extra)):
            raise SettingsError(f"CORE__{name} is on, and needs an extra: {line}")
