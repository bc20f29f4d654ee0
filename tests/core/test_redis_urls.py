"""The URLs of Redis Sentinel and Redis Cluster: what each form means, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.core.config.redis_url import RedisServers, parse_servers
from app.core.config.settings import CoreSettings


def servers(url: str) -> RedisServers:
    parsed = parse_servers(url)
    assert parsed is not None
    return parsed


def test_sentinel_url_names_sentinels_master_and_database() -> None:
    found = servers("redis+sentinel://h:26379,g,[::1]:5/mymaster/3")
    assert found.addresses == [("h", 26379), ("g", 26379), ("::1", 5)]
    assert (found.master, found.uses_tls) == ("mymaster", False)
    assert found.url == "redis://@h:26379/3?"
    assert servers("redis+sentinel://h/my%20master").master == "my master"


def test_user_and_password_belong_to_the_redis_servers() -> None:
    found = servers(
        "rediss+sentinel://ada:a%2Fb@h/m?sentinel_username=bob&sentinel_password=c%26d&ssl_ca_certs=/ca"
    )
    assert found.url == "rediss://ada:a%2Fb@h/0?ssl_ca_certs=%2Fca"
    assert found.sentinel_login == {"username": "bob", "password": "c&d"}
    assert found.uses_tls
    assert "a/b" not in found.where
    assert found.where == "m (sentinels h:26379)"


@pytest.mark.parametrize("path", ["", "/", "/0", "?db=0"])
def test_cluster_url_names_nodes(path: str) -> None:
    found = servers(f"redis+cluster://h:7000,g{path}")
    assert (found.addresses, found.master) == ([("h", 7000), ("g", 6379)], None)


@pytest.mark.parametrize(
    "url", ["redis://h,x@g:1/0", "redis://h:1/0", "rediss://:p@h", "unix:///run/a,b.sock"]
)
def test_url_of_one_server_is_left_to_redis_py(url: str) -> None:
    assert parse_servers(url) is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis+sentinel://:hunter2@h:26379", "must name the master"),
        ("redis+sentinel://:hunter2@h:26379/0", "must name the master"),
        ("redis+sentinel://:hunter2@h/mymaster/zero", "must name the master"),
        ("redis+sentinel://:hunter2@h:port/mymaster", "must be a valid URL"),
        ("redis+sentinel://:hunter2@h:70000/mymaster", "must be a valid URL"),
        ("redis+sentinel://:hunter2@h;g/mymaster", "must be a valid URL"),
        ("redis+sentinel://:hunter2/x@h/mymaster", "must be a valid URL"),
        ("redis+sentinel://:hunter2@h,/mymaster", "must be a valid URL"),
        ("redis+cluster://:hunter2@h/1", "only database 0"),
        ("redis+cluster://:hunter2@h?db=1", "only database 0"),
        ("redis+cluster://", "must be a valid URL"),
        ("redis://:hunter2@h:1,g:1/0", "names several hosts"),
        ("sentinel://:hunter2@h:26379;sentinel://g:26379", "redis+sentinel://"),
        ("redis-sentinel://:hunter2@h:26379/0?sentinelMasterId=m", "redis+sentinel://"),
        ("redis-cluster://:hunter2@h", "redis+cluster://"),
        ("rediss+socket://:hunter2@h", "unix://"),
        ("valkey+sentinel://:hunter2@h/m", "redis+sentinel://"),
    ],
)
def test_other_forms_are_refused_with_the_right_one(url: str, words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        CoreSettings.model_validate({"REDIS_URL": url})
    sentence = str(raised.value)
    assert words in sentence
    assert "hunter2" not in sentence
