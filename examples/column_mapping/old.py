"""The old application: its users, Flask-Login's cookie, werkzeug's hashes."""

from __future__ import annotations

from flask import Flask, request
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, UserMixin, current_user, login_required, login_user
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column
from werkzeug.security import check_password_hash, generate_password_hash

db = SQLAlchemy()
login_manager = LoginManager()


class User(UserMixin, db.Model):
    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    mail: Mapped[str] = mapped_column(unique=True)
    pw: Mapped[str]
    active: Mapped[bool] = mapped_column(default=True)
    admin: Mapped[bool] = mapped_column(default=False)

    @property
    def is_active(self) -> bool:
        return self.active


@login_manager.user_loader
def load(user_id: str) -> User | None:
    return db.session.get(User, int(user_id))


def create_app(database_url: str) -> Flask:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "set it from the environment"
    app.config["SQLALCHEMY_DATABASE_URI"] = database_url
    db.init_app(app)
    login_manager.init_app(app)

    @app.post("/join")
    def join() -> ResponseReturnValue:
        db.session.add(
            User(mail=request.form["mail"], pw=generate_password_hash(request.form["password"]))
        )
        db.session.commit()
        return "Welcome", 201

    @app.post("/sign-in")
    def sign_in() -> ResponseReturnValue:
        user = db.session.scalar(select(User).where(User.mail == request.form["mail"]))
        if user is None or not check_password_hash(user.pw, request.form["password"]):
            return "No", 400
        return ("In", 200) if login_user(user) else ("No", 400)

    @app.post("/password")
    @login_required
    def change() -> ResponseReturnValue:
        current_user.pw = generate_password_hash(request.form["password"])
        db.session.commit()
        return "Changed"

    @app.get("/me")
    @login_required
    def me() -> ResponseReturnValue:
        return current_user.mail

    return app
