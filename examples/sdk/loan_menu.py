# SPDX-License-Identifier: Apache-2.0
"""Stores a USSD menu in two languages, gives it a code, and walks through it with a phone of the sandbox.

    python3 loan_menu.py '*384*78#'
"""
import sys

from pamoja import Pamoja
from pamoja.flows import Menu
from pamoja.testing import Sandbox

pamoja = Pamoja()
shortcode = sys.argv[1] if len(sys.argv) > 1 else "*384*78#"

menu = (
    Menu("Loans", ["en", "sw"])
    .choose("home", {"en": "Welcome", "sw": "Karibu"}, [
        ({"en": "Loan", "sw": "Mkopo"}, "amount"),
        ({"en": "Nothing", "sw": "Hapana"}, "bye"),
    ])
    .ask("amount", {"en": "How much?", "sw": "Kiasi?"}, "amount", "done", pattern=r"^\d+$")
    .end("done", {"en": "You asked for {{data.amount}}", "sw": "Umeomba {{data.amount}}"})
    .end("bye", {"en": "Goodbye", "sw": "Kwaheri"})
)
menu_id = pamoja.ussd.create_menu(**menu.to_json())["id"]
pamoja.ussd.create_shortcode(shortcode=shortcode, mode="menu", menu_id=menu_id)

screen = Sandbox(pamoja).phone("+254711000072").dial(shortcode)
print(screen.message.split("\n")[0])
screen = screen.answer("1")
print(screen.message)
screen = screen.answer("500")
print(screen.message)
