# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the package tavola, and needs nothing but protoc: pip finds it through pyproject.toml.

The wheel has the Python files, the API's descriptors as protoc reads them from api/, and the list of methods that may be
repeated. Nothing that is built stays in the tree.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent.parent
WHEEL = "Wheel-Version: 1.0\nGenerator: tavola_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def version():
    """The newest version that CHANGELOG.md names."""
    return re.search(r"^## \[?v?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: tavola\nVersion: {version()}\nSummary: Client of the table service Tavola\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: grpcio>=1.51\nRequires-Dist: protobuf>=3.21\n")


def descriptors():
    """The FileDescriptorSet of api/, by protoc or by the one of grpcio-tools."""
    protoc = [shutil.which("protoc")] if shutil.which("protoc") else [sys.executable, "-m", "grpc_tools.protoc"]
    names = sorted(str(path.relative_to(ROOT / "api")) for path in (ROOT / "api").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run([*protoc, f"-I{ROOT / 'api'}", "--include_imports", f"--descriptor_set_out={out.name}", *names],
                       check=True)
        return pathlib.Path(out.name).read_bytes()


def files():
    """name in the wheel -> content."""
    found = {f"tavola/{path.name}": path.read_bytes() for path in sorted((PACKAGE / "tavola").glob("*.py"))}
    found["tavola/py.typed"] = b""
    found["tavola/descriptors.pb"] = descriptors()
    found["tavola/repeatable.json"] = (ROOT / "api/service_config_request_ids.json").read_bytes()
    info = f"tavola-{version()}.dist-info"
    found[f"{info}/METADATA"], found[f"{info}/WHEEL"] = metadata().encode(), WHEEL.encode()
    found[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    return found


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def get_requires_for_build_wheel(config_settings=None):
    """protoc, from PyPI if the machine has none."""
    return [] if shutil.which("protoc") else ["grpcio-tools"]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Write the wheel into the folder, and return its name (PEP 517)."""
    name, found = f"tavola-{version()}-py3-none-any.whl", files()
    record = f"tavola-{version()}.dist-info/RECORD"
    lines = [f"{path},sha256={digest(content)},{len(content)}" for path, content in found.items()]
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in found.items():
            wheel.writestr(path, content)
        wheel.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")
    return name
