"""The manifests in deploy/kubernetes/: valid, hardened, and with settings that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from config import Settings

from ..rigs.cases import for_each
from ..rigs.servers import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
PAGE = ROOT / "docs" / "kubernetes.md"
DOCUMENTS: list[tuple[str, dict[str, Any]]] = [
    (f"{path.name}: {document['kind']} {document['metadata']['name']}", document)
    for path in sorted(FOLDER.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
# Read by gunicorn.conf.py.
SERVER_VARIABLES = {"BIND", "WEB_CONCURRENCY", "WEB_THREADS"}


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, document in DOCUMENTS:
        spec = document.get("spec", {})
        spec = spec.get("jobTemplate", {}).get("spec", spec)
        if "template" in spec:
            yield name, spec["template"]["spec"]


def known_variables() -> set[str]:
    names = set(SERVER_VARIABLES)
    for name, field in Settings.model_fields.items():
        inner = getattr(field.annotation, "model_fields", None)
        names |= {f"{name}__{each}" for each in inner} if inner else {name}
    return names


@pytest.mark.parametrize(("name", "document"), DOCUMENTS, ids=[name for name, _ in DOCUMENTS])
def test_manifest_matches_the_kubernetes_schema(name: str, document: dict[str, Any]) -> None:
    kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_invalid_manifest_is_rejected() -> None:
    _, document = next(each for each in DOCUMENTS if each[1]["kind"] == "Deployment")
    wrong = {**document, "spec": {**document["spec"], "replicaz": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_every_kind_of_object_is_present() -> None:
    kinds = {document["kind"] for _, document in DOCUMENTS}
    assert kinds >= {"ConfigMap", "Job", "CronJob", "Deployment", "Service", "Ingress"}
    assert kinds >= {"HorizontalPodAutoscaler", "PodDisruptionBudget"}


def test_config_map_sets_existing_settings_to_valid_values() -> None:
    [config] = [each for _, each in DOCUMENTS if each["kind"] == "ConfigMap"]
    assert set(config["data"]) - known_variables() == set()


def test_secret_of_the_guide_sets_existing_settings() -> None:
    names = set(re.findall(r"--from-literal=(\w+)=", PAGE.read_text()))
    assert {"SECRET_KEY", "CORE__DATABASE_URL", "CORE__REDIS_URL"} <= names
    assert names - known_variables() == set()


@for_each(("name", "pod"), list(pods()))
def test_pods_run_without_privileges(name: str, pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= container["resources"].keys()


def test_pods_run_as_the_user_of_the_image() -> None:
    [uid] = re.findall(r"useradd --uid (\d+)", (ROOT / "Dockerfile").read_text())
    assert {pod["securityContext"]["runAsUser"] for _, pod in pods()} == {int(uid)}
    mounted = {
        mount["mountPath"]
        for _, pod in pods()
        for container in pod["containers"]
        for mount in container["volumeMounts"]
    }
    [written] = re.findall(r"^VOLUME (\S+)", (ROOT / "Dockerfile").read_text(), re.M)
    assert written in mounted


def test_probes_request_the_health_routes() -> None:
    prefix = Settings.model_fields["CORE"].annotation.model_fields["API_V1_STR"].default  # type: ignore[union-attr]
    [web] = [pod["containers"][0] for name, pod in pods() if "frontdesk-web" in name]
    assert web["livenessProbe"]["httpGet"]["path"] == f"{prefix}/health"
    assert web["readinessProbe"]["httpGet"]["path"] == f"{prefix}/health/ready"
    assert web["ports"] == [{"name": "http", "containerPort": 8000}]


def test_guide_lists_every_manifest() -> None:
    text = PAGE.read_text()
    assert [path.name for path in FOLDER.iterdir() if f"`{path.name}`" not in text] == []
