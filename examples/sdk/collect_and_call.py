# SPDX-License-Identifier: Apache-2.0
"""Collects mobile money, waits until the payer has decided, and calls to say thank you.

    python3 collect_and_call.py +254700000001 200
"""
import sys

from pamoja import Pamoja, PamojaError
from pamoja.flows import Flow

pamoja = Pamoja()
phone, amount = [*sys.argv[1:], *["+254700000001", "200"][len(sys.argv) - 1:]]

try:
    payment_id = pamoja.payments.create(amount=int(amount), currency="KES", phone=phone)["payment_id"]
    payment = pamoja.payments.wait(payment_id)
    if payment["status"] == "completed":
        flow = Flow().talk("Asante sana. We got your payment.", language="en-KE").hangup()
        call = pamoja.voice.create_call(to="+254711000020", from_="+254700000000", actions=flow.actions)
        print("Paid, and %s says thank you" % call["call_id"][:5])
    else:
        print("Not paid: %s" % payment["failure_reason"])
except PamojaError as error:
    print("Refused: %s" % error.code)
