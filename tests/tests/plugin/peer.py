#!/usr/bin/env python3
"""A client of Argo CD's plugin service by another implementation of gRPC, which shares no code with the server.

usage: peer.py SOCKET METHOD REPOSITORY APP [NAME=VALUE ...]

Sends what the repo-server sends, a percent-encoded path as authority included; prints the response, a field a line."""
import gzip, hashlib, io, os, sys, tarfile

import grpc


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    def read(at):
        number = shift = 0
        while True:
            byte = message[at]
            number |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return number, at

    at = 0
    while at < len(message):
        tag, at = read(at)
        value, at = read(at)
        if tag & 7 == 2:
            value, at = message[at : at + value].decode(), at + value
        yield tag >> 3, value


def archive(root):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w|") as tar:
        for folder, folders, files in os.walk(root):
            folders.sort()
            for name in sorted(folders + files):
                path = os.path.join(folder, name)
                tar.add(path, arcname=os.path.relpath(path, root), recursive=False)
    return packed.getvalue()


def messages(packed, app, variables):
    metadata = field(1, os.path.basename(app)) + field(2, app)
    metadata += field(3, hashlib.sha256(packed).hexdigest()) + field(4, len(packed))
    for variable in variables:
        name, value = variable.split("=", 1)
        metadata += field(5, field(1, name) + field(2, value))
    yield field(1, metadata)
    for start in range(0, len(packed), 1024):
        yield field(2, field(1, packed[start : start + 1024]))


def main():
    socket, method, root, app, *variables = sys.argv[1:]
    authority = socket.lstrip("/").replace("/", "%2F")
    with grpc.insecure_channel(f"unix:{socket}", options=[("grpc.default_authority", authority)]) as channel:
        call = channel.stream_unary(f"/plugin.ConfigManagementPluginService/{method}")
        for _ in range(2):
            response = call(messages(archive(root), app, variables), timeout=60)
    for number, value in fields(response):
        print(number, value)


main()
