#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A data series: docs/patterns/data-series.md. TARGET may be given."""

import datetime

from scene import entities_of, new_tables, tavola
from tavola.keys import day_of, hour_of

DAY = datetime.datetime(2026, 1, 31, tzinfo=datetime.timezone.utc)
HOURS = [DAY + datetime.timedelta(hours=hour) for hour in range(24)]


def of_day(**properties):
    return {"PartitionKey": "chat7", "RowKey": day_of(DAY), **properties}


with new_tables("rows", "days") as (_, rows, days):
    print("an entity for each hour")
    rows.load({"PartitionKey": "chat7", "RowKey": hour.isoformat(), "Messages": hour.hour} for hour in HOURS)
    total = sum(entity["Messages"] for entity in entities_of(rows.query("PartitionKey eq 'chat7'")))
    print("   messages of the day:", total)

    print("an entity for each day, read, changed and replaced by two writers at once")
    days.insert(of_day())
    first, second = days.get("chat7", day_of(DAY)), days.get("chat7", day_of(DAY))
    first["H07"], second["H08"] = 7, 8
    days.replace(first, if_match="*")
    days.replace(second, if_match="*")
    print("  ", dict(days.get("chat7", day_of(DAY))))

    print("merged, with a count that two writers have read and increased")
    days.replace(of_day(H07=0), if_match="*")
    first, second = days.get("chat7", day_of(DAY)), days.get("chat7", day_of(DAY))
    for seen in (first, second):
        days.merge(of_day(H07=seen["H07"] + 1), if_match="*")
    print("   two messages, H07:", days.get("chat7", day_of(DAY))["H07"])
    try:
        days.merge(of_day(H07=second["H07"] + 1), if_match=second.etag)
    except tavola.Aborted as error:
        print("   with the ETag that was read:", error.reason)

    print("an hour is one property, merged by its only writer")
    days.replace(of_day(), if_match="*")
    for hour in HOURS:
        days.upsert(of_day(**{hour_of(hour): hour.hour}), merge=True)
    found = entities_of(days.query("PartitionKey eq 'chat7'"))[0]
    print("   messages of the day:", sum(value for name, value in found.items() if name.startswith("H")))
    print("   the last one of the day goes to", day_of(HOURS[-1]), hour_of(HOURS[-1]), "and the next to",
          day_of(HOURS[-1] + datetime.timedelta(hours=1)), hour_of(HOURS[-1] + datetime.timedelta(hours=1)))
