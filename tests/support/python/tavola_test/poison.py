# SPDX-License-Identifier: Apache-2.0
"""Work that fails: while the table `poison` has a row, the database refuses every row with "poison" in its row key,
other than rows of one table, the source, and entries that are written with their sources.
"""

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
    when (new.row_key like '%poison%' and new.table_id not in ({spared}) and new.partition_key not in ('poison', 'poisoned'))
    execute function refuse_poison();
"""
DEAD, DISCARDED = 1, 3
MAX_FAILURES = 10


class Poison:
    def __init__(self, stack, source, strong=()):
        """strong: the names of indexes in other partitions whose entries are written with their sources."""
        self.stack = stack
        names = ", ".join(f"'{name}'" for name in (source, *strong))
        spared = stack.sql(f"select table_id from tables where name in ({names}) union select index_id from indexes where name in ({names})")
        stack.sql(PREPARE.format(spared=", ".join(spared.split())))

    def put(self):
        self.stack.sql("insert into poison values (true)")

    def cure(self):
        self.stack.sql("delete from poison")

    def hurry(self, failures=None):
        """Make the failed work due now, with this many failures."""
        more = "" if failures is None else f", failures = {failures}"
        self.stack.sql(f"update dead_letters set next_try = now(){more} where not dead")

    def dead_letters(self):
        """The numbers of dead letters: (retrying, dead, discarded)."""
        counts = "count(*) filter (where not dead), count(*) filter (where dead and not discarded), " \
            "count(*) filter (where discarded)"
        return tuple(int(text) for text in self.stack.sql(f"select {counts} from dead_letters").split("|"))

    def give_up(self):
        """Move failing work one step on towards a dead letter; True at the end."""
        self.hurry(MAX_FAILURES - 1)
        return self.dead_letters()[1] > 0

    def heal(self, caller):
        """Move dead letters one step back into work; True if none is left."""
        self.cure()
        for state in (DEAD, DISCARDED):
            caller.redrive_dead_letters(filter={"state": state})
        self.hurry()
        return self.dead_letters() == (0, 0, 0)
