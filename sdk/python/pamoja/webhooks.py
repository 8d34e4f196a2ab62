# SPDX-License-Identifier: Apache-2.0
"""Webhooks that were received: checked. No client is needed, so that a receiver needs no key.

Signatures are those of Standard Webhooks, which cover the time: base64 HMAC-SHA256 of `id.timestamp.body`.
"""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
import uuid
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from . import _times
from ._call import revived

__all__ = ["WebhookVerificationError", "sign", "verify"]


class WebhookVerificationError(Exception):
    """A request that is not to be trusted; `reason` is no_header, too_old, wrong_signature or not_raw."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def verify(
    raw_body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> Dict[str, Any]:
    """Event of a request, when it was signed with the secret (or one of several) and is not old."""
    if not isinstance(raw_body, (bytes, str)):
        raise WebhookVerificationError(
            "not_raw", "Give the raw body, as bytes or text: a parsed one cannot be checked (in Flask, request.get_data())"
        )
    given = {name.lower(): value for name, value in headers.items()}
    id, at, signatures = (given.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not id or not at or not signatures:
        raise WebhookVerificationError("no_header", "The request lacks webhook-id, webhook-timestamp or webhook-signature")
    try:
        age = abs((time.time() if now is None else now) - float(at))
    except ValueError:
        age = float("inf")
    if not age <= tolerance:
        raise WebhookVerificationError("too_old", "The request was signed at %s, more than %g s from now" % (at, tolerance))
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    for one in [secret] if isinstance(secret, str) else secret:
        expected = _signature(one, id, at, body)
        for signature in signatures.split(" "):
            if hmac.compare_digest(signature.encode(), expected.encode()):
                event = json.loads(body)
                return revived(event, _times.EVENTS.get(event.get("event"), ("timestamp",)))
    raise WebhookVerificationError("wrong_signature", "The request was not signed with this secret")


def sign(body: Union[bytes, str], secret: str, *, id: Optional[str] = None, timestamp: Optional[int] = None) -> Dict[str, str]:
    """Headers of a request as the server would sign it, to try a receiver with."""
    id = id or "evt_" + uuid.uuid4().hex
    at = str(int(time.time()) if timestamp is None else timestamp)
    data = body.encode() if isinstance(body, str) else body
    return {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": _signature(secret, id, at, data)}


def _signature(secret: str, id: str, at: str, body: bytes) -> str:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error as error:
        raise ValueError("The secret is not one of a webhook: it begins with whsec_") from error
    if not key:
        raise ValueError("The secret is empty: anybody could sign with it")
    signed = ("%s.%s." % (id, at)).encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
