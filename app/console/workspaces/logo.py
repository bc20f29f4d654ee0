"""The forms for the logo of a workspace, for its owners."""

from flask import Response

from ...core.context import service
from ...core.web.request_data import takes
from ...profiles.logos import WorkspaceLogos
from ...profiles.routes import MAX_FORM_BYTES
from ...profiles.schemas import LogoFile
from ...workspaces.guards import current_member
from ..api_calls import console_form
from ..forms import picture_errors
from ..links import redirect_to
from ..texts import _
from .layout import owners_only
from .own_workspaces import workspace_settings_page


@console_form(page=workspace_settings_page)
@owners_only
@picture_errors("logo")
@takes(files=LogoFile, max_body=MAX_FORM_BYTES)
def set_workspace_logo(workspace_slug: str, files: LogoFile.Input) -> Response:
    service(WorkspaceLogos).set(current_member, files["logo"])
    text = _("Logo saved.")
    return redirect_to(".workspace_settings_page", text, workspace_slug=workspace_slug)


@console_form(page=workspace_settings_page)
@owners_only
def remove_workspace_logo(workspace_slug: str) -> Response:
    service(WorkspaceLogos).remove(current_member)
    text = _("Logo removed.")
    return redirect_to(".workspace_settings_page", text, workspace_slug=workspace_slug)
