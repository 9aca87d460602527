"""shoal beside other libraries, on the same work: python3 compare.py --help. scripts/bench builds what it needs.

For each operation the contenders run one after another, so that a drift of the machine touches all of them. A ratio is
the best peer's time over shoal's: above 1 shoal is ahead. 'private' is shoal on ordinary memory, which is the peers'
case too; 'heap' is shoal on buffers from its shared heap. With --floor the same operations also run as bare as they can
be (floor_peer.cc), on memory of either kind: the best peer's time over that is the greatest ratio to be had.
"""

import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.dirname(os.path.dirname(HERE))

OPERATIONS = ["barrier", "broadcast", "reduce", "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "gather",
              "scatter"]
SIZES = "8,64,512,4K,32K,256K,1M,4M,16M,64M"
PEERS = ["openmpi", "mpich", "gloo"]
OURS = ["private", "heap"]
FLOORS = {"private": "floor_private", "heap": "floor_heap"}

# What a program is built with, the package that has it, and the compiler's arguments.
PROGRAMS = {
    "openmpi": ("mpicxx.openmpi", "openmpi-bin and libopenmpi-dev", ["mpi_peer.cc"]),
    "mpich": ("mpicxx.mpich", "mpich and libmpich-dev", ["mpi_peer.cc"]),
    "gloo": ("g++", "libgloo-dev", ["gloo_peer.cc", "-lgloo", "-lpthread"]),
    "floor": ("g++", "g++", ["floor_peer.cc"]),
    "limit": ("g++", "g++", ["limit.cc"]),
}


def note(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def parse_size(text):
    """64, 4K, 1G as bytes."""
    shift = {"K": 10, "M": 20, "G": 30}.get(text[-1:].upper(), 0)
    digits = text[:-1] if shift else text
    if not digits.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a size, as in 64, 4K, 1G")
    return int(digits) << shift


def size_list(text):
    return [parse_size(entry) for entry in text.split(",")]


def rank_list(text):
    ranks = [int(entry) if entry.isdigit() else 0 for entry in text.split(",")]
    if min(ranks) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers of ranks, as in 2,4,8")
    return ranks


def operation_list(text):
    names = OPERATIONS if text == "all" else text.split(",")
    for name in names:
        if name not in OPERATIONS:
            raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(OPERATIONS)}")
    return names


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0 and up to 3600")
    return value


def build(directory, without):
    """Builds the programs as far as they are wanted and their packages there. Returns {name: path} of those that are."""
    os.makedirs(directory, exist_ok=True)
    headers = [os.path.join(HERE, name) for name in os.listdir(HERE) if name.endswith(".h")]
    headers.append(os.path.join(os.path.dirname(HERE), "method.h"))
    built = {}
    for name, (compiler, packages, arguments) in PROGRAMS.items():
        if name in without:
            continue
        program = os.path.join(directory, name)
        if shutil.which(compiler) is None or (name == "gloo" and not os.path.exists("/usr/include/gloo/context.h")):
            note(f"{name} is left out: it needs the packages {packages}")
            continue
        source = os.path.join(HERE, arguments[0])
        newest = max(os.path.getmtime(path) for path in [source, *headers])
        if not os.path.exists(program) or os.path.getmtime(program) < newest:
            command = [compiler, "-std=c++20", "-O3", "-march=native", "-I", APPS, "-o", program, source, *arguments[1:]]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                note(f"{name} is left out: it cannot be built:\n{done.stdout.strip()}")
                continue
        built[name] = program
    return built


def output_of(command, limit_s):
    """What a command prints; all that it started ends with it. Says so where it fails."""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    shown = " ".join(os.path.basename(part) for part in command[:8])
    try:
        out, err = process.communicate(timeout=limit_s)
        if process.returncode != 0:
            note(f"{shown} ... exited with status {process.returncode}: {err.strip()[-400:]}")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        note(f"{shown} ... was ended after {limit_s:.0f} s")
    return out


def rows_of(text):
    """`op bytes microseconds` lines as {(op, bytes): microseconds}."""
    rows = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 3:
            try:
                rows[parts[0], int(parts[1])] = float(parts[2])
            except ValueError:
                pass
    return rows


def contenders(arguments, programs, ranks, operation):
    work = [operation, ",".join(map(str, arguments.sizes)), str(arguments.seconds)]
    starters = {
        "openmpi": lambda program: ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks), program, *work],
        "mpich": lambda program: ["mpiexec.hydra", "-n", str(ranks), program, *work],
        "gloo": lambda program: [program, str(ranks), *work],
    }
    commands = {name: start(programs[name]) for name, start in starters.items() if name in programs}
    if arguments.floor and "floor" in programs:
        for memory, kind in (("private", "private"), ("heap", "shared")):
            commands[FLOORS[memory]] = [programs["floor"], kind, str(ranks), *work]
    for memory in OURS:
        commands[memory] = [os.path.join(arguments.bin, "shoalrun"), "-n", str(ranks),
                            os.path.join(arguments.bin, "shoal-bench"), "--op", work[0], "--sizes", work[1],
                            "--seconds", work[2], "--memory", memory, "--format", "plain"]
    return {name: command for name, command in commands.items() if name not in arguments.without}


