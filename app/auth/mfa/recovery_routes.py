"""What else lets an account's owner in: recovery codes, and devices that are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.context import service
from ...core.web.answering import answers
from ...core.web.operation import example, raises
from ..caller import caller
from ..guards import active_account_required
from . import examples
from .blueprint import blueprint
from .devices import TrustedDevices
from .errors import NoFactor, TrustedDeviceNotFound
from .guards import factors_required, fresh_factor_required
from .models import TrustedDevice
from .recovery_codes import RecoveryCodes
from .renewal import CodeRenewal
from .schemas import RecoveryCodesLeft, RecoveryCodesRead, TrustedDeviceRead


@blueprint.get("/recovery-codes")
@active_account_required
@factors_required
@example(answer=examples.LEFT)
@answers(200, RecoveryCodesLeft)
def count_recovery_codes() -> dict[str, Any]:
    """Get how many recovery codes the caller has left"""
    return {"left": service(RecoveryCodes).left(caller().account.id)}


@blueprint.post("/recovery-codes")
@active_account_required
@factors_required
@fresh_factor_required
@example(answer=examples.RECOVERY_CODES)
@raises(NoFactor)
@answers(201, RecoveryCodesRead)
def make_recovery_codes() -> dict[str, Any]:
    """Make ten new recovery codes; the old ones are dead"""
    return {"recovery_codes": service(CodeRenewal).renew(caller().attached_account)}


@blueprint.get("/trusted-devices")
@active_account_required
@factors_required
@example(answer=[examples.DEVICE])
@answers(200, TrustedDeviceRead, many=True)
def list_trusted_devices() -> Sequence[TrustedDevice]:
    """List the devices that are not asked for the caller's second factor"""
    return service(TrustedDevices).list(caller().account.id)


@blueprint.delete("/trusted-devices/<row_id:device_id>")
@active_account_required
@factors_required
@example(answer=examples.DEVICE)
@raises(TrustedDeviceNotFound)
@answers(200, TrustedDeviceRead)
def forget_trusted_device(device_id: int) -> TrustedDevice:
    """Trust a device no longer"""
    return service(TrustedDevices).revoke(caller().account.id, device_id)
