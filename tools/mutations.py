#!/usr/bin/env python3
"""Breaks the library on purpose, one formula at a time, and asks that the tests of the paper's statements notice.

    python3 tools/mutations.py              # all; about a minute each
    python3 tools/mutations.py --only 3,5

Works on a copy under target/mutants; the tree itself is not touched. A mutation whose text is no longer there, or that
does not compile, is an error: the list has to follow the code. Ends with 1 if a named test passed on broken code, or
if a statement's test is named by no mutation.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "mutants"
CRATES = ["varnorm", "varnorm-study"]

# (file, formula as it is, as it is not, tests that must fail)
MUTATIONS = [
    ("sample.rs", "s * s / n as f64", "s * s / (n - 1) as f64",
     ["lemma_qfg_equals_fcg", "prop_cal_k_and_its_inverse", "theorem_cameron_martin_norm_definitions_coincide",
      "theorem_empirical_banach_variance_norm", "theorem_hilbert_cameron_martin", "prop_empirical_variance_norm_sqrt_2n_equidistant"]),
    ("norm.rs", "Self::Exact => 1.0 / eigenvalue,", "Self::Exact => 1.0 / (eigenvalue * eigenvalue),",
     ["theorem_invariance_under_bounded_operators", "theorem_invariance_under_an_ill_conditioned_map",
      "theorem_cameron_martin_norm_definitions_coincide"]),
    ("norm.rs", "Self::Exact => Outside::InfiniteBeyond(off_span),", "Self::Exact => Outside::Nothing,",
     ["theorem_hilbert_cameron_martin", "theorem_cameron_martin_norm_definitions_coincide"]),
    # Estimates and laws use the same weights, so that only values from elsewhere tell that both are wrong.
    ("norm.rs", "Self::Tikhonov => eigenvalue / (eigenvalue + alpha).powi(2),",
     "Self::Tikhonov => eigenvalue / (eigenvalue + 2.0 * alpha).powi(2),",
     ["norms_of_vectors_and_of_their_products_have_their_golden_values"]),
    ("norm.rs", "Self::Envelope => 1.0 / (eigenvalue + alpha),", "Self::Envelope => 1.0 / (eigenvalue + 0.5 * alpha),",
     ["norms_of_vectors_and_of_their_products_have_their_golden_values", "envelope_is_the_minimum_it_claims_to_be"]),
    ("score/sweep.rs", "*sum += weight * square", "*sum += 2.0 * weight * square",
     ["theorem_consistent_estimator"]),
    ("score/sweep.rs", "let difference = p - lanes[lane];", "let difference = p + lanes[lane];",
     ["prop_min_max_difference_of_the_empirical_norm"]),
    ("spectrum/centred.rs", "(value - (row_means[i] + row_means[j]) + grand_mean) / n as f64",
     "value / n as f64", ["theorem_eigenvectors_cov_operator"]),
    ("spectrum/centred.rs", "let scale = (n as f64 * value).sqrt();", "let scale = value.sqrt();",
     ["theorem_eigenvectors_cov_operator"]),
    ("norm.rs", "Self::Tikhonov => (eigenvalue / (eigenvalue + alpha)).powi(2),",
     "Self::Tikhonov => eigenvalue / (eigenvalue + alpha),",
     ["theorem_gaussian_distribution", "prop_min_max_difference_of_the_empirical_norm"]),
    ("diagnostics.rs", "(l / d).sqrt().max(l / r)", "(l / d).sqrt().min(l / r)", ["prop_min_max_difference"]),
    ("norm.rs", "eigenvalues.iter().sum::<f64>() / largest", "eigenvalues.iter().sum::<f64>() * largest",
     ["prop_min_max_difference"]),
    ("sample.rs", "let eigenvalues: Vec<f64> = singular.iter().map(|s| s * s / n as f64).collect();",
     "let eigenvalues: Vec<f64> = singular.iter().map(|s| s * s / n as f64).take(4).collect();",
     ["lemma_covariance_operator_convergence"]),
    ("sample.rs", "let kept = eigenvalues.iter().take(most).take_while(|v| **v > threshold).count();",
     "let kept = eigenvalues.iter().take(most).skip_while(|v| **v > threshold).count();",
     ["lemma_covariance_concentration"]),
    ("theory/mod.rs", "value.map_or(0.0, |value| value / (value + alpha))", "value.map_or(0.0, |value| value / (value + 2.0 * alpha))",
     ["prop_empirical_variance_norm_sqrt_2n_equidistant"]),
]
SUITES = [("varnorm-study", "statements"), ("varnorm", "sample"), ("varnorm", "theorems"), ("varnorm", "golden/synthetic")]
# Named after the paper's labels.
STATEMENT = re.compile(r"^\s*fn ((?:lemma|prop|theorem)_\w+)", re.M)


def copy_tree():
    """The tracked files, in a folder with its own build."""
    COPY.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(["git", "ls-files", "Cargo.toml", "Cargo.lock", "crates", "python", "clippy.toml"],
                           cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for name in files:
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        content = (ROOT / name).read_bytes()
        # What has not changed keeps its date, and with it what was built.
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)


def run_suites():
    """The names of the tests that failed; `None` if the code does not compile."""
    command = ["cargo", "test", "--locked", *[word for crate in CRATES for word in ("-p", crate)], "--no-fail-fast", "--test", "it", "--"]
    command += [suite.replace("/", "::") + "::" for _, suite in SUITES]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True)
    if re.search(r"^error(\[|: could not compile)", done.stderr, re.M):
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    return set(re.findall(r"^test \S*?(\w+) \.\.\. FAILED", done.stdout, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="numbers of mutations, separated by commas")
    chosen = parser.parse_args().only
    chosen = [int(n) for n in chosen.split(",")] if chosen else range(1, len(MUTATIONS) + 1)

    statements = {name for crate, suite in SUITES
                  for name in STATEMENT.findall((ROOT / f"crates/{crate}/tests/it/{suite}.rs").read_text())}
    unnamed = statements - {test for mutation in MUTATIONS for test in mutation[3]}
    bad = bool(unnamed)
    for name in sorted(unnamed):
        print(f"no mutation names {name}")

    copy_tree()
    failed = run_suites()
    if failed is None or failed:
        sys.exit(f"without a mutation these fail already: {failed}")
    for number in chosen:
        name, old, new, tests = MUTATIONS[number - 1]
        found = [path for crate in CRATES if (path := COPY / "crates" / crate / "src" / name).exists()]
        if len(found) != 1:
            sys.exit(f"mutation {number}: {name} is there {len(found)} times")
        path = found[0]
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"mutation {number}: `{old}` is there {text.count(old)} times in {name}")
        path.write_text(text.replace(old, new))
        failed = run_suites()
        path.write_text(text)
        if failed is None:
            sys.exit(f"mutation {number} does not compile")
        missed = [test for test in tests if test not in failed]
        bad |= bool(missed)
        verdict = f"NOT NOTICED by {', '.join(missed)}" if missed else "noticed"
        print(f"{number:2} {name}: {old} -> {new}\n   {verdict}; {len(failed)} tests fail: {', '.join(sorted(failed))}", flush=True)
    shutil.rmtree(COPY, ignore_errors=False) if not bad else None
    sys.exit(bad)


if __name__ == "__main__":
    main()
