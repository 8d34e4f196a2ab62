# SPDX-License-Identifier: Apache-2.0
"""Calls of the areas: values, lists to walk, downloads and streams, for threads and for asyncio."""
from __future__ import annotations

import json
import time
from collections import OrderedDict
from datetime import datetime
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, TypeVar

from . import _times
from ._core import UNSET, Answer, Core, File, RequestOptions, ResponseInfo, path_of, pause_of
from ._errors import PamojaError
from ._transport import Reply, lines_of

__all__ = ["UNSET", "Area", "AsyncArea", "Download", "File", "Listing", "AsyncListing", "Messages", "AsyncMessages", "RequestOptions"]

T = TypeVar("T")
_UNFINISHED = {"pending", "processing", "requires_action"}
#: Three heartbeats of a stream.
_SILENCE = 45.0
_MAX_REMEMBERED = 10_000
_MAX_MESSAGE = 2 * 1024 * 1024


def value_in(gives: str, data: bytes, reply: Reply, times: Sequence[str]) -> Any:
    """Value of an answer: inside `data`, or beside `success` for what has a `data` of its own; times as datetime."""
    body = json.loads(data) if data else {}
    info = ResponseInfo(reply.status, reply.headers)
    if gives == "page":
        page = Answer(body)
        page["data"] = [revived(row, times) for row in body["data"]]
        page._response = info
        return page
    value = {name: one for name, one in body.items() if name != "success"} if gives == "flat" else body.get("data") or {}
    value = revived(value, times)
    if not isinstance(value, dict):
        return value
    answer = Answer(value)
    answer._response = info
    return answer


def revived(value: Any, paths: Sequence[str]) -> Any:
    """Value with the texts at these paths as datetime."""
    for path in paths:
        where, _, shape = path.partition(">")
        value = _walked(value, where.split(".") if where else [], shape)
    return value


def _walked(value: Any, steps: Sequence[str], shape: str) -> Any:
    if not steps:
        return revived(value, _times.SHAPES[shape]) if shape and isinstance(value, dict) else value if shape else _datetime(value)
    if steps[0] == "*":
        if isinstance(value, list):
            return [_walked(one, steps[1:], shape) for one in value]
        if isinstance(value, dict):
            return {name: _walked(one, steps[1:], shape) for name, one in value.items()}
    elif isinstance(value, dict) and steps[0] in value:
        return {**value, steps[0]: _walked(value[steps[0]], steps[1:], shape)}
    return value


