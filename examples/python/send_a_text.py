# SPDX-License-Identifier: Apache-2.0
"""Sends a text and waits for the signed callback that says what became of it.

    python3 examples/python/send_a_text.py +254711000001
"""
import sys

from pamoja import Callbacks, call

to = sys.argv[1] if len(sys.argv) > 1 else "+254711000001"
callbacks = Callbacks()
print(f"Listening at {callbacks.url}", flush=True)

text = call("POST", "/v1/sms/send", {
    "to": to,
    "from": "PAMOJA",
    "message": "Habari! Your order is on its way.",
    "callback_url": callbacks.url,
})
print(f"{text['message_id']} to {text['to']} costs {text['currency']} {text['cost']}", flush=True)

told = callbacks.until(
    lambda event: event["message_id"] == text["message_id"] and event["status"] not in ("queued", "sent")
)
print("It is delivered." if told["status"] == "delivered" else f"It has {told['status']}: {told['error_code']}.")
