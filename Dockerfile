FROM python:3.12-slim
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir '.[all]' && useradd --create-home phaseline \
    && install --directory --owner phaseline --mode 0755 /accounts
USER phaseline
WORKDIR /home/phaseline
ENTRYPOINT ["phaseline"]
