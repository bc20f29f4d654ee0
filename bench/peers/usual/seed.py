"""Prints the credentials of the first accounts as a JSON list of headers."""

import json
import sys
from datetime import timedelta

from flask_jwt_extended import create_access_token

from bench.peers.usual.app import app

if __name__ == "__main__":
    with app.app_context():
        tokens = [
            create_access_token(f"account{number}@bench.example", expires_delta=timedelta(days=1))
            for number in range(1, int(sys.argv[1]) + 1)
        ]
    print(json.dumps([f"Authorization: Bearer {token}" for token in tokens]))
