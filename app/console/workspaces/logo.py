"""The forms for the logo of a workspace, for its owners."""

from flask import Response

from ...auth.decorators import active_account_required
from ...core.context import service
from ...core.web.request_data import takes
from ...profiles.logos import WorkspaceLogos
from ...profiles.routes import MAX_FORM_BYTES
from ...profiles.schemas import LogoFile
from ...workspaces.guards import active_member_required, current_member, workspace_roles_required
from ...workspaces.models import OWNER
from ...workspaces.routes import IN_PATH
from ..api_calls import console_form
from ..forms import picture_errors
from ..links import redirect_to
from ..texts import _
from .own_workspaces import workspace_settings_page


@console_form(page=workspace_settings_page)
@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(OWNER, resolver=IN_PATH)
@picture_errors("logo")
@takes(files=LogoFile, max_body=MAX_FORM_BYTES)
def set_workspace_logo(workspace_slug: str, files: LogoFile.Input) -> Response:
    service(WorkspaceLogos).set(current_member, files["logo"])
    text = _("Logo saved.")
    return redirect_to(".workspace_settings_page", text, workspace_slug=workspace_slug)


@console_form(page=workspace_settings_page)
@active_account_required
@active_member_required(resolver=IN_PATH)
@workspace_roles_required(OWNER, resolver=IN_PATH)
def remove_workspace_logo(workspace_slug: str) -> Response:
    service(WorkspaceLogos).remove(current_member)
    text = _("Logo removed.")
    return redirect_to(".workspace_settings_page", text, workspace_slug=workspace_slug)
