"""Draws time against size, from the JSON of scripts/bench: a row of panels for each operation, a panel for each number of
ranks. python3 plot.py --help."""

import argparse
import json
import math
import sys
from xml.sax.saxutils import escape

# Name in the JSON, label, colour, width, dashes.
SERIES = [
    ("openmpi", "Open MPI", "#7a7a7a", 1.3, "5 2"),
    ("mpich", "MPICH", "#9a7b4f", 1.3, "2 2"),
    ("gloo", "gloo", "#5f8f5f", 1.3, "1 2"),
    ("private", "shoal", "#1f6fb4", 2.2, ""),
    ("heap", "shoal, heap", "#d1495b", 2.2, ""),
]

PANEL_WIDTH, PANEL_HEIGHT = 210, 170
LEFT, RIGHT, TOP, BOTTOM = 52, 74, 26, 34  # Of each panel: what its labels take.
HEAD = 30
LABEL_GAP = 12


class LogAxis:
    """Maps values to positions, equal factors to equal distances."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.log(low), math.log(high if high > low else low * 2)
        self.start, self.end = start, end

    def at(self, value):
        return self.start + (math.log(value) - self.low) / (self.high - self.low) * (self.end - self.start)


def size_text(size):
    for shift, suffix in ((30, "G"), (20, "M"), (10, "K")):
        if size >> shift and size % (1 << shift) == 0:
            return f"{size >> shift}{suffix}"
    return str(size)


def time_text(microseconds):
    for factor, unit in ((1e6, "s"), (1e3, "ms"), (1, "µs")):
        if microseconds >= factor:
            return f"{microseconds / factor:g} {unit}"
    return f"{microseconds:g} µs"


def size_ticks(low, high):
    """Powers of 16 times 64 within the range; its ends where there are none."""
    ticks = [size for size in (4 << (4 * power) for power in range(12)) if low <= size <= high]
    return ticks if len(ticks) > 1 else sorted({low, high})


def decades(low, high):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0 ** power for power in range(first, max(last, first + 1) + 1)]


def spread(positions, gap, low, high):
    """The nearest positions in the same order that are `gap` apart and, as far as they fit, within low .. high."""
    placed = []
    for position in positions:
        placed.append(max(position, placed[-1] + gap) if placed else max(position, low))
    limit = high
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], limit)
        limit = placed[i] - gap
    return placed


def text(x, y, content, anchor="start", size=10, colour="#333", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}" '
            f'font-weight="{weight}">{escape(content)}</text>')


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="0.7"/>'


def panel(operation, world, x0, y0, sizes, times):
    """One operation at one number of ranks, its upper left corner at (x0, y0)."""
    left, right = x0 + LEFT, x0 + LEFT + PANEL_WIDTH
    top, bottom = y0 + TOP, y0 + TOP + PANEL_HEIGHT
    across = LogAxis(sizes[0], sizes[-1], left, right)
    up = LogAxis(times[0], times[-1], bottom, top)

    ranks = world["ranks"]
    parts = [text(left, top - 9, f"{operation}, {ranks} rank{'' if ranks == 1 else 's'}", size=12, weight="bold")]
    for tick in times:
        parts += [line(left, up.at(tick), right, up.at(tick), "#e4e4e4"),
                  text(left - 5, up.at(tick) + 3.5, time_text(tick), "end")]
    for tick in size_ticks(sizes[0], sizes[-1]):
        parts += [line(across.at(tick), top, across.at(tick), bottom, "#f0f0f0"),
                  text(across.at(tick), bottom + 13, size_text(tick), "middle")]
    parts.append(line(left, bottom, right, bottom, "#888"))

    ends = []
    for name, label, colour, width, dashes in SERIES:
        points = [(row["bytes"], row[name]) for row in world["rows"]
                  if row["op"] == operation and row["bytes"] > 0 and row.get(name)]
        if not points:
            continue
        path = " ".join(f"{across.at(size):.1f},{up.at(time):.1f}" for size, time in points)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')
        parts += [f'<circle cx="{across.at(size):.1f}" cy="{up.at(time):.1f}" r="1.6" fill="{colour}"/>'
                  for size, time in points]
        ends.append((up.at(points[-1][1]), across.at(points[-1][0]), label, colour))
    ends.sort()
    for (end, x, label, colour), y in zip(ends, spread([end[0] for end in ends], LABEL_GAP, top, bottom)):
        parts += [line(x + 2, end, right + 7, y, colour), text(right + 9, y + 3.5, label, colour=colour, weight="bold")]
    return parts


def draw(comparisons, operations):
    """The SVG of all worlds in the comparisons."""
    worlds = sorted((world for comparison in comparisons for world in comparison["worlds"]),
                    key=lambda world: world["ranks"])
    rows = [row for world in worlds for row in world["rows"] if row["op"] in operations and row["bytes"] > 0]
    measured = [row[name] for row in rows for name, *_ in SERIES if row.get(name)]
    missing = [operation for operation in operations if operation not in {row["op"] for row in rows}]
    if missing or not measured:
        raise ValueError(f"there are no figures by size of {', '.join(missing or operations)}")
    sizes = sorted({row["bytes"] for row in rows})
    times = decades(min(measured), max(measured))

    column, band = LEFT + PANEL_WIDTH + RIGHT, TOP + PANEL_HEIGHT + BOTTOM
    width, height = column * len(worlds) + 10, HEAD + band * len(operations) + 6
    machine = comparisons[0]["machine"]
    cores = f"{machine['cores']} core{'' if machine['cores'] == 1 else 's'}"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="Helvetica, Arial, sans-serif">',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text(12, 20, f"Time of a call against bytes of the whole vector, f32. {machine['processor']}, {cores}.",
                  size=12)]
    for r, operation in enumerate(operations):
        for c, world in enumerate(worlds):
            parts += panel(operation, world, c * column, HEAD + r * band, sizes, times)
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-plot", description=__doc__.rsplit(" python3", 1)[0])
    parser.add_argument("comparisons", nargs="+", metavar="FILE.json", help="what scripts/bench --json wrote")
    parser.add_argument("--ops", default="all_reduce,all_gather,broadcast", metavar="LIST",
                        help="a row of panels for each (all_reduce,all_gather,broadcast)")
    parser.add_argument("--out", required=True, metavar="FILE.svg", help="where to draw; - for standard output")
    arguments = parser.parse_args()
    try:
        comparisons = []
        for path in arguments.comparisons:
            with open(path, encoding="utf-8") as file:
                comparisons.append(json.load(file))
            if comparisons[-1].get("schema") != "shoal.compare/1":
                raise ValueError(f"{path} is not of scripts/bench: its schema is not shoal.compare/1")
        drawing = draw(comparisons, arguments.ops.split(","))
        if arguments.out == "-":
            sys.stdout.write(drawing)
        else:
            with open(arguments.out, "w", encoding="utf-8") as file:
                file.write(drawing)
    except (OSError, ValueError) as error:
        sys.exit(f"bench-plot: {error}")


if __name__ == "__main__":
    main()
