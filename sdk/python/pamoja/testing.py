# SPDX-License-Identifier: Apache-2.0
"""Testing helpers for any test runner: phones, mailboxes, payers, a place for webhooks and the clock of the sandbox.

They work with a test key. What is waited for is asked for again until it is there, or the time is over.
"""
from __future__ import annotations

import json
import re
import time
from datetime import datetime
from typing import Any, Callable, Dict, List, Optional, TypeVar, cast

from . import Download, Pamoja

__all__ = ["Hook", "Mailbox", "Phone", "PhoneCall", "Sandbox", "UssdScreen"]

T = TypeVar("T")
_PAUSE = 0.2
_OVER = {"completed", "failed", "busy", "rejected", "timeout"}


class Sandbox:
    def __init__(self, pamoja: Pamoja) -> None:
        self._pamoja = pamoja

    def phone(self, number: str) -> "Phone":
        """Phone of a person, by its number."""
        return Phone(self._pamoja, number)

    def mailbox(self, address: str) -> "Mailbox":
        """Mailbox of a person, by its address."""
        return Mailbox(self._pamoja, address)

    def hook(self, secret: Optional[str] = None) -> "Hook":
        """Address that keeps what it was sent; the secret lets it check signatures."""
        made = self._pamoja.sandbox.create_hook(**({"secret": secret} if secret else {}))
        return Hook(self._pamoja, made["id"], made["url"])

    def now(self) -> datetime:
        return self._pamoja.sandbox.clock()["now"]

    def advance(self, seconds: int) -> datetime:
        """Moves the time of the test account ahead; what is due then happens."""
        return self._pamoja.sandbox.advance_clock(advance_seconds=seconds)["now"]


class Phone:
    def __init__(self, pamoja: Pamoja, number: str) -> None:
        self._pamoja = pamoja
        self.number = number

    def texts(self, limit: int = 20) -> List[Dict[str, Any]]:
        """Texts on the phone, newest first."""
        return cast(List[Dict[str, Any]], self._pamoja.sandbox.handset(phone=self.number).to_list(limit=limit))

    def wait_for_text(self, pattern: str = ".", within: float = 30) -> Dict[str, Any]:
        """The newest text that arrived and fits."""
        return _until(
            lambda: next((t for t in self.texts() if t["direction"] == "received" and re.search(pattern, t["message"] or "")), None),
            "a text to " + self.number,
            within,
        )

    def wait_for_code(self, within: float = 30) -> str:
        """Digits of the newest code that arrived."""
        found = re.search(r"\d{4,10}", self.wait_for_text(r"\d{4,10}", within)["message"])
        return found.group() if found else ""

    def text(self, to: str, message: str) -> None:
        """Writes a text to one of your numbers."""
        self._pamoja.sandbox.sms_inbound(from_=self.number, to=to, message=message)

    def dial(self, shortcode: str) -> "UssdScreen":
        """Dials a USSD code."""
        return UssdScreen(self._pamoja, self._pamoja.sandbox.ussd_dial(phone=self.number, shortcode=shortcode))

    def pays_by_hand(self) -> None:
        """Makes the payer answer prompts only when `approve` or `refuse` says so."""
        phones = self._pamoja.sandbox.payment_behaviour()["by_hand"]
        self._pamoja.sandbox.change_payment_behaviour(by_hand=sorted({*phones, self.number}))

    def wait_for_prompt(self, within: float = 30) -> Dict[str, Any]:
        """Prompt for money that waits on the phone."""
        return _until(
            lambda: next((p for p in self._pamoja.sandbox.list_prompts(phone=self.number).page()["data"] if p["status"] == "waiting"), None),
            "a prompt on " + self.number,
            within,
        )

    def approve(self, pin: str = "1234", within: float = 30) -> Dict[str, Any]:
        """Types the PIN into the prompt that waits."""
        prompt = self.wait_for_prompt(within)
        self._pamoja.sandbox.answer_prompt(prompt["payment_id"], decision="approve", pin=pin)
        return prompt

    def refuse(self, within: float = 30) -> Dict[str, Any]:
        prompt = self.wait_for_prompt(within)
        self._pamoja.sandbox.answer_prompt(prompt["payment_id"], decision="refuse")
        return prompt

    def call(self, to: str) -> "PhoneCall":
        """Calls one of your numbers."""
        return PhoneCall(self._pamoja, self._pamoja.sandbox.voice_inbound(from_=self.number, to=to)["call_id"])

    def wait_for_call(self, within: float = 30) -> "PhoneCall":
        """The newest call to the phone that is not over."""
        found = _until(
            lambda: next((c for c in self._pamoja.sandbox.voice_calls(phone=self.number).page()["data"] if c["status"] not in _OVER), None),
            "a call to " + self.number,
            within,
        )
        return PhoneCall(self._pamoja, found["call_id"])


