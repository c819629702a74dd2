FROM python:3.12-slim
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir '.[all]' && useradd --create-home phaseline
USER phaseline
WORKDIR /home/phaseline
ENTRYPOINT ["phaseline"]
