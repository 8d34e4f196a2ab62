# SPDX-License-Identifier: Apache-2.0
"""A test as a user writes it with the testing helpers; settings come from the environment. The same as helpers.mjs."""
import json
from datetime import timedelta

from pamoja import Pamoja
from pamoja.testing import Sandbox

pamoja = Pamoja()
sandbox = Sandbox(pamoja)
ada = sandbox.phone("+254711000062")
pamoja.sms.send(to=ada.number, from_="PAMOJA", message="Habari Ada")
message = ada.wait_for_text("Ada")["message"]
otp_id = pamoja.identity.send_otp(phone=ada.number)["otp_id"]
verified = pamoja.identity.verify_otp(otp_id=otp_id, code=ada.wait_for_code())["status"]
ada.pays_by_hand()
payment_id = pamoja.payments.create(amount=100, currency="KES", phone=ada.number)["payment_id"]
ada.approve()
paid = pamoja.payments.wait(payment_id)["status"]
before = sandbox.now()
ahead = sandbox.advance(3600) - before >= timedelta(hours=1)
print(json.dumps({"message": message, "verified": verified, "paid": paid, "ahead": ahead}))
