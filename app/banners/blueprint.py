from ..accounts.service import Accounts
from ..core.web.blueprint import Blueprint
from ..core.web.lazy_views import LazyView
from .assembly import assemble

blueprint = Blueprint(
    "banners", __name__, needs=Accounts, assemble=assemble, about="Banners above every page"
)
for method, rule, name in (
    ("GET", "/banners", "list_banners"),
    ("POST", "/banners/<row_id:banner_id>/dismiss", "dismiss_banner"),
    ("GET", "/admin/banners", "list_managed_banners"),
    ("POST", "/admin/banners", "create_banner"),
    ("GET", "/admin/banners/<row_id:banner_id>", "get_managed_banner"),
    ("PATCH", "/admin/banners/<row_id:banner_id>", "update_banner"),
    ("DELETE", "/admin/banners/<row_id:banner_id>", "delete_banner"),
):
    view = LazyView(f"routes.{name}", __package__)
    blueprint.add_url_rule(rule, view_func=view, methods=[method])
