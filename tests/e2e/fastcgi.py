# SPDX-License-Identifier: MIT
"""A client of PHP-FPM: the FastCGI specification, https://fastcgi-archives.github.io/FastCGI_Specification.html"""

import socket
import struct

VERSION, REQUEST_ID = 1, 1
BEGIN_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
RESPONDER = 1


def record(kind, content=b""):
    return struct.pack("!BBHHBx", VERSION, kind, REQUEST_ID, len(content), 0) + content


def listens(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path) == 0


def send(path, script, query):
    """Asks for a script, by the socket at `path`; wait_for() has the answer."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    parameters = {"SCRIPT_FILENAME": script, "QUERY_STRING": query, "REQUEST_METHOD": "GET"}
    pairs = b"".join(struct.pack("!BB", len(name), len(value)) + name.encode() + value.encode()
                     for name, value in parameters.items())
    connection.sendall(record(BEGIN_REQUEST, struct.pack("!HB5x", RESPONDER, 0)) +
                       record(PARAMS, pairs) + record(PARAMS) + record(STDIN))
    return connection


def wait_for(connection):
    """The output of the script, with its header."""
    with connection, connection.makefile("rb") as stream:
        output = b""
        while True:
            _, kind, _, size, padding = struct.unpack("!BBHHBx", stream.read(8))
            content = stream.read(size + padding)[:size]
            if kind == END_REQUEST:
                return output.decode()
            if kind == STDOUT:
                output += content
