#!/usr/bin/env python3
"""High-precision references for crates/varnorm/tests/law.rs (needs mpmath: pip install mpmath).

    python3 tools/weighted_chi_square.py > crates/varnorm/tests/data/weighted_chi_square.json

P(sum w_j chi2_{m_j} > x) = 1/pi Im int_0^inf exp(K(c + i t) - (c + i t) x) / (c + i t) dt, K(s) = -1/2 sum m_j ln(1 - 2 w_j s), over the
vertical line through the saddle point c of the integrand, by mpmath's adaptive quadrature in 30 digits. The line
is another contour than the library's, the quadrature another rule, and nothing is grouped: the two share the
formula only. Two laws have closed forms, which check this script.
Takes some minutes.
"""
import json
import sys
from mpmath import erfc, exp, log, mp, mpc, mpf, pi, quad, sqrt

mp.dps = 30


def survival(terms, x):
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

    knots = [mpf(k) for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)]
    total = mpf(0)
    for a, b in zip(knots, knots[1:]):
        part = quad(integrand, [a, (a + b) / 2, b])
        total += part
        if abs(exp((phi(path(b)) - top).real)) < mpf(10) ** -22:
            break
    else:
        raise RuntimeError("the path is too short")
    return exp(top) * total / pi


def cases():
    decades = [(10.0 ** (-12 * j / 999), 1) for j in range(1000)]
    powers = [((1 + j) ** -2.0, 1) for j in range(300)]
    flat = [(1.0 + 0.001 * j, 1) for j in range(200)]
    two_scales = [(1.0, 1)] + [(1e-3, 5000)]
    tikhonov = [((lam / (lam + 1e-4)) ** 2, 1) for lam in ((1 + j) ** -1.5 for j in range(150))]
    single = [(1.0, 1)]
    for name, terms, xs in [
        ("one weight", single, [5.0, 20.0, 41.0]),
        ("1000 weights over 12 decades", decades, [30.0, 50.0, 70.0, 95.0]),
        ("300 weights (1+j)^-2", powers, [1.7, 8.0, 20.0, 40.0]),
        ("200 weights 1 + j/1000", flat, [230.0, 300.0, 380.0]),
        ("one large weight and 5000 small", two_scales, [6.5, 15.0, 45.0]),
        ("Tikhonov weights", tikhonov, [130.0, 200.0, 280.0]),
    ]:
        for x in xs:
            yield name, terms, x


def main():
    check = survival([(1, 1)], 20)
    assert abs(check / erfc(sqrt(mpf(10))) - 1) < mpf(10) ** -20, check
    check = survival([(1, 2)], 9)
    assert abs(check / exp(mpf(-9) / 2) - 1) < mpf(10) ** -20, check
    out = []
    for name, terms, x in cases():
        value = survival(terms, x)
        out.append({"name": name, "x": x, "survival": mp.nstr(value, 18)})
    json.dump(out, sys.stdout, indent=1)
    print()


main()
