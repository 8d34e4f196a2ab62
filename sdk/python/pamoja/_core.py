# SPDX-License-Identifier: Apache-2.0
"""Requests of a client: says who asks, tries again what may be tried again, and turns refusals into errors."""
from __future__ import annotations

import json
import os
import platform
import random
import socket
import sys
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import HTTPException
from typing import Any, Callable, Dict, IO, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode

from ._errors import PamojaError, refusal_of, unanswered
from ._transport import Reply, Transport
from ._version import VERSION

_FIRST_PAUSE = 0.5
_MAX_PAUSE = 8.0
#: A longer Retry-After is the caller's to decide on.
_MAX_RETRY_AFTER = 60.0
#: A request in progress is asked for again for so long.
_MAX_IN_PROGRESS = 60.0
_RETRIED = {408, 429, 500, 502, 503, 504}
_CHANGING = {"POST", "PUT", "PATCH", "DELETE"}

#: Value of a field that was not given, where None means null.
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET", "__bool__": lambda self: False})()


@dataclass(frozen=True)
class RequestOptions:
    """Options of one call."""

    idempotency_key: Optional[str] = None
    #: Seconds for each attempt.
    timeout: Optional[float] = None
    max_retries: Optional[int] = None
    headers: Optional[Mapping[str, str]] = None


@dataclass(frozen=True)
class File:
    """A file to upload, with its name and type."""

    data: Union[bytes, IO[bytes]]
    name: str = "file"
    content_type: str = "application/octet-stream"


@dataclass(frozen=True)
class ResponseInfo:
    """What an answer said beside its value."""

    status: int
    headers: Mapping[str, str]

    @property
    def request_id(self) -> str:
        return self.headers.get("x-request-id", "")

    @property
    def is_replayed(self) -> bool:
        """Whether it is the first answer to this idempotency key again."""
        return self.headers.get("idempotent-replayed") == "true"

    @property
    def rate_limit(self) -> Optional[Dict[str, int]]:
        if "x-ratelimit-limit" not in self.headers:
            return None
        return {name: int(self.headers.get("x-ratelimit-" + name, 0)) for name in ("limit", "remaining", "reset")}


class Answer(Dict[str, Any]):
    """Value of an answer: a dict, and what the answer said beside it as `_response`."""

    _response: ResponseInfo


@dataclass(frozen=True)
class Log:
    """One attempt, as hooks see it; the key is left out."""

    method: str
    url: str
    attempt: int
    headers: Mapping[str, str]
    #: 0 when nothing answered; None before the attempt.
    status: Optional[int] = None
    request_id: str = ""
    duration: float = 0.0


