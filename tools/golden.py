#!/usr/bin/env python3
"""Small reference values for the library's tests, from naive definitions in 40 digits (needs mpmath: pip install mpmath).

    python3 tools/golden.py                   # writes crates/varnorm/tests/data/golden.json
    python3 tools/golden.py --check           # compares instead, and ends with 1 where a value differs
    python3 tools/golden.py --only kernels    # kernels, norms or law; law takes minutes, the others seconds

Nothing here is shared with the library: sums over alignments and chains are enumerated, the untruncated signature
kernel is summed level by level, norms are matrix functions of the covariance. Formulas: `varnorm kernels`.
Inputs are small fractions of 64, so that no rounding stands between them and the library's.
"""
import argparse
import itertools
import json
import math
import pathlib
import sys

from mpmath import eigsy, erfc, exp, eye, inf, log, matrix, mp, mpc, mpf, pi, quad, sqrt

mp.dps = 40
FILE = pathlib.Path(__file__).resolve().parent.parent / "crates" / "varnorm" / "tests" / "data" / "golden.json"


# Inputs

def series(seed, steps, channels):
    """A jagged path: steps are multiples of 1/64 between -1/2 and 1/2."""
    point, path = [mpf(0)] * channels, []
    for t in range(steps):
        moves = [(37 * seed + 29 * t * t + 17 * c + 11 * seed * t * (c + 1)) % 65 - 32 for c in range(channels)]
        point = [p + mpf(move) / 64 for p, move in zip(point, moves)]
        path.append(point)
    return path


def vectors(seed, count, dimension):
    """Rows of multiples of 1/64 between -1 and 1, larger in the first columns."""
    def cell(i, j):
        return mpf((97 * seed + 41 * i * i + 53 * i * j + 31 * j + 7 * i) % 129 - 64) / 64 / (j + 1)
    # Rounded to fractions again, as dividing by j + 1 leaves them.
    return [[mpf(int(cell(i, j) * 64)) / 64 for j in range(dimension)] for i in range(count)]


# Kernels

def dot(a, b):
    return sum((p * q for p, q in zip(a, b)), mpf(0))


def square(a, b):
    return sum(((p - q) ** 2 for p, q in zip(a, b)), mpf(0))


def rbf(a, b, sigma):
    return exp(-square(a, b) / (2 * sigma**2))


def flat(x):
    return [value for point in x for value in point]


def trapezoid(values):
    if len(values) == 1:
        return values[0]
    return sum((a + b) / 2 for a, b in zip(values, values[1:])) / (len(values) - 1)


def gak(x, y, sigma, band=None, floor=0):
    """The sum over every alignment, one by one."""
    width = None if band is None else max(band, abs(len(x) - len(y)))

    def kappa(s, t):
        if width is not None and abs(s - t) > width:
            return mpf(0)
        k = rbf(x[s], y[t], sigma)
        return max(k / (2 - k), mpf(floor))

    table = [[kappa(s, t) for t in range(len(y))] for s in range(len(x))]

    def from_here(s, t, product):
        product *= table[s][t]
        if (s, t) == (len(x) - 1, len(y) - 1):
            return product
        nexts = [(s + 1, t + 1), (s + 1, t), (s, t + 1)]
        return sum(from_here(a, b, product) for a, b in nexts if a < len(x) and b < len(y))

    return from_here(0, 0, mpf(1))


def vrk(x, y, tau, lam, clip=None):
    if clip is not None:
        def shorten(point):
            length = sqrt(dot(point, point))
            return point if length <= clip / tau else [p * clip / tau / length for p in point]
        x, y = [shorten(p) for p in x], [shorten(p) for p in y]
    value, product = mpf(1), mpf(1)
    for a, b in zip(reversed(x), reversed(y)):
        product *= lam**2 / (1 - tau**2 * dot(a, b))
        value += product
    return value


