#!/usr/bin/env python3
"""Times kernels against other libraries, both in one run on the same arrays, one thread each.

    python3 tools/peers.py                 # everything: about half an hour
    python3 tools/peers.py --only gak,sig  # some kernels
    python3 tools/peers.py --sizes 2       # the first sizes only

Makes a virtual environment with pysiglib, tslearn and PyTorch under target/peers, builds benches/time_gram, and prints
the table of docs/performance.md. Ratios above 1 mean that varnorm is faster. A cell also shows how far the two results
are apart, so that a fast wrong answer would be seen.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "target" / "peers"
PROGRAM = HOME / "time_gram"
# The most calls of each, and for how long.
CALLS, SECONDS = 200, 2.0
SIZES = [(64, 100, 3), (128, 100, 6), (64, 100, 64), (32, 400, 10), (256, 30, 6), (40, 144, 963)]


def prepare() -> None:
    """Installs the peers once and goes on inside their environment."""
    python = HOME / "bin" / "python"
    if Path(sys.prefix).resolve() == HOME.resolve():
        return
    if not (HOME / "ready").exists():
        venv.create(HOME, with_pip=True)
        wanted = ["pysiglib==4.*", "tslearn", "numba", "torch"]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        (HOME / "ready").touch()
    build = ["cargo", "build", "--release", "--locked", "-p", "varnorm", "--bench", "time_gram"]
    build += ["--message-format", "json-render-diagnostics"]
    lines = subprocess.run(build, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    # Cargo puts a hash into the names of benches and tells only here what it is.
    built = [message for message in map(json.loads, lines) if message.get("target", {}).get("name") == "time_gram"]
    shutil.copy2(built[-1]["executable"], PROGRAM)
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.execv(python, [str(python), *sys.argv])


def duration(microseconds: float) -> str:
    return f"{microseconds:.3g} us" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


def processor() -> str:
    """What the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="kernels, by the beginning of their name")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many sizes")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    prepare()

    import time

    import numpy as np
    import pysiglib
    import torch
    import tslearn
    from tslearn.metrics import cdist_gak

    torch.set_num_threads(1)
    work = HOME / "arrays"
    work.mkdir(exist_ok=True)
    generator = np.random.default_rng(0)

    def best(call):
        """The best of at least two calls, more while they are short, as benches/time_gram has it."""
        times, result = [], None
        while len(times) < 2 or (sum(times) < SECONDS and len(times) < CALLS):
            start = time.perf_counter()
            result = call()
            times.append(time.perf_counter() - start)
        return min(times), np.asarray(result)

    def ours(path, spec, repetitions=CALLS):
        out = work / "out.npy"
        command = [PROGRAM, "--bench", path, str(repetitions), "1", spec, "--write", out]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return float(text.split()[0]), np.load(out)

    def siglib(x, lift, **how):
        static = None if lift == "linear" else pysiglib.RBFKernel(2.0)
        runs = [
            best(lambda: pysiglib.sig_kernel_gram(x, x, static_kernel=static, max_batch=batch, **how))
            for batch in (-1, 16)
        ]
        return min(runs, key=lambda run: run[0])

    def polynomial(x, lift, exact):
        """The lowest order that reaches 1e-8 for every pair; the exact values are ours to 1e-12."""
        for order in range(2, 30):
            static = None if lift == "linear" else pysiglib.RBFKernel(2.0)
            found = pysiglib.sig_kernel_gram(x, x, method="polynomial", order=order, static_kernel=static, max_batch=16)
            if np.max(np.abs(found / exact - 1)) < 1e-8:
                seconds, result = siglib(x, lift, method="polynomial", order=order)
                return seconds, result, f"order {order}"
        raise RuntimeError("no order reaches 1e-8")

    def explicit(x, level):
        features = np.asarray(pysiglib.sig(x, level))
        # Level 0, which is 1, may be among them or not.
        return features @ features.T + float(not np.all(features[:, 0] == 1))

    def reservoir(x, tau, decay):
        products = torch.einsum("itd,jtd->tij", torch.from_numpy(x), torch.from_numpy(x))
        value = torch.ones(len(x), len(x), dtype=torch.float64)
        for q in decay**2 / (1 - tau**2 * products):
            value = 1 + q * value
        return value.numpy()

    def integral(x, sigma):
        at = torch.from_numpy(x).permute(1, 0, 2)
        squares = (at * at).sum(-1)
        distances = squares[:, :, None] + squares[:, None, :] - 2 * at @ at.transpose(1, 2)
        return torch.trapezoid(torch.exp(-distances / (2 * sigma**2)), dx=1 / (len(at) - 1), dim=0).numpy()

    def flat(x, sigma):
        rows = torch.from_numpy(x.reshape(len(x), -1))
        squares = (rows * rows).sum(-1)
        return torch.exp(-(squares[:, None] + squares[None] - 2 * rows @ rows.T) / (2 * sigma**2)).numpy()

    rows = []

    def compare(name, size, spec, peer, path, made=lambda mine: mine):
        if arguments.only and not any(spec.startswith(o) or name.startswith(o) for o in arguments.only.split(",")):
            return
        # Ours before and after the peer: the machine may be busier in between.
        first, mine = ours(path, spec)
        seconds, theirs, *note = peer(mine)
        second, _ = ours(path, spec)
        seconds_mine = min(first, second)
        pairs = size[0] * (size[0] + 1) // 2
        apart = float(np.max(np.abs(made(mine) - theirs) / np.maximum(np.abs(theirs), 1e-300)))
        rows.append(dict(kernel=name, size=size, spec=spec, ratio=seconds / seconds_mine, apart=apart,
                         microseconds_per_pair=seconds_mine / pairs * 1e6, note=note[0] if note else ""))
        print(f"{name:34} {size!s:16} {seconds / seconds_mine:7.1f}x  {seconds_mine / pairs * 1e6:9.2f} us/pair"
              f"  apart {apart:.1e} {note[0] if note else ''}", flush=True)

    for size in SIZES[: arguments.sizes]:
        count, steps, channels = size
        x = np.cumsum(generator.standard_normal(size) * 0.7 / np.sqrt(steps * channels), axis=1)
        path = work / f"{count}_{steps}_{channels}.npy"
        np.save(path, x)
        for lift, more in [("linear", "scale=1"), ("rbf", "lift=rbf,sigma=1,scale=1")]:
            for n in (0, 1, 2):
                compare(f"sig_pde {lift} dyadic {n}", size, f"sig_pde:{more},dyadic={n}",
                        lambda _: siglib(x, lift, dyadic_order=n), path)
            compare(f"sig_pde {lift} 1e-8", size, f"sig_pde:{more}",
                    lambda _: polynomial(x, lift, ours(path, f"sig_pde:{more},tolerance=1e-12", 1)[1]), path)
        # tslearn normalises, and its sum is ours divided by nothing else.
        compare("gak", size, "gak:sigma=1", lambda _: best(lambda: cdist_gak(x, sigma=1.0, n_jobs=None)), path,
                lambda mine: mine / np.sqrt(np.outer(np.diag(mine), np.diag(mine))))
        compare("sig level 7", size, "sig:level=7,scale=1", lambda mine: (float("nan"), mine), path)
        if channels <= 6:
            compare("sig_explicit level 5", size, "sig_explicit:level=5,scale=1",
                    lambda _: best(lambda: explicit(x, 5)), path)
        compare("flat_rbf", size, "flat_rbf:sigma=1", lambda _: best(lambda: flat(x, 1.0)), path)
        compare("integral_rbf", size, "integral_rbf:sigma=1", lambda _: best(lambda: integral(x, 1.0)), path)
        compare("vrk", size, "vrk:tau=0.1,lambda=0.9", lambda _: best(lambda: reservoir(x, 0.1, 0.9)), path)

    print(f"\npysiglib {pysiglib.__version__ if hasattr(pysiglib, '__version__') else '4'}, tslearn {tslearn.__version__},"
          f" torch {torch.__version__}; {processor()},"
          f" instructions {os.environ.get('VARNORM_INSTRUCTIONS', 'the best')}\n")
    names = list(dict.fromkeys(r["kernel"] for r in rows))
    print("| kernel | " + " | ".join(" x ".join(map(str, s)) for s in SIZES[: arguments.sizes]) + " |")
    print("|---" * (len(SIZES[: arguments.sizes]) + 1) + "|")
    for name in names:
        cells = {r["size"]: r for r in rows if r["kernel"] == name}
        shown = []
        for size in SIZES[: arguments.sizes]:
            r = cells.get(size)
            if r is None:
                shown.append("")
            elif r["ratio"] != r["ratio"]:
                shown.append(duration(r["microseconds_per_pair"]))
            else:
                shown.append(f"{r['ratio']:.1f}x ({duration(r['microseconds_per_pair'])})")
        print(f"| {name} | " + " | ".join(shown) + " |")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
