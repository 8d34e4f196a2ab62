# SPDX-License-Identifier: Apache-2.0
"""Pays several people in one request. Run it again with the same name, and nobody is paid twice.

    python3 examples/python/pay_out_a_batch.py salaries-2026-05
"""
import sys
import time

from pamoja import call

name = sys.argv[1] if len(sys.argv) > 1 else f"salaries-{int(time.time())}"
# In the sandbox the last digits decide: 0001 is paid, 0004 has no account.
items = [
    {"phone": "+254700000001", "amount": 120, "recipient": {"name": "Asha"}, "reference": f"{name}/asha"},
    {"phone": "+254700000004", "amount": 80, "recipient": {"name": "Baraka"}, "reference": f"{name}/baraka"},
]

batch = call("POST", "/v1/payments/payout/bulk", {"currency": "KES", "items": items}, name)
print(f"{batch['batch_id']}: KES {batch['total_amount']} for {batch['total_count']} "
      f"and KES {batch['total_fee']} of fees are held", flush=True)

# The event `payout.batch_completed` tells of the end too.
path = f"/v1/payments/payout/bulk/{batch['batch_id']}"
while (state := call("GET", path))["status"] != "completed":
    time.sleep(0.5)
for payout in state["payouts"]:
    why = f" ({payout['failure_reason']})" if payout["failure_reason"] else ""
    print(f"{payout['reference']}: KES {payout['amount']} {payout['status']}{why}")
