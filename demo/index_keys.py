# SPDX-License-Identifier: Apache-2.0
"""Where an entry must be: the keys of index entries, built from the documented encoding alone.

Written a second time, in another way than the server does it (domain/properties/key_part.h is the description), so that
a mistake of the server's is not repeated here. Every part of the demo's indexes is text, so only text is here.

An index without row-key parts of its own takes the source's two keys: an entry's row key is
encode(PartitionKey), end mark, encode(RowKey).
"""

END = "  !"  # between two parts; below every character of a part

# A character that a key may not hold is written as a replacement character, '~' and a letter.
_FORBIDDEN = {"#": '"~B', "/": ".~B", "?": ">~B", "\\": "[~B"}
_LEADS = '".>[~'
_LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh"  # U+007F, then U+0080..U+009F


def encode(text):
    """One part of a key."""
    out = ["!"] if text.startswith("!") else []
    for at, c in enumerate(text):
        following = text[at + 1 : at + 2]
        if c < " ":
            out.append("  " + chr(ord("0") + ord(c)))
        elif c == " ":
            out.append(" " if following > " " else "  Z")
        elif c in _FORBIDDEN:
            out.append(_FORBIDDEN[c])
        elif "\x7f" <= c <= "\x9f":
            out.append("~~" + _LETTERS[ord(c) - 0x7F])
        elif c in _LEADS:
            out.append(c + "~A" if following >= "~" else c)
        else:
            out.append(c)
    return "".join(out)


def join(*texts):
    """A whole key of several parts."""
    return END.join(encode(text) for text in texts)
