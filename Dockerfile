# Built from the registries only (Docker Hub, crates.io); needs BuildKit, which docker and podman build with today:
#   docker build -t lockscope .
#   docker build -t lockscope --build-arg REVISION=$(git rev-parse HEAD) --build-arg CREATED=$(date -u +%FT%TZ) .
# The base is pinned by its version. To pin it by its digest as well, take the one that
# `docker buildx imagetools inspect rust:1.95.0-bookworm` prints, and write rust:1.95.0-bookworm@sha256:… below.
FROM rust:1.95.0-bookworm AS build
WORKDIR /src
# The toolchain first: it changes seldom.
COPY rust-toolchain.toml ./
RUN rustup target add wasm32-unknown-unknown
COPY . .
# What was downloaded and compiled before stays in caches beside the layers, so a change compiles itself and not 400 crates.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    cargo run --locked -p lockscope-style \
 && cargo build --release --locked -p lockscope --bin lockscope \
 && install -D target/release/lockscope /out/usr/local/bin/lockscope
# The libraries that it is linked to, at their own places; the authorities for a webhook by https; a directory to keep data in.
RUN ldd /out/usr/local/bin/lockscope | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} /out \
 && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt \
 && install -D -m 644 LICENSE /out/usr/share/doc/lockscope/LICENSE \
 && install -d -m 700 /own/data

# Nothing but these: no shell, no package manager.
FROM scratch
ARG VERSION=0.1.0
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="Lockscope" \
      org.opencontainers.image.description="A live lock observatory for Apache ZooKeeper" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
COPY --from=build /out/ /
COPY --from=build --chown=65534:65534 /own/ /
# Nobody; the root file system may be read-only. Data has a place of its own, which a volume or a tmpfs may be mounted at.
USER 65534:65534
ENV LOCKSCOPE_DATA_DIR=/data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
# Asks where this environment says that it listens; with flags instead of variables, give --url or leave the check to the orchestrator.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/usr/local/bin/lockscope", "healthcheck"]
# By itself Lockscope listens on loopback: share the host's network, as in
#   docker run --network host lockscope serve --zk zk1:2181
# Beyond it, people must be able to sign in, and TLS must end here or at a proxy before it:
#   docker run -p 443:3000 -v lockscope:/data -v ./secrets:/run/secrets:ro -e LOCKSCOPE_LISTEN=0.0.0.0:3000 \
#     -e LOCKSCOPE_TLS_CERT=/run/secrets/cert.pem -e LOCKSCOPE_TLS_KEY=/run/secrets/key.pem \
#     lockscope serve --zk zk1:2181 --origin https://lockscope.example
ENTRYPOINT ["/usr/local/bin/lockscope"]
CMD ["--help"]
