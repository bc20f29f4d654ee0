import pytest

from ..conftest import MakePerson, Person


@pytest.fixture
def bob(person: MakePerson) -> Person:
    return person("bob")