class UssdScreen:
    """Screen of a USSD session."""

    def __init__(self, pamoja: Pamoja, screen: Any) -> None:
        self._pamoja = pamoja
        self._session_id = screen["session_id"]
        self.message: str = screen["message"] or ""
        #: Whether the screen can be answered.
        self.is_open: bool = screen["action"] == "continue"

    def answer(self, input: str) -> "UssdScreen":
        return UssdScreen(self._pamoja, self._pamoja.sandbox.ussd_input(session_id=self._session_id, input=input))

    def hang_up(self) -> None:
        self._pamoja.sandbox.ussd_cancel(session_id=self._session_id)


class PhoneCall:
    """Call of a phone in the sandbox."""

    def __init__(self, pamoja: Pamoja, id: str) -> None:
        self._pamoja = pamoja
        self.id = id

    def answer(self) -> None:
        self._pamoja.sandbox.voice_answer(self.id)

    def press(self, dtmf: str) -> None:
        self._pamoja.sandbox.voice_input(self.id, dtmf=dtmf)

    def say(self, speech: str) -> None:
        self._pamoja.sandbox.voice_input(self.id, speech=speech)

    def hang_up(self) -> None:
        self._pamoja.sandbox.voice_hangup(self.id)

    def heard(self) -> Download:
        """What the phone heard, as WAV."""
        return self._pamoja.sandbox.voice_heard(self.id)


class Mailbox:
    def __init__(self, pamoja: Pamoja, address: str) -> None:
        self._pamoja = pamoja
        self.address = address

    def wait_for_mail(self, subject: str = ".", within: float = 30) -> Dict[str, Any]:
        """The newest mail whose subject fits, with its text."""
        found = _until(
            lambda: next((m for m in self._pamoja.sandbox.list_emails(to=self.address).page()["data"] if re.search(subject, m["subject"])), None),
            "a mail to " + self.address,
            within,
        )
        return cast(Dict[str, Any], self._pamoja.sandbox.get_email(found["id"]))


class Hook:
    """Address of the sandbox that keeps what it was sent."""

    def __init__(self, pamoja: Pamoja, id: str, url: str) -> None:
        self._pamoja = pamoja
        self.id = id
        self.url = url

    def wait_for_request(self, event: Optional[str] = None, within: float = 30) -> Dict[str, Any]:
        """The newest request that told of an event, or any."""
        return _until(
            lambda: next(
                (r for r in self._pamoja.sandbox.list_hook_requests(self.id).page()["data"] if event is None or json.dumps(event) in r["body"]), None
            ),
            "a request to " + self.url,
            within,
        )


def _until(look: Callable[[], Optional[T]], what: str, within: float) -> T:
    until = time.monotonic() + within
    while True:
        found = look()
        if found is not None:
            return found
        if time.monotonic() > until:
            raise AssertionError("waited %g s in vain for %s" % (within, what))
        time.sleep(_PAUSE)
