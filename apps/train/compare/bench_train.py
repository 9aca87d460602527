"""How fast shoal-train trains, beside PyTorch's DistributedDataParallel over gloo on the same network, batch and optimizer.

Each round runs every program once, in turn, so that what else the machine does meets all of them; figures are the
medians of the rounds, ratios those of each round. Run by scripts/bench_train.
"""
import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def shoal(options, ranks, stage):
    command = [os.path.join(options.bin, "shoalrun"), "-n", str(ranks), os.path.join(options.bin, "shoal-train"),
               "--steps", str(options.steps), "--stage", str(stage), "--progress", "none", "--report", "-"]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    times = json.loads(result.stdout)["time"]
    share = times["communicate_s"] / (times["communicate_s"] + times["compute_s"])
    return {"steps_per_s": times["steps_per_s"], "communicate": share}


def torch(options, ranks):
    command = [sys.executable, os.path.join(HERE, "torch_peer.py"), "--ranks", str(ranks), "--steps", str(options.steps)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return {"steps_per_s": json.loads(result.stdout.splitlines()[-1])["steps_per_s"]}


def rounds_of(options):
    has_torch = importlib.util.find_spec("torch") is not None
    if not has_torch:
        print("PyTorch is not installed (scripts/setup python3-torch): shoal alone", file=sys.stderr)
    rounds = []
    for number in range(options.runs):
        figures = {}
        for ranks in options.ranks:
            for stage in (2, 0, 3):
                figures["shoal", ranks, stage] = shoal(options, ranks, stage)
            if has_torch:
                figures["torch", ranks] = torch(options, ranks)
        rounds.append(figures)
        print(f"round {number + 1} of {options.runs}", file=sys.stderr)
    return rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("-n", dest="ranks", default="1,2,4", help="numbers of ranks (1,2,4)")
    parser.add_argument("--steps", type=int, default=420, help="of each run, the first 20 not counted (420)")
    parser.add_argument("--runs", type=int, default=5, help="rounds (5)")
    parser.add_argument("--json", help="write every figure of every round to this file")
    options = parser.parse_args()
    options.ranks = [int(ranks) for ranks in options.ranks.split(",")]
    rounds = rounds_of(options)

    def median(value):
        values = [value(figures) for figures in rounds]
        return statistics.median(values)

    def ratio(one, other):
        if other not in rounds[0] or one not in rounds[0]:
            return "-"
        return f"{median(lambda figures: figures[one]['steps_per_s'] / figures[other]['steps_per_s']):.2f}"

    print("| ranks | PyTorch steps/s | shoal steps/s | ratio | to its own 1 rank | communicating | stage 3 to stage 0 |")
    print("|---|---|---|---|---|---|---|")
    for ranks in options.ranks:
        own, peer = ("shoal", ranks, 2), ("torch", ranks)
        theirs = f"{median(lambda figures: figures[peer]['steps_per_s']):.0f}" if peer in rounds[0] else "-"
        print(f"| {ranks} | {theirs} | {median(lambda figures: figures[own]['steps_per_s']):.0f} | {ratio(own, peer)} "
              f"| {ratio(own, ('shoal', 1, 2))} | {100 * median(lambda figures: figures[own]['communicate']):.0f} % "
              f"| {ratio(('shoal', ranks, 3), ('shoal', ranks, 0))} |")
    if options.json:
        with open(options.json, "w") as file:
            json.dump([[{"run": key, **value} for key, value in figures.items()] for figures in rounds], file, indent=1)


if __name__ == "__main__":
    main()