def increments(x, y, lift):
    """Second differences of the static kernel."""
    k = [[lift(a, b) for b in y] for a in x]
    return [
        [k[s + 1][t + 1] - k[s + 1][t] - k[s][t + 1] + k[s][t] for t in range(len(y) - 1)] for s in range(len(x) - 1)
    ]


def chains(count, length, order):
    """Ascending indices below `count`, none of them more than `order` times, with 1 / the factorials of their uses."""
    for chain in itertools.combinations_with_replacement(range(count), length):
        uses = [chain.count(i) for i in set(chain)]
        if all(u <= order for u in uses):
            yield chain, 1 / mpf(math.prod(math.factorial(u) for u in uses))


def level_by_chains(z, level, order):
    rows, columns = len(z), len(z[0]) if z else 0
    below = list(chains(columns, level, order))
    return sum(
        (v * w * math.prod((z[s][t] for s, t in zip(a, b)), start=mpf(1))
         for a, v in chains(rows, level, order) for b, w in below),
        mpf(0),
    )


def sig(x, y, level, order, lift, scale, published=False):
    z = [[scale * value for value in row] for row in increments(x, y, lift)]
    levels = [level_by_chains(z, m, order) for m in range(1, level + 1)]
    return 1 + (levels[-1] if published else sum(levels))


def signature(x, level):
    """The levels of the signature of a piecewise linear path: products of exponentials, as tensors in rows."""
    channels = len(x[0])
    whole = [[mpf(1)]] + [[mpf(0)] * channels**m for m in range(1, level + 1)]
    for a, b in zip(x, x[1:]):
        step = [q - p for p, q in zip(a, b)]
        powers = [[mpf(1)]]
        for m in range(1, level + 1):
            powers.append([p * s / m for p in powers[-1] for s in step])
        whole = [
            [sum(column) for column in zip(*([p * q for p in whole[k] for q in powers[m - k]] for k in range(m + 1)))]
            for m in range(level + 1)
        ]
    return whole


def sig_explicit(x, y, level, scale):
    levels = zip(signature(x, level), signature(y, level))
    return sum(scale**m * dot(a, b) for m, (a, b) in enumerate(levels))


def integrated_levels(z):
    """The levels of the untruncated kernel, each the integral of z times the one before: polynomials on every cell."""
    rows, columns = len(z), len(z[0]) if z else 0
    polynomials = [[[[mpf(1)]] for _ in range(columns)] for _ in range(rows)]
    while True:
        size = len(polynomials[0][0]) + 1
        new = [[None] * columns for _ in range(rows)]
        for s, t in itertools.product(range(rows), range(columns)):
            p = [[mpf(0)] * size for _ in range(size)]
            old = polynomials[s][t]
            for i, j in itertools.product(range(size - 1), repeat=2):
                p[i + 1][j + 1] = z[s][t] * old[i][j] / ((i + 1) * (j + 1))
            # On the edges: the cell above at its end, the cell to the left at its end; both are zero in the corner ...
            above = [sum(new[s - 1][t][i][j] for i in range(size)) for j in range(size)] if s else [mpf(0)] * size
            left = [sum(new[s][t - 1][i]) for i in range(size)] if t else [mpf(0)] * size
            for n in range(1, size):
                p[0][n] += above[n]
                p[n][0] += left[n]
            # ... but for the value that both have there.
            p[0][0] += above[0] if s else mpf(0)
            new[s][t] = p
        polynomials = new
        yield sum(map(sum, polynomials[-1][-1]))


def sig_pde(x, y, lift, scale):
    z = [[scale * value for value in row] for row in increments(x, y, lift)]
    value = mpf(1)
    if not z or not z[0]:
        return value
    for m, term in enumerate(integrated_levels(z)):
        value += term
        # Terms fall faster than any power; one of them may vanish by chance.
        if m > 3 and abs(term) < mpf(10) ** -24 and abs(previous) < mpf(10) ** -22:
            return value
        previous = term


