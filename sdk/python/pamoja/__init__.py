# SPDX-License-Identifier: Apache-2.0
"""Pamoja from Python: one client with the areas of the API on it.

    pamoja = Pamoja()
    text = pamoja.sms.send(to="+254711000001", from_="PAMOJA", message="Habari")
"""
from __future__ import annotations

from typing import Any

from . import webhooks
from ._areas import Areas
from ._async_areas import AsyncAreas
from ._call import AsyncListing, AsyncMessages, Download, Listing, Message, Messages
from ._core import UNSET, Answer, Core, File, Log, RequestOptions, ResponseInfo
from ._errors import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailedError,
    InsufficientBalanceError,
    NotFoundError,
    PamojaError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TimedOutError,
    ValidationError,
)
from ._version import VERSION as __version__

__all__ = [
    "UNSET", "Answer", "AsyncListing", "AsyncMessages", "AsyncPamoja", "AuthenticationError", "BadRequestError",
    "ConflictError", "ConnectionFailedError", "Download", "File", "InsufficientBalanceError", "Listing", "Log", "Message",
    "Messages", "NotFoundError", "Pamoja", "PamojaError", "PermissionDeniedError", "RateLimitError", "RequestOptions",
    "ResponseInfo", "ServerError", "TimedOutError", "ValidationError", "__version__", "webhooks",
]  # fmt: skip


class Pamoja(Areas):
    """Client of the API. Options: api_key, base_url, ca_file, timeout, max_retries, app_info, headers, on_request, on_response.

    `PAMOJA_API_KEY`, `PAMOJA_BASE_URL` and `PAMOJA_CA_FILE` stand in for the first three.
    """

    def __init__(self, **options: Any) -> None:
        self._core = Core(**options)
        super().__init__(self._core)

    def close(self) -> None:
        self._core.close()

    def __enter__(self) -> "Pamoja":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class AsyncPamoja(AsyncAreas):
    """The same client for asyncio."""

    def __init__(self, **options: Any) -> None:
        self._core = Core(**options)
        super().__init__(self._core)

    async def close(self) -> None:
        self._core.close()

    async def __aenter__(self) -> "AsyncPamoja":
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._core.close()
