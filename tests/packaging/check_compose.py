# SPDX-License-Identifier: Apache-2.0
"""compose.yaml fits together, and each program that it starts accepts the settings that it gets. Exit code 77 where Debian's
package python3-yaml is not installed.

usage: check_compose.py ROOT BIN_FOLDER
"""

import os
import pathlib
import subprocess
import sys
import urllib.parse

try:
    import yaml
except ImportError:
    print("left out: Debian's package python3-yaml is not installed")
    sys.exit(77)

PROGRAMS = ("tavolad", "tavola-worker", "tavola")
OF_ALL = "TAVOLA_POSTGRES", "TAVOLA_REDIS"


def ask(program, option, settings):
    return subprocess.run([program, option], env={"PATH": os.environ["PATH"], **settings}, capture_output=True, text=True, check=False)


def check_settings(name, service, folder, complain):
    """The program knows each setting and takes its value, and it is told where database and queue are."""
    program = service["command"][0]
    settings = {key: str(value) for key, value in service["environment"].items()}
    if program not in PROGRAMS:
        complain(f"{name} starts {program}, which is no program of the image")
        return
    known = ask(folder / program, "--print-settings", {}).stdout.split()
    for key in sorted(set(settings) - set(known)):
        complain(f"{name}: {program} does not know {key}")
    for key in sorted(set(OF_ALL) - set(settings)):
        complain(f"{name}: {program} is not told {key}")
    accepted = ask(folder / program, "--print-config", settings)
    if accepted.returncode != 0:
        complain(f"{name}: {accepted.stderr.strip()}")


def check_addresses(name, service, services, complain):
    """The hosts are services, with the password that the database is made with; only this machine reaches published ports."""
    settings = service["environment"]
    postgres = urllib.parse.urlsplit(settings.get("TAVOLA_POSTGRES", ""))
    redis = urllib.parse.urlsplit(settings.get("TAVOLA_REDIS", ""))
    for host in (postgres.hostname, redis.hostname):
        if host not in services:
            complain(f"{name}: {host} is no service")
    if postgres.password != services.get("postgres", {}).get("environment", {}).get("POSTGRES_PASSWORD"):
        complain(f"{name}: the password is not that of the database")
    listens_on = str(settings.get("TAVOLA_LISTEN", "")).rpartition(":")[2]
    for published in service.get("ports", []):
        address, _, inside = published.rpartition(":")
        if not address.startswith("127.0.0.1:") or inside != listens_on:
            complain(f"{name}: port {published} is not that of TAVOLA_LISTEN, on this machine alone")


def problems(text, folder):
    """What is wrong with this compose file, a sentence each."""
    found = []
    file = yaml.safe_load(text)
    services = file["services"]
    ours = {name: service for name, service in services.items() if service.get("image") == "tavola"}
    if sorted(service["command"][0] for service in ours.values()) != sorted(PROGRAMS):
        found.append(f"the services of the image are {sorted(ours)}: one for each program is expected")
    for name, service in ours.items():
        check_settings(name, service, folder, found.append)
        check_addresses(name, service, services, found.append)
    for name, service in services.items():
        found += [f"{name} waits for {other}, which is no service" for other in service.get("depends_on", {}) if other not in services]
        for volume in service.get("volumes", []):
            if volume.partition(":")[0] not in file.get("volumes", {}):
                found.append(f"{name}: the volume {volume} is not declared")
    return found


# A change of the file, and what is said about it.
MISTAKES = [
    ("TAVOLA_LISTEN", "TAVOLA_LISTENS", "server: tavolad does not know TAVOLA_LISTENS"),
    ("0.0.0.0:50051", "0.0.0.0:70000", "server: tavolad: cannot start"),
    ("TAVOLA_REDIS:", "REDIS:", "worker: tavola-worker is not told TAVOLA_REDIS"),
    ("redis://redis:6379", "redis://cache:6379", "worker: cache is no service"),
    ("POSTGRES_PASSWORD: development", "POSTGRES_PASSWORD: other", "migrate: the password is not that of the database"),
    ("127.0.0.1:50051:50051", "50051:50051", "server: port 50051:50051 is not"),
    ("migrate: {", "migration: {", "server waits for migration"),
    ("[data:/", "[rows:/", "postgres: the volume rows:/"),
]


def main():
    text = pathlib.Path(sys.argv[1], "compose.yaml").read_text(encoding="utf-8")
    folder = pathlib.Path(sys.argv[2])
    found = problems(text, folder)
    for right, wrong, said in MISTAKES:
        if right not in text:
            found.append(f"{right} is not in the file: change the list of mistakes of this test")
        elif not any(problem.startswith(said) for problem in problems(text.replace(right, wrong), folder)):
            found.append(f"not noticed: {wrong} in place of {right}")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
