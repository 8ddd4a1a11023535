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
# By itself Lockscope listens on loopback: share the host's network, as in
#   docker run --network host lockscope serve --zk zk1:2181
# Beyond it, people must be able to sign in, and TLS must end here or at a proxy before it:
#   docker run -p 443:3000 -v ./secrets:/run/secrets:ro lockscope serve --zk zk1:2181 --listen 0.0.0.0:3000 --data-dir /data \
#     --tls-cert /run/secrets/cert.pem --tls-key /run/secrets/key.pem --origin https://lockscope.example
ENTRYPOINT ["/usr/local/bin/lockscope"]
CMD ["--help"]
