#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/patterns, made of what stands here: on the left the design guide's solution at the moment at which it breaks,
on the right the same with Tavola. A test makes them again and compares; with UPDATE_DOCS=1 it writes them.

A panel is a list of tables and of what happens between them. A row of a table begins with "-" if it is wrong, with "+" if it
is what a reader looks for, and with a blank otherwise.

usage: pictures.py ROOT
"""

import os
import pathlib
import sys

import drawing

FOLDER = "docs/patterns/images"
BY_HAND, TAVOLA = "by hand", "with Tavola"

PICTURES = {
    "compound-key": [
        ("a key of the review alone", [
            ("reviews", ["  sales  review_0001  Employee 000007", "+ sales  review_0002  Employee 000123", "  sales  review_0003  Employee 000044",
                         "+ sales  review_0004  Employee 000123"]),
            "Employee eq 123: every row is read",
        ]),
        ("a compound key", [
            ("reviews", ["  sales  000122_2026", "+ sales  000123_2025", "+ sales  000123_2026", "  sales  000124_2017"]),
            "RowKey ge '000123_' and RowKey lt '000123`': only these rows",
        ]),
    ],
    "data-series": [
        ("read, change, replace", [
            ("chat7 / 2026-01-31", ["  H07 0   H08 0"]),
            "writers A and B both read it",
            ("chat7 / 2026-01-31", ["  H07 7   H08 0   written by A"]),
            "B replaces it with what B has read, and H08",
            ("chat7 / 2026-01-31", ["- H07 0   H08 8   A's hour is gone"]),
        ]),
        ("merge", [
            ("chat7 / 2026-01-31", ["  H07 0   H08 0"]),
            "A merges H07",
            ("chat7 / 2026-01-31", ["  H07 7   H08 0"]),
            "B merges H08",
            ("chat7 / 2026-01-31", ["+ H07 7   H08 8"]),
        ]),
    ],
    "denormalization": [
        ("messages that carry the name", [
            ("managers / 000007", ["  Name Jones-Lee"]),
            "messages: Jones-Brown, then Jones-Lee",
            "they are carried out in the other order",
            ("departments", ["- 0001  ManagerName Jones-Brown   for ever", "- 0002  ManagerName Jones-Brown"]),
        ]),
        ("a rule: an intent says where to look", [
            ("managers / 000007", ["  Name Jones-Lee"]),
            "lock a hundred departments, then read their manager",
            "write the copies that differ, and the place, in one commit",
            ("departments", ["+ 0001  ManagerName Jones-Lee", "  0002  ManagerName Jones-Brown"]),
            ("the visit of 000007", ["  go on behind 0001"]),
        ]),
    ],
    "eventually-consistent-transaction": [
        ("a queue and two steps by hand", [
            ("current", ["  sales/000007  since 2019"]),
            "message: copy to the archive, delete",
            ("archive", ["  sales/000007  since 2019"]),
            "employed again; the message comes a second time",
            ("current", ["- (nobody)"]),
            ("archive", ["- sales/000007  since 2026"]),
        ]),
        ("SubmitTransaction, one move", [
            ("current", ["  sales/000007  since 2019"]),
            "step and receipt: one commit",
            ("archive", ["  sales/000007  since 2019"]),
            ("transaction", ["  jones-leaves-in-2025  steps_done 1"]),
            "employed again; the message finds the receipt",
            ("current", ["+ sales/000007  since 2026"]),
            ("archive", ["+ sales/000007  since 2019"]),
        ]),
    ],
    "high-volume-delete": [
        ("one table, batches of a hundred", [
            ("logins", ["  user0  2025-10-01 ...", "  user0  2025-10-02 ...", "  user1  2025-10-01 ..."]),
            "read every key, delete a hundred at a time",
            ("logins", ["- user0  2025-10-31  a late writer: stays for ever"]),
        ]),
        ("a table for each month", [
            ("logins202510", ["  user0 ...", "  user1 ..."]),
            ("logins202511", ["  user0 ..."]),
            "DeleteTable logins202510: one commit",
            ("logins202511", ["+ user0 ..."]),
            "a late writer of October: TABLE_NOT_FOUND",
        ]),
    ],
    "index-entities-blob": [
        ("read the list, change it, put it", [
            ("byName/sales/Jones", ["  000002"]),
            "two callers read it; each adds one number",
            ("byName/sales/Jones", ["- 000002 000012   000007 is lost"]),
            "a caller adds an employee, and dies",
            ("employees", ["- sales  000017   on no list"]),
        ]),
        ("if_match, and the list before the employee", [
            ("byName/sales/Jones", ["  000002   ETag a"]),
            "both put with the ETag a: one begins again",
            ("byName/sales/Jones", ["+ 000002 000007 000012"]),
            "a caller adds 000022 to the list, and dies",
            ("byName/sales/Jones", ["  000002 000007 000012 000022"]),
            "a reader leaves out what is no employee",
        ]),
    ],
    "index-entities-other-partition": [
        ("a list that a worker changes", [
            ("Jones", ["  000002,000007"]),
            "message 000007 comes twice",
            ("Jones", ["- 000002,000007,000007"]),
            "two workers add 000012 and 000017 at once",
            ("Jones", ["- 000002,000007,000007,000017"]),
        ]),
        ("a row for each member", [
            ("employeesByName", ["+ Jones  finance/000002", "+ Jones  finance/000007"]),
            "message: look at finance/000007",
            "it is there: nothing to write",
            ("employeesByName", ["+ Jones  finance/000002", "+ Jones  finance/000007", "+ Jones  sales/000012", "+ Jones  sales/000017"]),
        ]),
    ],
    "index-entities-same-partition": [
        ("a list in one entity", [
            ("sales / Jones", ["  000002"]),
            "two callers read it; each adds one number",
            ("sales / Jones", ["- 000002,000012   000007 is lost"]),
            "with ETags the second one begins again;",
            "member 4,682 makes the list too large",
        ]),
        ("a row for each member", [
            ("employeesByName", ["+ sales  Jones  000002"]),
            "two writes, each with its member",
            ("employeesByName", ["+ sales  Jones  000002", "+ sales  Jones  000007", "+ sales  Jones  000012"]),
            "a read makes the list of the rows, in pages",
        ]),
    ],
    "inter-partition-index": [
        ("messages that carry the employee", [
            ("empid_sales / 000007", ["  Phone 11"]),
            "messages: Phone 10, then Phone 11",
            "they are carried out in the other order",
            ("email_sales / jones@...", ["- Phone 10   for ever"]),
        ]),
        ("messages that name a key", [
            ("sales / 000007", ["  Phone 11"]),
            "two messages: look at sales/000007",
            "each reads the employee as it is now",
            ("employeesByEmail / jones@...", ["+ Phone 11"]),
        ]),
    ],
    "intra-partition-index": [
        ("a second entity, by the writer", [
            ("sales", ["  empid_000007  Email jones.7@...", "  email_jones.7@...  000007"]),
            "the email changes: two entities in one batch",
            ("sales", ["  empid_000007  Email jones@...", "- email_jones.7@...  000007   still found", "  email_jones@...    000007"]),
        ]),
        ("an entry, by the service", [
            ("employees", ["  sales  000007  Email jones.7@..."]),
            ("employeesByEmail", ["  sales  jones.7@..."]),
            "the email changes: one commit",
            ("employees", ["+ sales  000007  Email jones@..."]),
            ("employeesByEmail", ["+ sales  jones@..."]),
        ]),
    ],
    "large-entities": [
        ("a blob, and an entity that names it", [
            ("photos/sales/000001", ["  the photo of 2019"]),
            ("employees", ["  sales  000001  Taken 2019"]),
            "a change: the photo is put first",
            ("photos/sales/000001", ["- the photo of 2026"]),
            ("employees", ["- sales  000001  Taken 2019   what a reader sees"]),
            "the program stops: so for ever",
        ]),
        ("a property that holds the photo", [
            ("employees", ["  sales  000001  Taken 2019  Photo A"]),
            ("contents", ["  A  the photo of 2019"]),
            "a change: one call, one commit",
            ("employees", ["+ sales  000001  Taken 2026  Photo B"]),
            ("contents", ["  A  goes when its readers have ended", "+ B  the photo of 2026"]),
        ]),
    ],
    "log-tail": [
        ("inverted ticks alone", [
            ("expenses", ["  jones  2516324399999999999  claim 1"]),
            "another claim in the same tick",
            ("expenses", ["- jones  2516324399999999999  claim 2   claim 1 is gone"]),
        ]),
        ("inverted ticks and a suffix", [
            ("expenses", ["+ jones  2516324389999999999_0999", "+ jones  2516324399999999999_0001", "+ jones  2516324399999999999_0002"]),
            "the first page is the newest ten",
        ]),
    ],
    "prepend-append": [
        ("the hour is the partition", [
            ("2026-01-31T12", ["- 3,200 of 3,200 writes"]),
            ("2026-01-31T11", ["  none any more"]),
        ]),
        ("16 partitions share the hour", [
            ("00_2026-01-31T12", ["+ about 200 writes"]),
            ("01_2026-01-31T12", ["+ about 200 writes"]),
            ("15_2026-01-31T12", ["+ about 200 writes"]),
            "an hour: 16 queries, merged in order",
        ]),
    ],
    "unique-index": [
        ("look first, then write", [
            ("employees", ["  (nobody has new@example)"]),
            "callers A and B both find it free",
            ("employees", ["- sales/009999     new@example", "- research/009999  new@example"]),
        ]),
        ("an owner in the same commit", [
            ("owners of emails", ["  (none)"]),
            "A's write makes the owner",
            ("owners of emails", ["+ new@example  sales/009999"]),
            "B's write: UNIQUE_VIOLATION, nothing is stored",
        ]),
    ],
    "wide-entities": [
        ("an entity for each 250 hours", [
            ("m7", ["  2026_00  H0005 runs", "  2026_34  H8700 stops"]),
            "a reader reads the first half of the year",
            "a batch moves the stop to H0005",
            ("m7", ["  2026_00  H0005 stops", "  2026_34  H8700 runs"]),
            "the reader reads the second half",
            ("what it has read", ["- H0005 runs, H8700 runs   no stop at all"]),
        ]),
        ("one wide entity", [
            ("m7 / 2026   one ETag", ["  H0000 to H0875   H0005 runs", "  H0876 to H1751", "  ...", "  H7884 to H8759   H8700 stops"]),
            "a merge moves the stop: two rows, one commit",
            ("m7 / 2026   another ETag", ["+ H0000 to H0875   H0005 stops", "  H0876 to H1751", "  ...", "+ H7884 to H8759   H8700 runs"]),
            "a reader has begun before it, or after it",
        ]),
    ],
}


def row_fill(row):
    return {"+": drawing.GOOD, "-": drawing.BAD}.get(row[0], drawing.WHITE)


def draw_table(picture, x, y, width, name, rows):
    """Returns the y below it."""
    picture.box(x, y, width, drawing.LINE + 4, drawing.PALE)
    picture.text(x + 8, y + 15, name)
    y += drawing.LINE + 4
    for row in rows:
        picture.box(x, y, width, drawing.LINE + 2, row_fill(row))
        picture.text(x + 8, y + 14, row[2:])
        y += drawing.LINE + 2
    return y + 8


def texts_of(items):
    return [text for item in items for text in ([item] if isinstance(item, str) else [item[0], *item[1]])]


def draw_panel(picture, x, by, title, items):
    """Returns the width of the panel."""
    width = max(drawing.width_of(*texts_of(items)) + 24, drawing.width_of(by, title) + 12)
    picture.text(x, 20, by, "note")
    picture.text(x, 38, title, "title")
    y = 50
    for item in items:
        if isinstance(item, str):
            picture.arrow(x + 10, y - 4, x + 10, y + 16)
            picture.text(x + 22, y + 10, item, "note")
            y += drawing.LINE + 6
        else:
            y = draw_table(picture, x, y, width, *item)
    return width


def picture_of(name):
    (left, left_items), (right, right_items) = PICTURES[name]
    picture = drawing.Drawing(f"{name}: {left}, and {right}")
    width = draw_panel(picture, 12, BY_HAND, left, left_items)
    draw_panel(picture, 12 + width + 36, TAVOLA, right, right_items)
    return picture.svg()


def check(folder, files, update, complain):
    """Compare the files of a folder with what they have to be, or write them."""
    for name, text in files.items():
        path = folder / name
        if update:
            folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            complain(f"{path} is not what its source makes: UPDATE_DOCS=1 writes it")


def main():
    complaints = []
    files = {f"{name}.svg": picture_of(name) for name in PICTURES}
    check(pathlib.Path(sys.argv[1]) / FOLDER, files, "UPDATE_DOCS" in os.environ, complaints.append)
    print(*complaints, f"{len(files)} pictures", sep="\n")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
