# SPDX-License-Identifier: Apache-2.0
"""What every program here needs: requests that may be repeated safely, and a place to be called back.

Nothing but the standard library.
"""
import hashlib
import hmac
import json
import os
import queue
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The platform writes these down when it starts. Elsewhere, take them from your own settings.
path = os.path.join(os.environ.get("PAMOJA_HOME", ".pamoja"), "credentials.json")
if not os.path.exists(path):
    sys.exit(f"There is no {path} yet: start the platform first, with npm start.")
with open(path) as file:
    credentials = json.load(file)
tls = ssl.create_default_context(cafile=credentials["ca_file"])
TRIES = 4


class Refused(Exception):
    """The platform said no; the message says what to do."""


def call(method, path, body=None, idempotency_key=None):
    """One call of the API. With a key of its own it happens once, however often it has to be asked."""
    headers = {"Authorization": f"Bearer {credentials['api_key']}", "Content-Type": "application/json"}
    if method != "GET":
        headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    for failures in range(1, TRIES + 1):
        request = urllib.request.Request(f"{credentials['base_url']}/api{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=tls, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as answer:
            error = json.load(answer)["error"]
            is_worth_repeating = answer.code == 429 or answer.code >= 500
            if not is_worth_repeating or failures == TRIES:
                raise Refused(f"{error['code']}: {error['message']} ({error['details']})") from None
        except urllib.error.URLError as error:
            if failures == TRIES and isinstance(error.reason, ConnectionRefusedError):
                sys.exit(f"Nobody answers at {credentials['base_url']}: start the platform first, with npm start.")
            if failures == TRIES:
                raise
        time.sleep(0.5 * 2**failures)


def is_from_pamoja(raw_body, headers, secret):
    """Whether a request comes from the platform: compare before you parse."""
    expected = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, headers.get("X-Service-Signature", ""))


class Callbacks:
    """A server that takes callbacks. `until` gives the first event that is as you want it."""

    def __init__(self):
        self.events = queue.Queue()
        secret = call("GET", "/v1/webhooks/callback-secret")["secret"]
        events = self.events

        class Receiver(BaseHTTPRequestHandler):
            def do_POST(self):
                raw_body = self.rfile.read(int(self.headers["Content-Length"]))
                is_genuine = is_from_pamoja(raw_body, self.headers, secret)
                # Answer first, work afterwards: what is not answered within five seconds is sent again.
                self.send_response(200 if is_genuine else 401)
                self.end_headers()
                if is_genuine:
                    events.put(json.loads(raw_body))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("localhost", 0), Receiver)
        self.url = f"http://localhost:{self.server.server_port}/called"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def until(self, is_wanted):
        while True:
            event = self.events.get()
            if is_wanted(event):
                self.server.shutdown()
                return event
