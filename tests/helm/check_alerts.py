# SPDX-License-Identifier: Apache-2.0
"""Every alert fires on what it is for, is silent on a healthy service, and has its page.

usage: check_alerts.py ROOT PROMTOOL
"""

import json
import os
import re
import subprocess
import sys
import tempfile

# What a healthy service shows, a value a minute.
HEALTHY = {
    'tavola_database_available{pod="s1"}': "1+0x30",
    'tavola_lane_shed_total{lane="read"}': "7+0x30",
    'tavola_lane_abandoned_total{lane="read"}': "7+0x30",
    'tavola_connections_hung_up_total{reason="resets"}': "0+6x30",
    'tavola_connections_hung_up_total{reason="silent"}': "0+600x30",
    'process_resident_memory_bytes{pod="s1"}': "100+0x30",
    'tavola_memory_limit_bytes{pod="s1"}': "256+0x30",
    'tavola_calls_total{method="GetEntity",code="INTERNAL"}': "3+0x30",
    'tavola_calls_total{method="GetEntity",code="OK"}': "0+600x30",
    'tavola_worker_leases{pod="w1"}': "10+0x30",
    'tavola_worker_leases{pod="w2"}': "6+0x30",
    'tavola_worker_lag_seconds{pod="w1"}': "5+0x30",
    'tavola_index_lag_seconds{account="a",index="i"}': "5+0x30",
    'tavola_dead_letters{kind="reconcile",state="dead"}': "0+0x30",
    'tavola_dead_letters{kind="reconcile",state="discarded"}': "9+0x30",
    'tavola_index_differences{account="a",index="i"}': "0+0x30",
    'tavola_worker_streaming{pod="w1"}': "0+0x30",
    'tavola_worker_streaming{pod="w2"}': "1+0x30",
}

# What changes when the alert has to fire; None: the series ends.
FIRING = {
    "TavolaDatabaseUnavailable": {'tavola_database_available{pod="s1"}': "0+0x30"},
    "TavolaSheddingLoad": {'tavola_lane_shed_total{lane="read"}': "7+60x30"},
    "TavolaConnectionAttack": {'tavola_connections_hung_up_total{reason="resets"}': "0+600x30"},
    "TavolaMemoryShort": {'process_resident_memory_bytes{pod="s1"}': "200+0x30"},
    "TavolaCallersGiveUp": {'tavola_lane_abandoned_total{lane="read"}': "7+60x30"},
    "TavolaInternalErrors": {'tavola_calls_total{method="GetEntity",code="INTERNAL"}': "3+1x30"},
    "TavolaWorkersMissing": {'tavola_worker_leases{pod="w2"}': None},
    "TavolaWorkLag": {'tavola_worker_lag_seconds{pod="w1"}': "20+5x30"},
    "TavolaIndexLag": {'tavola_index_lag_seconds{account="a",index="i"}': "20+60x30"},
    "TavolaDeadLetters": {'tavola_dead_letters{kind="reconcile",state="dead"}': "1+0x30"},
    "TavolaIndexDiffers": {'tavola_index_differences{account="a",index="i"}': "2+0x30"},
    "TavolaRedisUnavailable": {'tavola_worker_streaming{pod="w2"}': "0+0x30"},
}


def alerts(text):
    """The names of all alerts, each with its page."""
    return dict(re.findall(r"- alert: (\w+)\n(?:.*\n)*?\s+runbook: (\S+)", text))


def case(names, changed, firing):
    series = {**HEALTHY, **changed}
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items() if values],
        "promql_expr_test": [{
            "expr": f'count by (alertname) (ALERTS{{alertname=~"{"|".join(names)}",alertstate="firing"}})',
            "eval_time": "29m",
            "exp_samples": [{"labels": f'{{alertname="{firing}"}}', "value": 1}] if firing else [],
        }],
    }


def run(promtool, *arguments):
    done = subprocess.run([promtool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(done.stdout)


def main(root, promtool):
    rules = os.path.join(root, "helm", "tavola", "monitoring", "alerts.yaml")
    with open(rules, encoding="utf-8") as file:
        pages = alerts(file.read())
    if set(pages) != set(FIRING):
        sys.exit(f"alerts without a test, or tests without an alert: {sorted(set(pages) ^ set(FIRING))}")
    for name, page in pages.items():
        if not os.path.exists(os.path.join(root, page)):
            sys.exit(f"{name} has no page {page}")
    run(promtool, "check", "rules", rules)
    cases = [case(pages, {}, None)] + [case(pages, changed, name) for name, changed in FIRING.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "alerts.yaml")
        with open(path, "w", encoding="utf-8") as file:  # JSON is YAML
            json.dump({"rule_files": [os.path.abspath(rules)], "evaluation_interval": "1m", "tests": cases}, file)
        run(promtool, "test", "rules", path)


if __name__ == "__main__":
    main(*sys.argv[1:])
