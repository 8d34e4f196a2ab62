# SPDX-License-Identifier: Apache-2.0
"""Call flows, USSD menus and screens, written down step by step: `Flow().talk("Habari").input(maxDigits=1)`."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["Flow", "Menu", "ussd_ask", "ussd_end", "ussd_menu"]


class Flow:
    """Actions of a call, in order: answer with `actions`, or give them to `voice.create_call`."""

    def __init__(self, actions: Sequence[Dict[str, Any]] = ()) -> None:
        self.actions: List[Dict[str, Any]] = list(actions)

    def add(self, action: str, **fields: Any) -> "Flow":
        """Any action, by its name."""
        return Flow([*self.actions, {"action": action, **fields}])

    def talk(self, text: str, **fields: Any) -> "Flow":
        """Speaks; `language` such as `sw-KE`."""
        return self.add("talk", text=text, **fields)

    def play(self, url: Union[str, Sequence[str]], **fields: Any) -> "Flow":
        """Plays a file, the first of these that works."""
        return self.add("stream", streamUrl=[url] if isinstance(url, str) else list(url), **fields)

    def input(self, **fields: Any) -> "Flow":
        """Takes keys, or speech."""
        return self.add("input", **{"type": ["dtmf"], **fields})

    def record(self, **fields: Any) -> "Flow":
        return self.add("record", **fields)

    def connect(self, to: Union[str, Sequence[Dict[str, Any]]], **fields: Any) -> "Flow":
        """Rings a phone number, or endpoints of which the first that answers wins."""
        endpoint = [{"type": "phone", "number": to}] if isinstance(to, str) else list(to)
        return self.add("connect", endpoint=endpoint, **fields)

    def wait(self, seconds: int) -> "Flow":
        return self.add("wait", timeout=seconds)

    def hangup(self, reason: str = "") -> "Flow":
        return self.add("hangup", **({"reason": reason} if reason else {}))

    def to_json(self) -> List[Dict[str, Any]]:
        return self.actions


Words = Union[str, Mapping[str, str]]


class Menu:
    """Stored USSD menu, screen by screen; the first is the start: `pamoja.ussd.create_menu(**menu.to_json())`."""

    def __init__(
        self,
        name: str,
        languages: Optional[Sequence[str]] = None,
        start: str = "",
        nodes: Optional[Mapping[str, Dict[str, Any]]] = None,
    ) -> None:
        self.name = name
        self.languages = languages
        self.start = start
        self.nodes: Dict[str, Dict[str, Any]] = dict(nodes or {})

    def add(self, screen: str, **fields: Any) -> "Menu":
        """Any screen, by its fields."""
        return Menu(self.name, self.languages, self.start or screen, {**self.nodes, screen: fields})

    def choose(self, screen: str, text: Words, options: Sequence[Tuple[Words, str]]) -> "Menu":
        """Screen with a numbered choice: the label, and the screen that it leads to."""
        return self.add(screen, text=text, options=[{"label": label, "next": to} for label, to in options])

    def ask(self, screen: str, text: Words, save: str, next: str, **rule: Any) -> "Menu":
        """Screen that takes what is typed, known as `{{data.<save>}}` from then on; `pattern` and `error` are its rule."""
        return self.add(screen, text=text, input={"save": save, **rule}, next=next)

    def fetch(self, screen: str, url: str, **fields: Any) -> "Menu":
        """Screen for which your application is asked first, by POST."""
        return self.add(screen, fetch={"url": url}, **fields)

    def end(self, screen: str, text: Words, **fields: Any) -> "Menu":
        """Last screen; `sms` texts the subscriber, `pay` asks the phone for money."""
        return self.add(screen, text=text, end=True, **fields)

    def to_json(self) -> Dict[str, Any]:
        languages = {} if self.languages is None else {"languages": list(self.languages)}
        return {"name": self.name, **languages, "start": self.start, "nodes": self.nodes}


def ussd_ask(message: str) -> str:
    """Screen that wants an answer, of a shortcode in the mode `text`."""
    return "CON " + message


def ussd_menu(title: str, choices: Sequence[str]) -> str:
    """Screen with a numbered choice."""
    return "CON " + "\n".join([title, *("%d %s" % (index, choice) for index, choice in enumerate(choices, 1))])


def ussd_end(message: str) -> str:
    """Last screen."""
    return "END " + message
