# SPDX-License-Identifier: Apache-2.0
"""Errors of the client: a class for each kind of refusal, all with what the server said."""
from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Dict, List, Mapping, Optional, Type


class PamojaError(Exception):
    """A refusal of the server; `code` is what a program decides by."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
        retry_after: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        told = body.get("error") if isinstance(body, dict) else None
        error: Dict[str, Any] = told if isinstance(told, dict) else {}
        self.message = message
        #: HTTP status; 0 when there was no answer.
        self.status = status
        self.code = code
        #: The error as it came, with whatever else a code brings.
        self.error = error
        #: What exactly was wrong, in the server's words.
        self.details: str = str(error.get("details") or "")
        self.fields: List[Dict[str, str]] = error.get("fields") or []
        self.headers: Mapping[str, str] = headers or {}
        self.request_id: str = str(error.get("request_id") or self.headers.get("x-request-id", ""))
        #: Page of the documentation about the code.
        self.doc_url: str = str(error.get("doc_url") or "")
        #: Seconds after which the server wants to be asked again.
        self.retry_after = retry_after
        self.body = body
        #: Key that was sent: the same call with it does nothing twice.
        self.idempotency_key = idempotency_key


class BadRequestError(PamojaError):
    pass


class AuthenticationError(PamojaError):
    pass


class InsufficientBalanceError(PamojaError):
    pass


class PermissionDeniedError(PamojaError):
    pass


class NotFoundError(PamojaError):
    pass


class ConflictError(PamojaError):
    pass


class ValidationError(PamojaError):
    pass


class RateLimitError(PamojaError):
    pass


class ServerError(PamojaError):
    pass


class ConnectionFailedError(PamojaError):
    """Nothing answered: no connection, or one that broke."""


class TimedOutError(ConnectionFailedError):
    """Nothing answered in time."""


_KINDS: Dict[int, Type[PamojaError]] = {
    401: AuthenticationError,
    402: InsufficientBalanceError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitError,
}


def refusal_of(status: int, headers: Mapping[str, str], data: bytes, key: Optional[str]) -> PamojaError:
    """Error for an answer that is a refusal. What is no answer of this API has the code HTTP_<status>."""
    text = data.decode("utf-8", "replace")
    try:
        body: Any = json.loads(text) if text else None
    except ValueError:
        body = text
    error = body.get("error") if isinstance(body, dict) else None
    is_ours = isinstance(error, dict) and isinstance(error.get("code"), str)
    code = error["code"] if is_ours else "HTTP_%d" % status
    words = (error.get("details") or error.get("message") or code) if is_ours else None
    kind = _KINDS.get(status) or (ServerError if status >= 500 else BadRequestError)
    return kind(
        str(words or "The server answered %d with something that is no answer of this API" % status),
        status=status,
        code=code,
        body=body,
        headers=headers,
        retry_after=seconds_of(headers.get("retry-after")),
        idempotency_key=key,
    )


def unanswered(cause: BaseException, timeout: float, key: Optional[str]) -> PamojaError:
    """Error for a request that nobody answered."""
    if isinstance(cause, TimeoutError) or "timed out" in str(cause):
        words = "the server did not answer within %g s" % timeout
        return TimedOutError(words, status=0, code="TIMEOUT", idempotency_key=key)
    words = "the server could not be reached: %s" % (cause or type(cause).__name__)
    return ConnectionFailedError(words, status=0, code="UNREACHABLE", idempotency_key=key)


def seconds_of(text: Optional[str]) -> Optional[float]:
    """Seconds of a Retry-After, which is a number or a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
