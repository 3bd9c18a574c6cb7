# SPDX-License-Identifier: Apache-2.0
"""Work that fails: while poison is there, the database refuses every row of a key that is called so, but for the
rows of one table, the source, and the entries that are written with them in their partition."""

PREPARE = """
create table poison (is_there boolean);
create function refuse_poison() returns trigger language plpgsql as $$
begin
    if exists (select from poison) then
        raise exception 'poisoned';
    end if;
    return new;
end $$;
create trigger refuse_poison before insert or update on entities for each row
    when (new.row_key like '%poison%' and new.table_id <> {source} and new.partition_key not in ('poison', 'poisoned'))
    execute function refuse_poison();
"""
DEAD, DISCARDED = 1, 3
MOST_FAILURES = 10


class Poison:
    def __init__(self, stack, source):
        self.stack = stack
        stack.sql(PREPARE.format(source=stack.sql(f"select table_id from tables where name = '{source}'")))

    def put(self):
        self.stack.sql("insert into poison values (true)")

    def cure(self):
        self.stack.sql("delete from poison")

    def hurry(self, failures=None):
        """What has failed is due now, with so many failures behind it."""
        more = "" if failures is None else f", failures = {failures}"
        self.stack.sql(f"update dead_letters set next_try = now(){more} where not dead")

    def dead_letters(self):
        """How many there are: (failing or retrying, dead, discarded)."""
        counts = "count(*) filter (where not dead), count(*) filter (where dead and not discarded), " \
            "count(*) filter (where discarded)"
        return tuple(int(text) for text in self.stack.sql(f"select {counts} from dead_letters").split("|"))

    def give_up(self):
        """A step of the way from a first failure to a dead letter; True at the end."""
        self.hurry(MOST_FAILURES - 1)
        return self.dead_letters()[1] > 0

    def heal(self, caller):
        """A step of the way back; True when no dead letter is left."""
        self.cure()
        for state in (DEAD, DISCARDED):
            caller.redrive_dead_letters(filter={"state": state})
        self.hurry()
        return self.dead_letters() == (0, 0, 0)
