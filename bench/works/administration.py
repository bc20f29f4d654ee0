"""What administrators ask of a million accounts: every page is to come within 15 ms."""

import random
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import psycopg

from bench import balance, database, load
from bench.database import Data
from bench.figures import Column, Goal, Table
from bench.options import Options
from bench.places import WORKERS
from bench.requests import credentials, get
from bench.servers import CONTENDERS, running
from bench.timing import timed
