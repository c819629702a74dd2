# Phaseline as an image: commands, workers, the page and the API. It runs as nobody, and needs neither a shell nor a place
# to write: docker run --read-only --tmpfs /tmp --cap-drop ALL phaseline:0.1.0 worker
#   docker build --tag phaseline:0.1.0 .
# EXTRAS are those of pyproject.toml; without `server` the image is smaller, and has no embedded NATS server for `up`.
# BASE is any image with `python`, `pip`, `venv` and `install`; name the one of a mirror, or one of your own.
ARG PYTHON=3.12
ARG BASE=python:${PYTHON}-slim

FROM ${BASE} AS build
ARG EXTRAS=all
WORKDIR /src
COPY . .
RUN python -m venv --without-pip /opt/phaseline \
    && pip --python /opt/phaseline/bin/python install --no-cache-dir ".[${EXTRAS}]" \
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
