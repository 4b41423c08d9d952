# A static binary on nothing else: no shell, no package manager, an unprivileged user.
FROM rust:1.95-alpine AS build
# hadolint ignore=DL3018
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p renderer \
 && install -D -m 0755 target/release/renderer /out/usr/local/bin/renderer \
 && install -d -m 0700 -o 999 -g 999 /out/home/argocd \
 && install -d -m 1777 /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
# The user of Argo CD's sidecars.
USER 999:999
ENV HOME=/home/argocd
WORKDIR /home/argocd
ENTRYPOINT ["/usr/local/bin/renderer"]
CMD ["--help"]
