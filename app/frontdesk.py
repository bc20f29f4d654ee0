"""`Frontdesk`: the extension with its command line."""

from .cli.groups import add_commands
from .core.context import Context
from .extension.frontdesk import Extension
from .extension.signing_in import A


class Frontdesk(Extension[A]):
    """The extension: create one object, and initialize each application with it.

    The object holds your hooks, listeners and events. Give it your account class as a type
    parameter: `Frontdesk[Account]()` types `current_account` and `accounts`.

    Example::

        db = SQLAlchemy()
        frontdesk = Frontdesk()

        def create_app():
            app = Flask(__name__)
            db.init_app(app)
            frontdesk.init_app(app, db, account_model=Account)
            app.register_blueprint(blueprints.auth, url_prefix="/api/v1")
            return app
    """

    def _add_commands(self, context: Context) -> None:
        add_commands(context)