class Core:
    """Client without areas."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        ca_file: Optional[str] = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        app_info: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
        on_request: Optional[Callable[[Log], None]] = None,
        on_response: Optional[Callable[[Log], None]] = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._key = api_key or os.environ.get("PAMOJA_API_KEY")
        self.base_url = (base_url or os.environ.get("PAMOJA_BASE_URL") or "https://localhost:8443").rstrip("/")
        self._transport = Transport(self.base_url, ca_file or os.environ.get("PAMOJA_CA_FILE"))
        self._timeout = timeout
        self._max_retries = max_retries
        self._own_headers = dict(headers or {})
        if app_info:
            self._own_headers["pamoja-client"] = app_info
        self._on_request = on_request
        self._on_response = on_response
        self.sleep = sleep

    def close(self) -> None:
        self._transport.close()

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Any,
        options: Optional[RequestOptions],
        *,
        is_long: bool = False,
        more: Optional[Mapping[str, str]] = None,
    ) -> Tuple[Reply, bytes]:
        """Gives the answer when it is no refusal, with its bytes unless it is long."""
        options = options or RequestOptions()
        sent, content_type = encoded(body)
        headers = self._headers(method, content_type, options, more)
        key = headers.get("idempotency-key")
        retries = self._max_retries if options.max_retries is None else options.max_retries
        paused = 0.0
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._once(method, path + query_of(query), headers, sent, options, wait_of(query), attempt, is_long)
            except PamojaError as error:
                error.idempotency_key = key
                in_progress = error.code == "REQUEST_IN_PROGRESS" and paused < _MAX_IN_PROGRESS and retries > 0
                if (attempt > retries and not in_progress) or not _may_try_again(error):
                    raise
                pause = pause_of(error.retry_after, attempt)
            paused += pause
            self.sleep(pause)

    def _once(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Any,
        options: RequestOptions,
        wait: float,
        attempt: int,
        is_long: bool,
    ) -> Tuple[Reply, bytes]:
        timeout = (self._timeout if options.timeout is None else options.timeout) + wait
        url = self.base_url + target
        visible = {name: value for name, value in headers.items() if name != "authorization"}
        if self._on_request:
            self._on_request(Log(method, url, attempt, visible))
        started = time.monotonic()

        def tell(status: int, request_id: str) -> None:
            log = Log(method, url, attempt, visible, status, request_id, time.monotonic() - started)
            if self._on_response:
                self._on_response(log)
            if os.environ.get("PAMOJA_LOG") == "debug":
                print("pamoja: %s %s %s %.0f ms, attempt %d %s" % (method, url, status or "unanswered", log.duration * 1000, attempt, request_id), file=sys.stderr)

        try:
            reply = self._transport.send(method, target, headers, body, timeout)
            if 200 <= reply.status < 300 and is_long:
                tell(reply.status, reply.headers.get("x-request-id", ""))
                return reply, b""
            data = reply.read()
        except (OSError, HTTPException, socket.timeout) as cause:
            tell(0, "")
            raise unanswered(cause, timeout, None) from cause
        tell(reply.status, reply.headers.get("x-request-id", ""))
        if 200 <= reply.status < 300:
            return reply, data
        raise refusal_of(reply.status, reply.headers, data, None)

    def _headers(
        self, method: str, content_type: Optional[str], options: RequestOptions, more: Optional[Mapping[str, str]]
    ) -> Dict[str, str]:
        headers = {
            "accept": "application/json",
            "pamoja-envelope": "data",
            "user-agent": "pamoja-python/%s python/%d.%d %s" % (VERSION, sys.version_info[0], sys.version_info[1], platform.system().lower()),
        }
        if self._key:
            headers["authorization"] = "Bearer " + self._key
        # A file is sent without a key: the server keeps none to compare, and the same one may be sent again.
        key = options.idempotency_key or (None if content_type == "text/csv" else str(uuid.uuid4()))
        if method in _CHANGING and key:
            headers["idempotency-key"] = key
        if content_type:
            headers["content-type"] = content_type
        headers.update(self._own_headers)
        headers.update(more or {})
        headers.update({name.lower(): value for name, value in (options.headers or {}).items()})
        return headers


def _may_try_again(error: PamojaError) -> bool:
    if error.retry_after is not None and error.retry_after > _MAX_RETRY_AFTER:
        return False
    return error.status == 0 or error.status in _RETRIED or error.code == "REQUEST_IN_PROGRESS"


def pause_of(retry_after: Optional[float], attempt: int) -> float:
    """A pause of at most 0.5 s, doubling to 8 s; never shorter than the server asks for."""
    return max(min(_MAX_PAUSE, _FIRST_PAUSE * 2 ** (attempt - 1)) * random.random(), retry_after or 0.0)


def path_of(template: str, **names: str) -> str:
    """Path with its names filled in. Nothing that is filled in leads to another path."""
    for name, value in names.items():
        if value in ("", ".", "..") or value is None:
            raise ValueError("%s must be given for %s" % (name, template))
        template = template.replace("{%s}" % name.rstrip("_"), quote(str(value), safe=""))
    return template


def wait_of(query: Mapping[str, Any]) -> float:
    """Time that the server was asked to take."""
    wait = query.get("wait")
    return float(wait) if isinstance(wait, (int, float)) else 0.0


def query_of(query: Mapping[str, Any]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        if value is UNSET or value is None or value == "":
            continue
        if isinstance(value, (list, tuple)):
            pairs.append((name, ",".join(_plain(one) for one in value)))
        elif isinstance(value, Mapping):
            pairs.extend(("%s[%s]" % (name, part), _plain(one)) for part, one in value.items())
        else:
            pairs.append((name, _plain(value)))
    return "?" + urlencode(pairs) if pairs else ""


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _time(value) if isinstance(value, datetime) else str(value)


def _time(value: datetime) -> str:
    aware = value if value.tzinfo else value.astimezone()
    return aware.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time(value)
    if hasattr(value, "to_json"):
        return value.to_json()
    raise TypeError("%s cannot be sent as JSON" % type(value).__name__)


def encoded(body: Any) -> Tuple[Any, Optional[str]]:
    """Bytes of a body, and their type: CSV for a text, a form when there is a file in it, JSON else."""
    if body is None:
        return None, None
    if isinstance(body, str):
        return body.encode(), "text/csv"
    given = {name: value for name, value in body.items() if value is not UNSET}
    if any(_is_file(value) for value in given.values()):
        return _form(given)
    return json.dumps(given, default=_json).encode(), "application/json"


def _is_file(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_is_file(one) for one in value)
    return isinstance(value, (bytes, File)) or hasattr(value, "read")


def _form(given: Mapping[str, Any]) -> Tuple[bytes, str]:
    boundary = uuid.uuid4().hex
    parts: List[bytes] = []
    for name, value in given.items():
        for one in value if isinstance(value, (list, tuple)) and _is_file(value) else [value]:
            parts.append(b"--" + boundary.encode() + b"\r\n" + _part(name, one) + b"\r\n")
    return b"".join(parts) + b"--" + boundary.encode() + b"--\r\n", "multipart/form-data; boundary=" + boundary


def _part(name: str, value: Any) -> bytes:
    if not _is_file(value):
        text = value if isinstance(value, str) else json.dumps(value, default=_json)
        return ('content-disposition: form-data; name="%s"\r\n\r\n' % name).encode() + text.encode()
    file = value if isinstance(value, File) else File(value, os.path.basename(str(getattr(value, "name", "file"))))
    data = file.data if isinstance(file.data, bytes) else file.data.read()
    safe = file.name.replace('"', "%22").replace("\r", "").replace("\n", "")
    head = 'content-disposition: form-data; name="%s"; filename="%s"\r\ncontent-type: %s\r\n\r\n' % (name, safe, file.content_type)
    return head.encode() + data
