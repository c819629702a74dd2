# Phaseline as an image: commands, workers, the page and the API. It runs as nobody, and needs neither a shell nor a place
# to write: docker run --read-only --tmpfs /tmp --cap-drop ALL phaseline:0.1.0 worker
#   docker build --tag phaseline:0.1.0 .
# EXTRAS are those of pyproject.toml. A worker needs `cli`, `metrics` and `gitops`, keys need `nkeys`, the page `http`;
# `up` needs `server`, an embedded NATS server. EXTRAS=cli,metrics,gitops,nkeys,http takes less than half of the room.
# BASE is any image with `python`, `pip`, `venv` and `install`; name the one of a mirror, or one of your own.
ARG PYTHON=3.12
ARG BASE=python:${PYTHON}-slim

FROM ${BASE} AS build
ARG EXTRAS=all
WORKDIR /src
COPY . .
# requirements.txt is the lock: each package must have its version and its hash, the project's own wheel too.
RUN sed -n '/^pip==/,/[^\\]$/p' requirements.txt > /pip.txt \
    && pip install --no-cache-dir --require-hashes --requirement /pip.txt \
    && pip install --no-cache-dir --require-hashes --constraint requirements.txt hatchling \
    && pip wheel --no-deps --no-build-isolation --wheel-dir /wheel . && set -- /wheel/*.whl \
    && echo "phaseline[${EXTRAS}] @ file://$1 --hash=sha256:$(sha256sum "$1" | cut -d' ' -f1)" > /wheel/wanted \
    && python -m venv --without-pip /opt/phaseline \
    && pip --python /opt/phaseline/bin/python install --no-cache-dir --require-hashes \
        --constraint requirements.txt --requirement /wheel/wanted \
    && cp deploy/image/health.py /opt/phaseline/health.py

FROM ${BASE}
LABEL org.opencontainers.image.title="phaseline" org.opencontainers.image.licenses="Apache-2.0"
# Volumes that are mounted here for the first time belong to nobody too.
RUN install --directory --owner 65534 --group 65534 --mode 0755 /etc/phaseline/accounts /etc/phaseline/tls
COPY --from=build /opt/phaseline /opt/phaseline
ENV PATH=/opt/phaseline/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    PHASELINE_METRICS=127.0.0.1:9464
USER 65534:65534
WORKDIR /tmp
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 CMD ["python", "/opt/phaseline/health.py"]
ENTRYPOINT ["phaseline"]
