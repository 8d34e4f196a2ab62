# SPDX-License-Identifier: Apache-2.0
"""Runs the cases with the Python SDK and prints what came of each, a line of JSON a case. The same as run.mjs and run.php."""
import asyncio
import json
import re
import sys
import uuid
from datetime import datetime

import pamoja as sdk
from pamoja import webhooks

given = json.load(sys.stdin)
is_async = len(sys.argv) > 1 and sys.argv[1] == "async"


def client_of(case, index, pauses):
    kind = sdk.AsyncPamoja if is_async else sdk.Pamoja
    if case.get("at") == "sandbox":
        return kind(base_url=given["sandbox"], api_key=given["key"])
    options = dict(case.get("client", {}))
    if "timeoutMs" in options:
        options["timeout"] = options.pop("timeoutMs") / 1000
    if "maxRetries" in options:
        options["max_retries"] = options.pop("maxRetries")
    url = given["nowhere"] if case.get("at") == "nowhere" else "%s/%d" % (given["bad"], index)
    return kind(base_url=url, api_key="pmj_test_of_the_cases", sleep=pauses.append, **options)


def snake(name):
    return re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def value_of(value):
    if value == "$fresh":
        return str(uuid.uuid4())
    if isinstance(value, dict) and "$file" in value:
        return sdk.File(value["$file"].encode(), value["name"], value["type"])
    return value


def call_of(client, call):
    area, verb = call["operation"].split(".")
    fields = {("from_" if name == "from" else name): value_of(value) for name, value in call.get("input", {}).items()}
    options = call.get("options")
    if options:
        fields["request_options"] = sdk.RequestOptions(
            idempotency_key=options.get("idempotencyKey"),
            timeout=options["timeoutMs"] / 1000 if "timeoutMs" in options else None,
            max_retries=options.get("maxRetries"),
            headers=options.get("headers"),
        )
    return getattr(getattr(client, snake(area)), snake(verb))(*call.get("path", []), **fields)


async def settled(result):
    return await result if hasattr(result, "__await__") else result


async def rows_of(result, limit=None):
    rows = []
    if is_async:
        async for row in result:
            rows.append(row)
            if limit and len(rows) >= limit:
                break
    else:
        for row in result:
            rows.append(row)
            if limit and len(rows) >= limit:
                break
    return rows


def id_of(row):
    return row.get("message_id") or row.get("id")


async def taken(client, call):
    if "pathFrom" in call:
        call["path"] = [(await settled(call_of(client, call["pathFrom"])))[call["pathFrom"]["field"]]]
    if call.get("options", {}).get("idempotencyKey") == "$fresh":
        call["options"]["idempotencyKey"] = str(uuid.uuid4())
    for _ in range(call.get("times", 1) - 1):
        await settled(call_of(client, call))
    take = call.get("take")
    result = call_of(client, call)
    if take == "rows":
        return {"ids": [id_of(row) for row in await rows_of(result)]}
    if take == "array":
        return {"ids": [id_of(row) for row in await settled(result.to_list(limit=call["limit"]))]}
    if take == "messages":
        return {"ids": [message.id for message in await rows_of(result, call["limit"])]}
    if take == "bytes":
        return {"hex": (await settled(result)).read().hex()}
    value = await settled(result.page() if take == "page" else result)
    info = value._response
    times = [name for name, one in value.items() if isinstance(one, datetime)]
    response = {"status": info.status, "requestId": info.request_id, "isReplayed": info.is_replayed, "rateLimit": info.rate_limit}
    return {"value": value, "response": response, "times": times}


def received(hook):
    if "sign" in hook:
        return {"value": webhooks.verify(hook["sign"], webhooks.sign(hook["sign"], hook["secret"]), hook["secret"])}
    return {"value": webhooks.verify(hook["body"], hook["headers"], hook["secret"], now=hook["now"])}


def failed(error):
    if isinstance(error, webhooks.WebhookVerificationError):
        return {"reason": error.reason}
    if not isinstance(error, sdk.PamojaError):
        return {"refused": repr(error)}
    return {
        "error": {
            "kind": type(error).__name__,
            "status": error.status,
            "code": error.code,
            "message": str(error),
            "details": error.details,
            "fields": error.fields,
            "requestId": error.request_id,
            "docUrl": error.doc_url,
            "retryAfter": error.retry_after,
            "idempotencyKey": error.idempotency_key,
        }
    }


def text_of(value):
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise TypeError(type(value).__name__)


async def main():
    for index, case in enumerate(given["cases"]):
        pauses = []
        try:
            outcome = received(case["webhook"]) if "webhook" in case else await taken(client_of(case, index, pauses), case["call"])
        except Exception as error:
            outcome = failed(error)
        print(json.dumps({**outcome, "pauses": pauses}, default=text_of), flush=True)


asyncio.run(main())
