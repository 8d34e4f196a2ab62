# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel with the standard library alone, so that `pip install .` needs no network (PEP 517)."""
import base64
import hashlib
import os
import re
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _version():
    with open(os.path.join(ROOT, "pyproject.toml")) as file:
        return re.search(r'^version = "(.+)"$', file.read(), re.M).group(1)


def _metadata():
    with open(os.path.join(ROOT, "README.md")) as file:
        readme = file.read()
    return (
        "Metadata-Version: 2.1\nName: pamoja\nVersion: %s\nSummary: Pamoja from Python\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n%s" % (_version(), readme)
    )


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    name = "pamoja-%s-py3-none-any.whl" % version
    info = "pamoja-%s.dist-info" % version
    package = os.path.join(ROOT, "pamoja")
    files = {
        "pamoja/" + file: open(os.path.join(package, file), "rb").read()
        for file in sorted(os.listdir(package))
        if file.endswith((".py", ".typed"))
    }
    if "pamoja/_areas.py" not in files:
        raise RuntimeError("The generated files are missing: run `node tools/sdk.mjs` in the checkout first")
    files[info + "/METADATA"] = _metadata().encode()
    files[info + "/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: pamoja\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join("%s,sha256=%s,%d\n" % (path, _digest(data), len(data)) for path, data in files.items())
    files[info + "/RECORD"] = (record + info + "/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed time, so that the same files make the same wheel.
            wheel.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
