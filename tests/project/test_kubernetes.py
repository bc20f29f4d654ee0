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


VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}


def violations(pod: dict[str, Any]) -> list[str]:
    """Return the rules of the Pod Security Standard "restricted" that a pod of Linux breaks."""
    shared = pod.get("securityContext", {})
    containers = [
        each
        for name in ("initContainers", "containers", "ephemeralContainers")
        for each in pod.get(name, [])
    ]
    found = [name for name in ("hostNetwork", "hostPID", "hostIPC") if pod.get(name)]
    for volume in pod.get("volumes", []):
        found += [f"volume {kind}" for kind in volume.keys() - {"name"} - VOLUMES]
    found += ["sysctls"] if shared.get("sysctls") else []
    for each in containers:
        own = each.get("securityContext", {})
        context = {**shared, **own}
        capabilities = own.get("capabilities", {})
        broken = {
            "hostPort": any(port.get("hostPort") for port in each.get("ports", [])),
            "privileged": own.get("privileged"),
            "allowPrivilegeEscalation": own.get("allowPrivilegeEscalation") is not False,
            "runAsNonRoot": context.get("runAsNonRoot") is not True,
            "runAsUser": context.get("runAsUser") == 0,
            "seccompProfile": context.get("seccompProfile", {}).get("type")
            not in ("RuntimeDefault", "Localhost"),
            "drop capabilities": "ALL" not in capabilities.get("drop", []),
            "add capabilities": set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"},
            "procMount": own.get("procMount", "Default") != "Default",
            "seLinuxOptions": context.get("seLinuxOptions"),
            "appArmorProfile": context.get("appArmorProfile", {}).get("type") == "Unconfined",
            "windowsOptions": context.get("windowsOptions", {}).get("hostProcess"),
        }
        found += [rule for rule, is_broken in broken.items() if is_broken]
    return found


@for_each(("name", "pod"), list(pods()))
def test_pods_meet_the_restricted_pod_security_standard(name: str, pod: dict[str, Any]) -> None:
    assert violations(pod) == []


@for_each(
    ("change", "rule"),
    [
        ({"hostNetwork": True}, "hostNetwork"),
        ({"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, "volume hostPath"),
        ({"securityContext": {"runAsNonRoot": True}}, "seccompProfile"),
        ({"initContainers": [{"name": "x"}]}, "allowPrivilegeEscalation"),
        ({"containers": [{"ports": [{"hostPort": 80}]}]}, "hostPort"),
    ],
)
def test_violation_of_the_standard_is_found(change: dict[str, Any], rule: str) -> None:
    _, pod = next(pods())
    assert rule in violations(pod | change)


@for_each(("name", "pod"), list(pods()))
def test_pods_have_no_token_and_a_read_only_file_system(name: str, pod: dict[str, Any]) -> None:
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
