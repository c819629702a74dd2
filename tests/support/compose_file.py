"""The servers, workers and tools of compose.yaml, and the configuration of its servers."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
SERVERS = {name: service for name, service in SERVICES.items() if service["image"].startswith("nats:")}
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
WORKERS = {name: service for name, service in OURS.items() if service.get("command") == ["worker"]}
TOOLS = {name: service for name, service in OURS.items() if name not in WORKERS}
FOLDER = "/etc/phaseline"
"""Where the containers have the configuration, the accounts and the certificates."""
CONFIGURATION = (ROOT / "deploy" / "compose" / "nats.conf").read_text()
CERTIFICATES = ROOT / "deploy" / "compose" / "certificates.sh"
