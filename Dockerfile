# docker build -t azlatency .
# docker run --rm -v "$PWD":/work azlatency report
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS development
# What `make test` needs; .devcontainer uses this stage.
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium git make shellcheck \
    && rm -rf /var/lib/apt/lists/*

FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
COPY . /src
RUN python -m pip install --no-cache-dir uv==0.13.8 \
    && uv pip install --system --no-cache --compile-bytecode -c /src/requirements.lock -b /src/requirements.lock "/src[report]" \
    && rm -rf /src \
    && useradd --create-home analyst \
    && install -d -o analyst /work
USER analyst
WORKDIR /work
ENTRYPOINT ["azlatency"]
CMD ["--help"]
