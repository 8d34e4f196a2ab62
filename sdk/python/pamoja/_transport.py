# SPDX-License-Identifier: Apache-2.0
"""Requests over http.client: connections are kept and used again, by one thread at a time."""
from __future__ import annotations

import http.client
import ssl
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import urlsplit

_MAX_IDLE = 8


class Reply:
    """Answer of a server, whose body is read when asked for."""

    def __init__(self, response: http.client.HTTPResponse, done: Callable[[bool], None]) -> None:
        self._response = response
        self._done = done
        self.status = response.status
        self.headers: Dict[str, str] = {name.lower(): value for name, value in response.getheaders()}

    def read(self, size: Optional[int] = None) -> bytes:
        data = self._response.read() if size is None else self._response.read(size)
        if self._response.isclosed():
            self._done(True)
        return data

    def readline(self) -> bytes:
        return self._response.readline()

    def close(self) -> None:
        self._done(self._response.isclosed())


class Transport:
    """Connections to one server."""

    def __init__(self, base_url: str, ca_file: Optional[str]) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url must be an address such as https://localhost:8443")
        self._host = parts.hostname
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._context = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def send(self, method: str, path: str, headers: Mapping[str, str], body: Any, timeout: float) -> Reply:
        connection, is_used = self._connection(timeout)
        try:
            return self._asked(connection, method, path, headers, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            connection.close()
            # The server may have closed a connection that was kept: that is no answer to this request.
            if not is_used:
                raise
            return self._asked(self._fresh(timeout), method, path, headers, body)
        except BaseException:
            connection.close()
            raise

    def _asked(
        self, connection: http.client.HTTPConnection, method: str, path: str, headers: Mapping[str, str], body: Any
    ) -> Reply:
        connection.request(method, self._prefix + path, body=body, headers=dict(headers))
        response = connection.getresponse()
        return Reply(response, lambda is_whole: self._back(connection, is_whole and not response.will_close))

    def _connection(self, timeout: float) -> Tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is None:
            return self._fresh(timeout), False
        if kept.sock is not None:
            kept.sock.settimeout(timeout)
        return kept, True

    def _fresh(self, timeout: float) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)

    def _back(self, connection: http.client.HTTPConnection, may_stay: bool) -> None:
        with self._lock:
            if may_stay and connection not in self._idle and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
            if connection in self._idle:
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def lines_of(reply: Reply) -> Iterator[str]:
    """Lines of a stream as they come."""
    while True:
        line = reply.readline()
        if not line:
            return
        yield line.decode("utf-8").rstrip("\r\n")