def measure(arguments, programs, ranks, operation):
    """Rows of one operation: each contender's median of all runs."""
    times = {}
    for _ in range(arguments.runs):
        for name, command in contenders(arguments, programs, ranks, operation).items():
            for key, value in rows_of(output_of(command, 60 + 200 * arguments.seconds)).items():
                times.setdefault(key, {}).setdefault(name, []).append(value)
    rows = []
    for (_, size), cell in sorted(times.items()):
        row = {"op": operation, "bytes": size, **{name: statistics.median(values) for name, values in cell.items()}}
        peers = [row[name] for name in PEERS if row.get(name)]
        for memory in OURS:
            for name in (memory, FLOORS[memory]):
                row[f"x_{name}"] = min(peers) / row[name] if peers and row.get(name) else None
        rows.append(row)
    return rows


def summary(rows):
    """How the ratios of each memory come out over all rows."""
    result = {}
    for memory in [*OURS, *FLOORS.values()]:
        ratios = [(row[f"x_{memory}"], row) for row in rows if row.get(f"x_{memory}")]
        if not ratios:
            continue
        worst, where = min(ratios, key=lambda ratio: ratio[0])
        result[memory] = {
            "geometric_mean": math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios)),
            "worst": worst, "worst_op": where["op"], "worst_bytes": where["bytes"],
            "ahead": sum(ratio >= 1 for ratio, _ in ratios), "points": len(ratios),
        }
    return result


COLUMNS = [(name, name, 12) for name in PEERS + OURS] + [("x_private", "x private", 11), ("x_heap", "x heap", 9)]
FLOOR_COLUMNS = [("floor_private", "floor private", 15), ("floor_heap", "heap", 9),
                 ("x_floor_private", "x private", 11), ("x_floor_heap", "x heap", 9)]


def columns(arguments):
    return COLUMNS + (FLOOR_COLUMNS if arguments.floor else [])


def print_row(row, shown):
    cells = "".join(f"{row[key]:>{width}.2f}" if row.get(key) else f"{'-':>{width}}" for key, _, width in shown)
    print(f"{row['op']:15}{row['bytes']:>10}{cells}", flush=True)


def compare(arguments, programs, ranks):
    print(f"P={ranks}  microseconds a call; ratio = best peer / shoal")
    print(f"{'op':15}{'bytes':>10}" + "".join(f"{title:>{width}}" for _, title, width in columns(arguments)), flush=True)
    rows = []
    for operation in arguments.ops:
        for row in measure(arguments, programs, ranks, operation):
            print_row(row, columns(arguments))
            rows.append(row)
    total = summary(rows)
    for memory, figures in total.items():
        print(f"{memory}: geometric mean {figures['geometric_mean']:.2f}x, worst {figures['worst']:.2f}x at "
              f"{figures['worst_op']} {figures['worst_bytes']}, ahead at {figures['ahead']} of {figures['points']}")
    limits = {}
    if "limit" in programs:
        text = output_of([programs["limit"], str(ranks)], 300)
        limits = {name: float(value) for name, value in (line.split() for line in text.splitlines())}
        print("machine: " + ", ".join(f"{name} {value:g}" for name, value in limits.items()), flush=True)
    return {"ranks": ranks, "rows": rows, "summary": total, "limits": limits}


def machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"processor": model, "cores": len(os.sched_getaffinity(0))}


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Runs shoal beside Open MPI, MPICH and gloo, as far as they are there, and prints times and ratios.")
    parser.add_argument("-n", type=rank_list, default="2", metavar="P[,P...]", help="ranks")
    parser.add_argument("--ops", type=operation_list, default="all", metavar="LIST", help="operations")
    parser.add_argument("--sizes", type=size_list, default=SIZES, metavar="LIST", help="bytes of the whole vector")
    parser.add_argument("--seconds", type=seconds, default="0.15", metavar="T", help="of measuring each operation and size")
    parser.add_argument("--runs", type=int, default=1, metavar="K", help="of each contender, in turn; the median counts")
    parser.add_argument("--floor", action="store_true", help="also measure the least that the operations can take")
    parser.add_argument("--without", type=lambda text: text.split(","), default=argparse.SUPPRESS, metavar="LIST",
                        help=f"leave out some of {', '.join([*PEERS, *OURS, *FLOORS.values(), 'limit'])}")
    parser.add_argument("--json", default=argparse.SUPPRESS, metavar="FILE", help="also write all figures there, for scripts/bench-plot")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)  # Where shoalrun and shoal-bench are.
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)  # Where to build the peers' programs.
    arguments = parser.parse_args()
    arguments.without = getattr(arguments, "without", [])
    if arguments.runs < 1:
        parser.error("argument --runs: at least 1")

    programs = build(arguments.programs, arguments.without + ([] if arguments.floor else ["floor"]))
    worlds = [compare(arguments, programs, ranks) for ranks in arguments.n]
    if hasattr(arguments, "json"):
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "shoal.compare/1", "machine": machine(), "seconds": arguments.seconds,
                       "runs": arguments.runs, "worlds": worlds}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
