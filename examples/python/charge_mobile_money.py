# SPDX-License-Identifier: Apache-2.0
"""Asks a phone for money and waits for the signed callback that says how it went.

    python3 examples/python/charge_mobile_money.py +254700000001 1500
"""
import sys

from pamoja import Callbacks, call

phone = sys.argv[1] if len(sys.argv) > 1 else "+254700000001"
amount = float(sys.argv[2]) if len(sys.argv) > 2 else 1500
callbacks = Callbacks()

payment = call("POST", "/v1/payments", {
    "amount": amount,
    "currency": "KES",
    "phone": phone,
    "description": "Order 77",
    "metadata": {"order": "77"},
    "callback_url": callbacks.url,
})
payment_id = payment["payment_id"]
print(f"{payment_id} is {payment['status']}: the payer is asked by {payment['provider']}", flush=True)

ends = ("payment.completed", "payment.failed")
told = callbacks.until(lambda event: event["payment_id"] == payment_id and event["event"] in ends)

if told["event"] == "payment.completed":
    paid = call("GET", f"/v1/payments/{payment_id}")
    print(f"Paid: {paid['currency']} {paid['net_amount']} after fees is in the wallet, "
          f"receipt {paid['provider_reference']}.")
else:
    print(f"Not paid: {told['failure_reason']}.")
