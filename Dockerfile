# Two images of one build:
#   docker build --target image-updater -t image-updater .
#   docker build -t renderer .
FROM rust:1.95-alpine AS build
# hadolint ignore=DL3018
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --release --locked -p renderer -p image-updater \
 && install -D -m 0755 target/release/renderer /out/usr/local/bin/renderer \
 && ln -s renderer /out/usr/local/bin/kustomize \
 && ln -s renderer /out/usr/local/bin/helm \
 && install -d -m 0700 -o 999 -g 999 /out/home/argocd \
 && install -d -m 1777 /out/tmp

# The daemon, with the programs that it pushes over ssh and signs commits with; they are why this one has an Alpine.
FROM alpine:3.22 AS image-updater
# ssh refuses to work for a user without a name.
# hadolint ignore=DL3018
RUN apk add --no-cache ca-certificates gnupg openssh-client-default openssh-keygen \
 && adduser -D -H -h /tmp -u 65532 image-updater
COPY --from=build /src/target/release/image-updater /usr/local/bin/image-updater
USER 65532:65532
ENV HOME=/tmp
WORKDIR /tmp
ENTRYPOINT ["/usr/local/bin/image-updater"]
CMD ["run", "--config=/etc/image-updater/config/image-updater.yaml"]

# A static binary on nothing else: no shell, no package manager, an unprivileged user.
FROM scratch AS renderer
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/ /
# The user of Argo CD's sidecars.
USER 999:999
ENV HOME=/home/argocd
WORKDIR /home/argocd
ENTRYPOINT ["/usr/local/bin/renderer"]
CMD ["--help"]
