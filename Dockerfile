# syntax=docker/dockerfile:1
# Any image with Python 3.11 or newer as `python` will do; both stages must use the same one.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN ["python", "-m", "venv", "--without-pip", "/app"]
COPY requirements.runtime.lock /tmp/
RUN ["python", "-m", "pip", "--python", "/app/bin/python", "install", "--quiet", "--no-compile", "--require-hashes", "--only-binary", ":all:", "-r", "/tmp/requirements.runtime.lock"]
COPY src/gitlab_mcp /app/source/gitlab_mcp
COPY tier_features.yaml /app/source/gitlab_mcp/tier_features.yaml
# The files never change again: nothing has to look whether they did, and nothing could write beside them.
RUN ["/app/bin/python", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "/app/source", "/app/lib"]

FROM ${BASE}
ARG VERSION=unknown
ARG REVISION=unknown
# The address of the project, for those who find the image alone.
ARG PROJECT_URL=
LABEL org.opencontainers.image.title="gitlab-mcp-server" \
      org.opencontainers.image.description="A GitLab MCP server whose every failure teaches." \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.url="${PROJECT_URL}" \
      org.opencontainers.image.source="${PROJECT_URL}"
COPY --from=build /app /app
# A user without an entry in the user database has no home otherwise, and python-gitlab wants one.
ENV HOME=/app \
    PATH=/app/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONPATH=/app/source \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GITLAB_MCP_LOG_FORMAT=json \
    GITLAB_MCP_PROJECT_FROM_GIT=false
USER 10001:10001
WORKDIR /
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=4s --start-period=10s --retries=3 \
    CMD ["/app/bin/python", "-m", "gitlab_mcp.transports.probe", "8080"]
ENTRYPOINT ["/app/bin/python", "-m", "gitlab_mcp.cli"]
# No token: every request brings its own. A token given here as well makes the server refuse to start.
CMD ["serve", "--http", "0.0.0.0:8080"]
