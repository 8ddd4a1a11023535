# Two stages: build with the registries only, run as nobody with nothing but the binary.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN rustup target add wasm32-unknown-unknown \
 && cargo run --locked -p style \
 && cargo build --release --locked -p server --bin lockscope

FROM debian:bookworm-slim
COPY --from=build /src/target/release/lockscope /usr/local/bin/lockscope
# Certificate authorities, for a webhook over https.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
USER 65534:65534
EXPOSE 3000
# Lockscope has no sign-in yet and listens on loopback only: share the host's network, as in
#   docker run --network host lockscope serve --zk zk1:2181
ENTRYPOINT ["/usr/local/bin/lockscope"]
CMD ["--help"]
