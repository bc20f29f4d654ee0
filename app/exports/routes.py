from flask import Response
from werkzeug.utils import secure_filename

from ..accounts.service import Accounts
from ..auth.blueprint import client_ip_address
from ..auth.caller import caller
from ..auth.decorators import active_account_required, guard
from ..auth.errors import FRESHNESS_PROBLEMS
from ..auth.settings import AuthSettings
from ..auth.step_up.service import Freshness
from ..core.context import current_frontdesk, service
from ..core.errors import FeatureOff
from ..core.types import JsonObject
from ..core.web.blueprint import Blueprint
from ..core.web.operation import example, raises
from ..core.web.request_data import takes
from ..core.web.responses import answers
from ..delivery.mail.brand import BrandSettings
from . import schemas
from .models import AccountExport
from .service import Exports

blueprint = Blueprint("exports", __name__, needs=Accounts, about="Data exports")


@guard(FeatureOff, bearer=False)
def exports_required() -> None:
    """Require that data exports are enabled, before the caller is authenticated."""
    if current_frontdesk.settings.of(AuthSettings).ACCOUNT_EXPORTS == "off":
        raise FeatureOff(note={"setting": "AUTH__ACCOUNT_EXPORTS"})


@blueprint.post("/account/exports")
@exports_required
@active_account_required
@example(json=schemas.ASKED, answer=schemas.PENDING)
@raises(*FRESHNESS_PROBLEMS, schemas.TooManyExports)
@takes(json=schemas.ExportCreate)
@answers(202, schemas.ExportRead)
def create_export(json: schemas.ExportCreate.Input) -> JsonObject:
    """Request a data export (a zip file, created in the background)"""
    service(Freshness).check(caller(), json["password"], client_ip_address())
    return service(Exports).create(caller().account)


@blueprint.get("/account/exports/<row_id:export_id>")
@exports_required
@active_account_required
@example(answer=schemas.READY)
@raises(schemas.ExportNotFound)
@answers(200, schemas.ExportRead)
def get_export(export_id: int) -> AccountExport:
    """Get the state of a data export"""
    return service(Exports).get(caller().account.id, export_id)


@blueprint.get("/account/exports/<row_id:export_id>/file")
@exports_required
@active_account_required
@raises(schemas.ExportNotFound, schemas.ExportNotReady)
@answers(200, None, media=("application/zip",))
def get_export_file(export_id: int) -> Response:
    """Download the file of a data export"""
    file = service(Exports).read(caller().account.id, export_id)
    response = Response(file.chunks, mimetype="application/zip")
    response.content_length = file.size
    brand = current_frontdesk.settings.of(BrandSettings).NAME
    # The name has only ASCII characters, whatever the brand has.
    name = secure_filename(f"{brand} data export {file.day}.zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
