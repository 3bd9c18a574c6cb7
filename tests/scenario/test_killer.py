# SPDX-License-Identifier: Apache-2.0
"""A key whose work kills its worker: work on other keys goes on, and the key ends as a dead letter.

A trigger makes the worker that writes the key's entry stand still, and the test kills it there, as if the work had
done it.
"""

import unittest

from tavola_test import audit
from tavola_test.client import entity
from tavola_test.poison import Poison
from tavola_test.redis_servers import RedisCase
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

PREPARE = """
create function stand_still() returns trigger language plpgsql as $$
begin
    perform pg_sleep(600);
    return new;
end $$;
create trigger stand_still before insert or update on entities for each row
    when (new.row_key like '%killer%' and new.table_id <> {source})
    execute function stand_still();
"""
STANDING = "from pg_stat_activity where wait_event = 'PgSleep'"
DELIVERIES, OTHERS = 5, 8
DEAD = 1


class Killer(RedisCase):
    def begin(self, redis):
        if redis:
            self.stack.start_redis()
        self.settings = {"TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "1", "TAVOLA_WORKER_THREADS": "2"}
        self.stack.start_server()
        self.stack.start_worker(**self.settings)
        self.caller = self.enterContext(self.stack.connect())
        self.caller.create_table(name="source")
        self.caller.create_index(
            index={"name": "byOwner", "table": "source", "shape": 1, "partition_key": [{"property": "Owner"}]})
        wait_ready(self.caller, "byOwner")
        self.poison = Poison(self.stack, "source")
        self.stack.sql(PREPARE.format(source=self.stack.sql("select table_id from tables where name = 'source'")))

    def write(self, row, owner):
        self.caller.insert_or_replace_entity(table="source", entity=entity("p" + row, row, Owner=owner))

    def found(self, owner):
        return len(self.caller.lookup("byOwner", [owner]))

    def stands(self):
        return self.stack.sql("select count(*) " + STANDING) != "0"

    def is_given_up(self):
        return self.poison.dead_letters()[1] == 1

    def die(self):
        self.stack.worker.kill()
        self.stack.sql("select pg_terminate_backend(pid) " + STANDING)
        self.stack.start_worker(**self.settings)

    def kill_until_it_is_given_up(self, hurry):
        """How often the worker died while it worked on the key."""
        deaths = 0
        self.write("killer", "k")
        while True:
            wait_for("the killer, or its end", lambda: self.stands() or self.is_given_up(), 60)
            if self.is_given_up():
                return deaths
            for number in range(OTHERS):  # some of the keys are in bucket ranges of the thread that stands still
                self.write(f"{deaths}-{number}", f"f{deaths}")
            wait_for("work on other keys", lambda: self.found(f"f{deaths}") > 0, 20)
            self.die()
            deaths += 1
            if hurry:
                self.poison.hurry()

    def check(self, deaths):
        print(f"the worker died {deaths} times of it", flush=True)
        self.assertGreaterEqual(deaths, DELIVERIES)
        self.assertLessEqual(deaths, DELIVERIES + 3)
        dead_letters = self.caller.list_dead_letters(filter={"state": DEAD}).dead_letters
        self.assertEqual([dead_letter.key.row_key for dead_letter in dead_letters], ["killer"])
        self.assertEqual(dead_letters[0].cause, "INTERNAL: work has begun, and no worker has reported its end")
        for death in range(deaths):
            wait_for("all other keys", lambda death=death: self.found(f"f{death}") == OTHERS, 20)
        self.assertEqual(self.stack.sql("select count(*) from intents"), "0")
        self.assertEqual(self.found("k"), 0)
        audit.check(self.stack)

    def test_with_redis(self):
        self.begin(True)
        self.check(self.kill_until_it_is_given_up(False))

    def test_without_redis(self):
        self.begin(False)
        self.check(self.kill_until_it_is_given_up(True))


if __name__ == "__main__":
    unittest.main()
