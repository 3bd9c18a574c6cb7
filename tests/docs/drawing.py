# SPDX-License-Identifier: Apache-2.0
"""SVG for the pages: shapes with sizes that follow from their texts, the same bytes on every machine."""

from xml.sax.saxutils import escape

CHARACTER = 7.3  # pixels of a character of the fixed font at 12 pixels
LINE = 18
INK, PALE, WHITE = "#1f2430", "#eef1f5", "#ffffff"
GOOD, BAD, GREY = "#d9f0dd", "#f8d7d3", "#6b7280"
_STYLE = ("text{font:12px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:" + INK + "}"
          "text.title{font:bold 13px 'DejaVu Sans',Helvetica,Arial,sans-serif}"
          "text.note{font:12px 'DejaVu Sans',Helvetica,Arial,sans-serif;fill:" + GREY + "}")


def width_of(*texts):
    """The pixels of the longest of these texts."""
    return max((len(text) for text in texts), default=0) * CHARACTER


class Drawing:
    """A picture that grows with what is drawn; title is what a screen reader says, made_of what it was made of."""

    def __init__(self, title, made_of=""):
        self.title, self.made_of = title, made_of
        self.shapes = []
        self.width = self.height = 0

    def _grow(self, right, bottom):
        self.width, self.height = max(self.width, right), max(self.height, bottom)

    def text(self, x, y, text, kind="", anchor="start"):
        attributes = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        self.shapes.append(f'<text x="{x:.0f}" y="{y:.0f}"{attributes} xml:space="preserve">{escape(text)}</text>')
        self._grow(x + (width_of(text) / (2 if anchor == "middle" else 1)), y + 4)

    def box(self, x, y, width, height, fill=WHITE, line=INK):
        self.shapes.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="3" fill="{fill}" stroke="{line}"/>')
        self._grow(x + width, y + height)

    def arrow(self, x, y, to_x, to_y, dashed=False, colour=INK):
        dashes = ' stroke-dasharray="4 3"' if dashed else ""
        self.shapes.append(f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="{colour}"{dashes} marker-end="url(#head)"/>')
        self._grow(max(x, to_x), max(y, to_y))

    def line(self, x, y, to_x, to_y, dashed=False, colour=GREY):
        dashes = ' stroke-dasharray="2 4"' if dashed else ""
        self.shapes.append(f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="{colour}"{dashes}/>')
        self._grow(max(x, to_x), max(y, to_y))

    def svg(self):
        """The whole file."""
        width, height = self.width + 12, self.height + 12
        head = ('<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
                f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img">',
            f"<title>{escape(self.title)}</title>" + (f"<desc>{escape(self.made_of)}</desc>" if self.made_of else ""),
            f"<style>{_STYLE}</style><defs>{head}</defs>",
            f'<rect width="100%" height="100%" fill="{WHITE}"/>',
            *self.shapes, "</svg>", ""])
