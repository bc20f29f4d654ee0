"""fastapi-users as its documentation shows: SQLAlchemy on asyncpg, bearer tokens in Redis."""