def _datetime(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
    except ValueError:
        return value


class Listing(Generic[T]):
    """Rows of a list: walk it, or take a page or a list."""

    def __init__(self, ask: Callable[[Optional[str]], Any]) -> None:
        self._ask = ask

    def page(self, cursor: Optional[str] = None) -> Any:
        """One page: the first, or the one that `next_cursor` of another names."""
        return self._ask(cursor)

    def __iter__(self) -> Iterator[T]:
        cursor: Optional[str] = None
        while True:
            page = self._ask(cursor)
            yield from page["data"]
            if not page["has_more"] or page["next_cursor"] in (None, cursor):
                return
            cursor = page["next_cursor"]

    def to_list(self, *, limit: int) -> List[T]:
        """At most so many rows."""
        rows: List[T] = []
        for row in self:
            rows.append(row)
            if len(rows) >= limit:
                break
        return rows


class AsyncListing(Generic[T]):
    """Rows of a list, for `async for`."""

    def __init__(self, ask: Callable[[Optional[str]], Any]) -> None:
        self._ask = ask

    async def page(self, cursor: Optional[str] = None) -> Any:
        return await _in_thread(self._ask, cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        cursor: Optional[str] = None
        while True:
            page = await _in_thread(self._ask, cursor)
            for row in page["data"]:
                yield row
            if not page["has_more"] or page["next_cursor"] in (None, cursor):
                return
            cursor = page["next_cursor"]

    async def to_list(self, *, limit: int) -> List[T]:
        rows: List[T] = []
        async for row in self:
            rows.append(row)
            if len(rows) >= limit:
                break
        return rows


class Download:
    """Bytes of an answer, read as they come."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._response = ResponseInfo(reply.status, reply.headers)
        self.content_type = reply.headers.get("content-type", "")

    def read(self, size: Optional[int] = None) -> bytes:
        return self._reply.read(size)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            chunk = self._reply.read(65_536)
            if not chunk:
                return
            yield chunk

    def save(self, path: str) -> None:
        with open(path, "wb") as file:
            for chunk in self:
                file.write(chunk)

    def close(self) -> None:
        self._reply.close()


class Message(Generic[T]):
    """One message of a stream."""

    def __init__(self, id: str, event: str, data: T) -> None:
        self.id = id
        self.event = event
        self.data = data


class Messages(Generic[T]):
    """Messages as they come. A stream that breaks goes on after the last one, and tells none twice."""

    def __init__(self, core: Core, path: str, query: Mapping[str, Any], times: Sequence[str], options: Optional[RequestOptions]) -> None:
        self._core = core
        self._given = (path, query, times, options or RequestOptions())
        self._reply: Optional[Reply] = None
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True
        if self._reply:
            self._reply.close()

    def __iter__(self) -> Iterator[Message[T]]:
        path, query, times, options = self._given
        told: "OrderedDict[str, None]" = OrderedDict()
        last_id = ""
        failures = 0
        patient = RequestOptions(timeout=_SILENCE, max_retries=options.max_retries, headers=options.headers)
        while not self._is_closed:
            more = {"accept": "text/event-stream"}
            if last_id:
                more["last-event-id"] = last_id
            try:
                self._reply, _ = self._core.ask("GET", path, query, None, patient, is_long=True, more=more)
                for message in _parsed(lines_of(self._reply)):
                    failures = 0
                    last_id = message["id"]
                    if message["data"] == "" or last_id in told:
                        continue
                    told[last_id] = None
                    if len(told) > _MAX_REMEMBERED:
                        told.popitem(last=False)
                    yield Message(last_id, message["event"], revived(json.loads(message["data"]), times))
            except PamojaError as error:
                if 400 <= error.status < 500 and error.status != 429:
                    raise
            except (OSError, ValueError, AttributeError):
                if self._is_closed:
                    return
            finally:
                if self._reply:
                    self._reply.close()
            failures += 1
            self._core.sleep(pause_of(None, failures))


def _parsed(lines: Iterator[str]) -> Iterator[Dict[str, str]]:
    message = {"id": "", "event": "", "data": ""}
    for line in lines:
        if line == "":
            if message["id"]:
                yield message
            message = {"id": "", "event": "", "data": ""}
            continue
        field, _, text = line.partition(":")
        text = text[1:] if text.startswith(" ") else text
        if field in ("id", "event"):
            message[field] = text
        elif field == "data":
            message["data"] += text if message["data"] == "" else "\n" + text
        if len(message["data"]) > _MAX_MESSAGE:
            raise ValueError("a message of the stream is too long")


class AsyncMessages(Generic[T]):
    """Messages as they come, for `async for`."""

    def __init__(self, messages: Messages[T]) -> None:
        self._messages = messages

    def close(self) -> None:
        self._messages.close()

    async def __aiter__(self) -> AsyncIterator[Message[T]]:
        messages = iter(self._messages)
        end = object()
        try:
            while True:
                message: Any = await _in_thread(next, messages, end)
                if message is end:
                    return
                yield message
        finally:
            self._messages.close()


class Area:
    """Area of a client."""

    def __init__(self, core: Core) -> None:
        self._core = core

    _path = staticmethod(path_of)

    def _call(self, method: str, path: str, query: Any, body: Any, gives: str, times: Sequence[str], options: Any) -> Any:
        reply, data = self._core.ask(method, path, query, body, options)
        return value_in(gives, data, reply, times)

    def _list(self, method: str, path: str, query: Any, body: Any, gives: str, times: Sequence[str], options: Any) -> Any:
        return Listing(lambda cursor: self._call(method, path, _at(query, cursor), body, gives, times, options))

    def _stream(self, method: str, path: str, query: Any, body: Any, gives: str, times: Sequence[str], options: Any) -> Any:
        return Messages(self._core, path, query, times, options)

    def _download(self, method: str, path: str, query: Any, body: Any, gives: str, times: Sequence[str], options: Any) -> Any:
        reply, _ = self._core.ask(method, path, query, body, options, is_long=True, more={"accept": "*/*"})
        return Download(reply)

    def _wait(self, get: Callable[..., Any], id: str, within: float, options: Any) -> Any:
        until = time.monotonic() + within
        while True:
            left = until - time.monotonic()
            thing = get(id, wait=int(max(0, min(30, left + 0.999))), request_options=options)
            if thing["status"] not in _UNFINISHED or time.monotonic() >= until:
                return thing


class AsyncArea:
    """Area of a client for asyncio: each request runs in a thread of the loop's pool."""

    def __init__(self, core: Core) -> None:
        self._area = Area(core)

    _path = staticmethod(path_of)

    async def _call(self, *given: Any) -> Any:
        return await _in_thread(self._area._call, *given)

    def _list(self, method: str, path: str, query: Any, body: Any, gives: str, times: Sequence[str], options: Any) -> Any:
        return AsyncListing(lambda cursor: self._area._call(method, path, _at(query, cursor), body, gives, times, options))

    def _stream(self, *given: Any) -> Any:
        return AsyncMessages(self._area._stream(*given))

    async def _download(self, *given: Any) -> Any:
        return await _in_thread(self._area._download, *given)

    async def _wait(self, get: Callable[..., Awaitable[Any]], id: str, within: float, options: Any) -> Any:
        until = time.monotonic() + within
        while True:
            left = until - time.monotonic()
            thing = await get(id, wait=int(max(0, min(30, left + 0.999))), request_options=options)
            if thing["status"] not in _UNFINISHED or time.monotonic() >= until:
                return thing


def _at(query: Mapping[str, Any], cursor: Optional[str]) -> Mapping[str, Any]:
    return query if cursor is None else {**query, "cursor": cursor}


async def _in_thread(work: Callable[..., Any], *given: Any) -> Any:
    """What work gives, in a thread of the loop's pool. Loading asyncio takes longer than all else: only who uses it does."""
    import asyncio

    return await asyncio.to_thread(work, *given)
