"""fastapi-users after its documentation: SQLAlchemy on asyncpg, bearer tokens kept in Redis."""