def sig_pde_dyadic(x, y, lift, scale, dyadic):
    parts = 2**dyadic
    z = [[scale * value / parts**2 for value in row] for row in increments(x, y, lift)]
    rows, columns = len(z) * parts, (len(z[0]) if z else 0) * parts
    u = [[mpf(1)] * (columns + 1) for _ in range(rows + 1)]
    for s, t in itertools.product(range(rows), range(columns)):
        c = z[s // parts][t // parts]
        u[s + 1][t + 1] = (u[s + 1][t] + u[s][t + 1]) * (1 + c / 2 + c * c / 12) - u[s][t] * (1 - c * c / 12)
    return u[rows][columns]


def lifted(sigma):
    return lambda a, b: rbf(a, b, mpf(sigma))


# Parameters are fractions of powers of two: their words mean the same number in both languages.
KERNELS = [
    ("flat_linear", False, lambda x, y: dot(flat(x), flat(y))),
    ("flat_rbf:sigma=0.75", False, lambda x, y: rbf(flat(x), flat(y), mpf("0.75"))),
    ("flat_rbf:sigma=3", False, lambda x, y: rbf(flat(x), flat(y), 3)),
    ("flat_poly:c=1,p=3", False, lambda x, y: (dot(flat(x), flat(y)) + 1) ** 3),
    ("flat_poly:c=0.25,p=2", False, lambda x, y: (dot(flat(x), flat(y)) + mpf("0.25")) ** 2),
    ("integral_rbf:sigma=0.5", False, lambda x, y: trapezoid([rbf(a, b, mpf("0.5")) for a, b in zip(x, y)])),
    ("integral_poly:c=0.5,p=3", False, lambda x, y: trapezoid([(dot(a, b) + mpf("0.5")) ** 3 for a, b in zip(x, y)])),
    ("gak:sigma=3", True, lambda x, y: gak(x, y, 3)),
    ("gak:sigma=0.5", True, lambda x, y: gak(x, y, mpf("0.5"))),
    ("gak:sigma=1,band=1", True, lambda x, y: gak(x, y, 1, band=1)),
    ("gak:sigma=0.25,floor=0.125", True, lambda x, y: gak(x, y, mpf("0.25"), floor="0.125")),
    ("vrk:tau=0.25,lambda=0.75", False, lambda x, y: vrk(x, y, mpf("0.25"), mpf("0.75"))),
    ("vrk:tau=0.75,lambda=1,clip=0.5", False, lambda x, y: vrk(x, y, mpf("0.75"), 1, clip=mpf("0.5"))),
    ("sig:level=1,scale=0.5", True, lambda x, y: sig(x, y, 1, 1, dot, mpf("0.5"))),
    ("sig:level=4,scale=0.5", True, lambda x, y: sig(x, y, 4, 1, dot, mpf("0.5"))),
    ("sig:level=4,order=2,scale=0.5", True, lambda x, y: sig(x, y, 4, 2, dot, mpf("0.5"))),
    ("sig:level=4,order=4,scale=0.5", True, lambda x, y: sig(x, y, 4, 4, dot, mpf("0.5"))),
    ("sig:level=3,lift=rbf,sigma=0.75,scale=2", True, lambda x, y: sig(x, y, 3, 1, lifted("0.75"), 2)),
    ("sig:level=3,order=3,lift=rbf,sigma=1,scale=1", True, lambda x, y: sig(x, y, 3, 3, lifted(1), 1)),
    ("sig:level=2,scale=0.5,compat=published", True, lambda x, y: sig(x, y, 2, 1, dot, mpf("0.5"), published=True)),
    ("sig_pde:scale=0.5,tolerance=1e-12", True, lambda x, y: sig_pde(x, y, dot, mpf("0.5"))),
    ("sig_pde:lift=rbf,sigma=0.75,scale=1,tolerance=1e-12", True, lambda x, y: sig_pde(x, y, lifted("0.75"), 1)),
    ("sig_pde:scale=0.5,dyadic=0", True, lambda x, y: sig_pde_dyadic(x, y, dot, mpf("0.5"), 0)),
    ("sig_pde:lift=rbf,sigma=0.75,scale=1,dyadic=2", True, lambda x, y: sig_pde_dyadic(x, y, lifted("0.75"), 1, 2)),
    ("sig_explicit:level=3,scale=0.5", True, lambda x, y: sig_explicit(x, y, 3, mpf("0.5"))),
]


def between(kernel, rows, columns):
    return [[kernel(x, y) for y in columns] for x in rows]


def check_kernels(x, y):
    """Two ways to the same signature kernels."""
    levels = integrated_levels([[value / 2 for value in row] for row in increments(x, y, dot)])
    whole = mpf(1)
    for m in range(1, 4):
        whole += next(levels)
        assert abs(sig(x, y, m, m, dot, mpf("0.5")) - whole) < mpf(10) ** -30, m
        assert abs(sig_explicit(x, y, m, mpf("0.5")) - whole) < mpf(10) ** -30, m


def kernels():
    x, y = [series(i, 5, 2) for i in range(4)], [series(10 + i, 5, 2) for i in range(3)]
    ragged = [series(20 + i, steps, 2) for i, steps in enumerate((1, 2, 6))]
    check_kernels(x[1], ragged[2])
    cases = []
    for spec, any_lengths, kernel in KERNELS:
        case = {"spec": spec, "xx": between(kernel, x, x), "xy": between(kernel, x, y)}
        if any_lengths:
            case["x_ragged"] = between(kernel, x, ragged)
        cases.append(case)
    return {"x": x, "y": y, "ragged": ragged, "cases": cases}


# Norms

def transposed_product(rows):
    """X^T X of the centred rows, over their number: the covariance; and the mean."""
    n, d = len(rows), len(rows[0])
    mean = [sum(row[j] for row in rows) / n for j in range(d)]
    centred = matrix([[row[j] - mean[j] for j in range(d)] for row in rows])
    return centred.T * centred / n, mean


def quadratic(a, z):
    return (z.T * a * z)[0]


def squared_norm(name, alpha, covariance, z):
    """As a function of the covariance matrix, with no eigenvector in sight. The exact norm needs an invertible one."""
    inverse = (covariance + (0 if name == "exact" else mpf(alpha)) * eye(covariance.rows)) ** -1
    return quadratic(inverse * covariance * inverse if name == "tikhonov" else inverse, z)


def squared_norm_of_rank(name, alpha, pairs, z):
    """From the kept eigenpairs."""
    inside = [(value, (vector.T * z)[0] ** 2) for value, vector in pairs]
    alpha = mpf(alpha)
    outside = (z.T * z)[0] - sum(c for _, c in inside)
    if name == "tikhonov":
        return sum(value / (value + alpha) ** 2 * c for value, c in inside)
    if name == "envelope":
        return sum(c / (value + alpha) for value, c in inside) + outside / alpha
    return inf if outside > mpf(10) ** -20 else sum(c / value for value, c in inside)


def leading(covariance, rank):
    """The eigenpairs of positive eigenvalues, the largest first, at most `rank`."""
    values, vectors = eigsy(covariance)
    pairs = sorted(((values[j], vectors[:, j]) for j in range(len(values))), key=lambda pair: -pair[0])
    kept = [pair for pair in pairs if pair[0] > mpf(10) ** -20]
    return kept[:rank] if rank else kept


def distances(square_of, sample, mean, query):
    """Mahalanobis, and those to all corpus elements with their indices, the nearest first."""
    def score(point):
        return sqrt(square_of(matrix([a - b for a, b in zip(query, point)])))
    ordered = sorted((score(point), index) for index, point in enumerate(sample))
    return score(mean), ordered


def scores(name, alpha, rank, sample, queries):
    covariance, mean = transposed_product(sample)
    pairs = leading(covariance, rank)
    whole = len(pairs) == covariance.rows

    def square_of(z):
        value = squared_norm_of_rank(name, alpha, pairs, z)
        # All kept, or a norm of functions that are zero beyond: two ways to the same number.
        if whole or (rank is None and name != "exact"):
            other = squared_norm(name, alpha, covariance, z)
            assert abs(value - other) <= mpf(10) ** -25 * max(1, other), (name, value, other)
        return value

    case = {"norm": name, "alpha": alpha, "rank": rank, "mahalanobis": [], "nearest": [], "conformance": [], "third": []}
    for query in queries:
        mahalanobis, ordered = distances(square_of, sample, mean, query)
        case["mahalanobis"].append(mahalanobis)
        case["conformance"].append(ordered[0][0])
        case["nearest"].append(ordered[0][1] if ordered[0][0] < inf else None)
        case["third"].append(ordered[2][0])
    return case


def left_out(name, alpha, sample):
    """Each element scored by a model of the others."""
    each = [scores(name, alpha, None, sample[:i] + sample[i + 1:], [sample[i]]) for i in range(len(sample))]
    found = {"norm": name, "alpha": alpha}
    return found | {key: [case[key][0] for case in each] for key in ("mahalanobis", "conformance")}


MEASURES = [("exact", 0.0), ("tikhonov", 0.0625), ("tikhonov", 1.0), ("envelope", 0.0625), ("envelope", 1.0)]


def norms():
    """Many vectors of few dimensions, and few of many; the latter's queries leave the span."""
    samples = []
    for count, dimension, ranks in ((9, 3, (None, 2)), (5, 7, (None, 2))):
        sample, queries = vectors(count, count, dimension), vectors(count + 1, 4, dimension)
        # One query between two corpus elements: inside the span.
        queries[-1] = [(3 * a + b) / 4 for a, b in zip(sample[0], sample[1])]
        cases = [scores(name, alpha, rank, sample, queries) for rank in ranks for name, alpha in MEASURES]
        eigenvalues = [value for value, _ in leading(transposed_product(sample)[0], None)]
        samples.append({
            "sample": sample, "queries": queries, "eigenvalues": eigenvalues, "cases": cases,
            "left_out": [left_out(name, alpha, sample) for name, alpha in MEASURES],
        })
    return samples


# The law of weighted chi-squares

def survival(terms, x):
    """P(sum w_j chi2_{m_j} > x) = 1/pi Im int_0^inf exp(K(c + i t) - (c + i t) x) / (c + i t) dt.

    K(s) = -1/2 sum m_j ln(1 - 2 w_j s); the line goes through the saddle point c of the integrand. It is another contour
    than the library's, the quadrature another rule, and nothing is grouped: the two share the formula only.
    """
    x = mpf(x)
    terms = [(mpf(w), mpf(m)) for w, m in terms]
    edge = 1 / (2 * max(w for w, _ in terms))

    def slope(s):
        return sum(m * w / (1 - 2 * w * s) for w, m in terms) - x - 1 / s

    low, high = edge * mpf(10) ** -12, edge * (1 - mpf(10) ** -12)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    c = (low + high) / 2

    def phi(s):
        return -sum(m * log(1 - 2 * w * s) for w, m in terms) / 2 - s * x - log(s)

    top = phi(c).real
    width = 1 / sqrt(sum(2 * m * (w / (1 - 2 * w * c)) ** 2 for w, m in terms) + 1 / c**2)

    # The line is bent to the right beyond its middle part, so that exp(-s x) ends it: the same integral.
    def path(t):
        return c + width * mpc(t * t / (4 + t), t)

    def speed(t):
        return width * mpc((2 * t * (4 + t) - t * t) / (4 + t) ** 2, 1)

    def integrand(t):
        return (exp(phi(path(t)) - top) * speed(t)).imag

    knots = [mpf(0)] + [mpf(2) ** k for k in range(13)]
    total = mpf(0)
    for a, b in zip(knots, knots[1:]):
        total += quad(integrand, [a, (a + b) / 2, b])
        if abs(exp((phi(path(b)) - top).real)) < mpf(10) ** -22:
            return exp(top) * total / pi
    raise RuntimeError("the path is too short")


def law():
    mp.dps = 30
    assert abs(survival([(1, 1)], 20) / erfc(sqrt(mpf(10))) - 1) < mpf(10) ** -20
    assert abs(survival([(1, 2)], 9) / exp(mpf(-9) / 2) - 1) < mpf(10) ** -20
    tikhonov = [((value / (value + 1e-4)) ** 2, 1) for value in ((1 + j) ** -1.5 for j in range(150))]
    laws = [
        ("one weight", [(1.0, 1)], [5.0, 20.0, 41.0]),
        ("1000 weights over 12 decades", [(10.0 ** (-12 * j / 999), 1) for j in range(1000)], [30.0, 50.0, 70.0, 95.0]),
        ("300 weights (1+j)^-2", [((1 + j) ** -2.0, 1) for j in range(300)], [1.7, 8.0, 20.0, 40.0]),
        ("200 weights 1 + j/1000", [(1.0 + 0.001 * j, 1) for j in range(200)], [230.0, 300.0, 380.0]),
        ("one large weight and 5000 small", [(1.0, 1), (1e-3, 5000)], [6.5, 15.0, 45.0]),
        ("Tikhonov weights", tikhonov, [130.0, 200.0, 280.0]),
    ]
    found = [{"name": name, "x": x, "survival": survival(terms, x)} for name, terms, xs in laws for x in xs]
    mp.dps = 40
    return found


# The file

SECTIONS = {"kernels": kernels, "norms": norms, "law": law}


def plain(value):
    """Numbers as the nearest doubles; infinity, which JSON has not, as a word."""
    if isinstance(value, mpf):
        return "infinity" if value == inf else float(value)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


def text(value, depth=0):
    """JSON with a line for everything that fits into one."""
    line = json.dumps(value)
    if len(line) + depth <= 118 or not isinstance(value, (dict, list)):
        return line
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        parts, ends = [f"{json.dumps(key)}: {text(part, depth + 1)}" for key, part in value.items()], "{}"
    else:
        parts, ends = [text(part, depth + 1) for part in value], "[]"
    return ends[0] + "\n" + ",\n".join(pad + part for part in parts) + "\n" + " " * depth + ends[1]


def differences(found, stored, at):
    """Places where two values differ by more than the last digits, which may depend on the platform's parsing."""
    if isinstance(found, dict) and isinstance(stored, dict) and found.keys() == stored.keys():
        return [d for key in found for d in differences(found[key], stored[key], f"{at}.{key}")]
    if isinstance(found, list) and isinstance(stored, list) and len(found) == len(stored):
        return [d for i, pair in enumerate(zip(found, stored)) for d in differences(*pair, f"{at}[{i}]")]
    if isinstance(found, float) and isinstance(stored, float):
        return [] if abs(found - stored) <= 1e-15 * abs(stored) else [f"{at}: {found!r}, stored {stored!r}"]
    return [] if found == stored else [f"{at}: {found!r}, stored {stored!r}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file and write nothing")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="this section; may be given more than once")
    arguments = parser.parse_args()
    stored = json.loads(FILE.read_text()) if FILE.exists() else {}
    found = {name: plain(SECTIONS[name]()) for name in arguments.only or SECTIONS}
    if arguments.check:
        wrong = [d for name, value in found.items() for d in differences(value, stored.get(name), name)]
        print("\n".join(wrong) or f"{FILE.name}: {', '.join(found)} as computed")
        sys.exit(bool(wrong))
    FILE.write_text(text({name: found.get(name, stored.get(name)) for name in SECTIONS}) + "\n")


if __name__ == "__main__":
    main()
