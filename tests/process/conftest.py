"""Fixtures of the tests that need processes."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.support import browser
from tests.support.foreign_programs import helm, kubectl, node, python
from tests.support.kubernetes_server import Kube, serving
from tests.support.observing import cluster

__all__ = ["chromium", "helm", "kube", "kubectl", "node", "python"]


@pytest_asyncio.fixture
async def chromium() -> AsyncIterator[Any]:
    """A browser."""
    async with browser.browser() as started:
        yield started


@pytest_asyncio.fixture
async def kube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Kube, Path]]:
    """An API server of Kubernetes, and the kubeconfig for it. Whoever watches it tries again at once."""
    monkeypatch.setattr(cluster, "PAUSES", (0.01, 0.02))
    async with serving(tmp_path) as found:
        yield found
