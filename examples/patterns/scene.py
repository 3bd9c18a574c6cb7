# SPDX-License-Identifier: Apache-2.0
"""What the examples of patterns have in common that use the Python package: tables that are dropped at the end, and printing.

The address is the program's first argument, else TAVOLA_TARGET, else 127.0.0.1:50051; with TAVOLA_TOKEN set, its token goes
with every call.
"""

import contextlib
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import tavola  # noqa: E402


@contextlib.contextmanager
def new_tables(*names, **options):
    """A client and tables of these names, made with these options, which are dropped at the end."""
    with tavola.Client(sys.argv[1] if len(sys.argv) > 1 else None) as client:
        with contextlib.ExitStack() as tables:
            made = [client.create_table(name, **options) for name in names]
            for table in made:
                tables.callback(table.drop)
            yield client, *made


def entities_of(query):
    """The entities that a query finds; prints how many they are, and how many rows the service has read for them."""
    pages = list(query.pages())
    found = [entity for page in pages for entity in page.entities]
    print(f"   found {len(found)}, rows read: {sum(page.stats.rows_examined for page in pages)}")
    return found
