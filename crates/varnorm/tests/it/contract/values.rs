//! What every kernel of the catalogue promises.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Numbers, smallest_eigenvalue};
use varnorm::gram::{self, Scaling, Tiling};
use varnorm::kernel::{CATALOGUE, Lift};
use varnorm::{Kernel, Rank, Run, SeriesSet, Spectrum};

fn every_kernel() -> Vec<Kernel> {
    let examples = CATALOGUE.iter().map(|info| info.example);
    examples.chain(VARIANTS.iter().copied()).map(|spec| spec.parse().unwrap()).collect()
}

/// Other paths through kernels of the catalogue than their examples take.
const VARIANTS: &[&str] = &[
    "sig:level=7,scale=0.1",
    "sig:level=3,order=3,scale=0.2",
    "sig:level=5,order=2,lift=rbf,sigma=2,scale=1.5",
    "sig:level=3,scale=0.3,compat=published",
    "sig_pde:scale=0.05,tolerance=1e-12",
    "sig_pde:scale=0.05,dyadic=0",
    "sig_pde:lift=rbf,sigma=2,scale=1.5,dyadic=2",
    "sig_fourier:level=2,features=5,form=diagonal,sigma=2,scale=1.5,seed=3",
];

/// The Goursat problem by the published scheme on cells halved n times.
fn naive_dyadic(z: &[Vec<f64>], n: u32) -> f64 {
    let parts = 1usize << n;
    let columns = z.first().map_or(0, Vec::len);
    let mut u = vec![vec![1.0; columns * parts + 1]; z.len() * parts + 1];
    for s in 0..z.len() * parts {
        for t in 0..columns * parts {
            let z = z[s / parts][t / parts] / (parts * parts) as f64;
            u[s + 1][t + 1] =
                (u[s + 1][t] + u[s][t + 1]) * (1.0 + z / 2.0 + z * z / 12.0) - u[s][t] * (1.0 - z * z / 12.0);
        }
    }
    u[z.len() * parts][columns * parts]
}

/// The Goursat problem by the whole Taylor series of quarter cells, as far as rounding can see:
/// `d^(i+j) u / ds^i dt^j = z d^(i+j-2) u / ds^(i-1) dt^(j-1)`.
fn naive_goursat(z: &[Vec<f64>]) -> f64 {
    const TERMS: usize = 16;
    let weight: Vec<f64> = (0..TERMS).map(|n| 1.0 / (1..=n).product::<usize>() as f64).collect();
    let columns = 2 * z.first().map_or(0, Vec::len);
    let edge: Vec<f64> = (0..TERMS).map(|n| if n == 0 { 1.0 } else { 0.0 }).collect();
    let mut above = vec![edge.clone(); columns];
    for s in 0..2 * z.len() {
        let mut left = edge.clone();
        for (t, top) in above.iter_mut().enumerate() {
            let z = z[s / 2][t / 2] / 4.0;
            let (mut row, mut bottom, mut right) = (top.clone(), vec![0.0; TERMS], vec![0.0; TERMS]);
            for i in 0..TERMS {
                if i > 0 {
                    row.rotate_right(1);
                    row.iter_mut().for_each(|v| *v *= z);
                    row[0] = left[i];
                }
                right[i] = row.iter().zip(&weight).map(|(v, w)| v * w).sum();
                bottom.iter_mut().zip(&row).for_each(|(b, v)| *b += v * weight[i]);
            }
            (*top, left) = (bottom, right);
        }
    }
    above.last().map_or(1.0, |edge| {
        if z.is_empty() { 1.0 } else { edge.iter().zip(&weight).map(|(v, w)| v * w).sum() }
    })
}

/// Chains of cells one by one: every level as a full matrix of the chains that end in a cell, told apart by how often
/// they have used its row and its column.
fn naive_signature(json: &serde_json::Value, z: &[Vec<f64>]) -> f64 {
    let whole = |name: &str| json[name].as_u64().unwrap_or(1) as usize;
    let (level, scale) = (whole("level"), json["scale"].as_f64().unwrap());
    let order = if json["kernel"] == "sig_explicit" { level } else { whole("order") };
    let (rows, columns) = (z.len(), z.first().map_or(0, Vec::len));
    // chains[s][t][q][r]: the sum over chains of the level at hand.
    let mut chains = vec![vec![vec![vec![0.0; order + 1]; order + 1]; columns]; rows];
    for (s, row) in z.iter().enumerate() {
        row.iter().enumerate().for_each(|(t, z)| chains[s][t][1][1] = scale * z);
    }
    let mut value = 1.0;
    for m in 1..=level {
        let total: f64 = chains.iter().flatten().flatten().flatten().sum();
        if m == level || json.get("compat").is_none() {
            value += total;
        }
        let mut next = chains.clone();
        // Sums over earlier cells, by the number of uses of their row or column.
        let mut earlier = vec![0.0; columns];
        let mut in_columns = vec![vec![0.0; order + 1]; columns];
        for s in 0..rows {
            let (mut before, mut in_row) = (0.0, vec![0.0; order + 1]);
            for t in 0..columns {
                for q in 1..=order {
                    for r in 1..=order {
                        let shorter = match (q, r) {
                            (1, 1) => before,
                            (_, 1) => in_row[q - 1],
                            (1, _) => in_columns[t][r - 1],
                            _ => chains[s][t][q - 1][r - 1],
                        };
                        next[s][t][q][r] = shorter * scale * z[s][t] / (q * r) as f64;
                    }
                }
                before += earlier[t];
                for q in 1..=order {
                    in_row[q] += chains[s][t][q].iter().sum::<f64>();
                }
            }
            for t in 0..columns {
                earlier[t] += chains[s][t].iter().flatten().sum::<f64>();
                for r in 1..=order {
                    in_columns[t][r] += chains[s][t].iter().map(|q| q[r]).sum::<f64>();
                }
            }
        }
        chains = next;
    }
    value
}

/// The definition, written as naively as can be.
fn naive(kernel: &Kernel, x: &[f64], y: &[f64], channels: usize) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let json = serde_json::to_value(kernel).unwrap();
    let number = |name: &str| json[name].as_f64().unwrap();
    let point = |a: &[f64], b: &[f64]| {
        if json.get("sigma").is_some() {
            (-square(a, b) / (2.0 * number("sigma").powi(2))).exp()
        } else {
            (dot(a, b) + number("c")).powf(number("p"))
        }
    };
    let points: Vec<(&[f64], &[f64])> = x.chunks(channels).zip(y.chunks(channels)).collect();
    let name = json["kernel"].as_str().unwrap();
    match name {
        "flat_linear" => dot(x, y),
        "vrk" => {
            let radius = number("clip") / number("tau");
            let short = |a: &[f64]| (radius / dot(a, a).sqrt()).min(1.0);
            points.iter().fold(1.0, |past, (a, b)| {
                let product = dot(a, b) * short(a) * short(b);
                1.0 + number("lambda").powi(2) / (1.0 - number("tau").powi(2) * product) * past
            })
        }
        // The features themselves are checked beside their definition.
        "sig_random" => {
            let features = |values: &[f64]| {
                let mut one = SeriesSet::new(channels).unwrap();
                one.push(values).unwrap();
                let (count, seed) = (json["features"].as_u64().unwrap(), json["seed"].as_u64().unwrap());
                let run = Run::sequential();
                varnorm::kernel::random_signature(&one, count as u32, number("variance"), seed, &run).unwrap()
            };
            dot(features(x).values(), features(y).values()) / number("features")
        }
        "sig_fourier" => {
            let features = |values: &[f64]| {
                let mut one = SeriesSet::new(channels).unwrap();
                one.push(values).unwrap();
                varnorm::kernel::fourier_signature_features(&one, kernel, &Run::sequential()).unwrap()
            };
            dot(features(x).values(), features(y).values())
        }
        "gak" => {
            let (x, y): (Vec<&[f64]>, Vec<&[f64]>) =
                (x.chunks(channels).collect(), y.chunks(channels).collect());
            let mut table = vec![vec![0.0; y.len() + 1]; x.len() + 1];
            table[0][0] = 1.0;
            for s in 1..=x.len() {
                for t in 1..=y.len() {
                    let k = point(x[s - 1], y[t - 1]);
                    table[s][t] = k / (2.0 - k) * (table[s - 1][t - 1] + table[s - 1][t] + table[s][t - 1]);
                }
            }
            table[x.len()][y.len()]
        }
        "sig" | "sig_explicit" | "sig_pde" => {
            let lifted = |a: &[f64], b: &[f64]| match json["lift"].as_str() {
                Some("rbf") => (-square(a, b) / (2.0 * number("sigma").powi(2))).exp(),
                _ => dot(a, b),
            };
            let (x, y): (Vec<_>, Vec<_>) = (x.chunks(channels).collect(), y.chunks(channels).collect());
            let increment = |a: &[&[f64]], b: &[&[f64]]| {
                lifted(a[1], b[1]) - lifted(a[1], b[0]) - lifted(a[0], b[1]) + lifted(a[0], b[0])
            };
            let z: Vec<Vec<f64>> =
                x.windows(2).map(|a| y.windows(2).map(|b| increment(a, b)).collect()).collect();
            if name != "sig_pde" {
                return naive_signature(&json, &z);
            }
            let scaled = z.iter().map(|row| row.iter().map(|z| z * number("scale")).collect());
            let scaled: Vec<Vec<f64>> = scaled.collect();
            match json["dyadic"].as_u64() {
                Some(n) => naive_dyadic(&scaled, n as u32),
                None => naive_goursat(&scaled),
            }
        }
        _ if name.starts_with("flat_") => point(x, y),
        _ if points.len() == 1 => point(x, y),
        _ => {
            let pieces = points.windows(2).map(|w| 0.5 * (point(w[0].0, w[0].1) + point(w[1].0, w[1].1)));
            pieces.sum::<f64>() / (points.len() - 1) as f64
        }
    }
}

/// What a kernel promises beside rounding.
fn accuracy(kernel: &Kernel) -> f64 {
    match kernel {
        Kernel::SigPde { dyadic: None, tolerance, .. } => tolerance.unwrap_or(1e-8),
        // Thousands of small cells, each with its rounding.
        Kernel::SigPde { .. } => 1e-11,
        _ => 1e-13,
    }
}

#[test]
fn values_equal_the_naive_definition_for_every_shape() {
    let run = Run::with_threads(2).unwrap();
    for (n, steps, channels) in [(1, 1, 1), (3, 1, 4), (9, 2, 1), (17, 30, 6), (130, 7, 3), (5, 40, 150)] {
        let set = Numbers(5).walks(n, steps, channels);
        for kernel in every_kernel() {
            let found = gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap().matrix;
            let value = |i, j| naive(&kernel, set.series(i).values(), set.series(j).values(), channels);
            let squares: Vec<f64> = (0..n).map(|i| value(i, i)).collect();
            for i in 0..n {
                for j in i..n {
                    let expected = value(i, j);
                    let scale = squares[i].max(squares[j]);
                    let error = (found.get(i, j) - expected).abs();
                    assert!(
                        error <= accuracy(&kernel) * scale.max(1.0),
                        "{kernel} {n} {steps} {channels}: {i} {j}: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn gram_matrices_are_exactly_symmetric_and_positive_semidefinite() {
    let run = Run::sequential();
    let set = Numbers(6).walks(60, 12, 3);
    for kernel in every_kernel() {
        for scaling in [Scaling::Raw, Scaling::Normalized] {
            let gram = gram::gram(&kernel, &set, scaling, &run).unwrap();
            let n = gram.len();
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(gram.matrix.get(i, j).to_bits(), gram.matrix.get(j, i).to_bits(), "{kernel}");
                }
                if scaling == Scaling::Normalized {
                    assert_eq!(gram.matrix.get(i, i), 1.0, "{kernel}");
                }
            }
            let largest = gram.matrix.values().iter().fold(0.0f64, |m, v| m.max(v.abs()));
            // v^T G v >= 0 for any v.
            for seed in 0..50 {
                let mut numbers = Numbers(seed);
                let v: Vec<f64> = (0..n).map(|_| numbers.next()).collect();
                let form: f64 = (0..n)
                    .map(|i| v[i] * gram.matrix.row(i).iter().zip(&v).map(|(g, v)| g * v).sum::<f64>())
                    .sum();
                assert!(form >= -1e-10 * largest * n as f64, "{kernel}: {form}");
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads_tiles_or_company() {
    let set = Numbers(7).walks(60, 40, 4);
    let kernels = every_kernel();
    let grid: Vec<Kernel> = kernels
        .iter()
        .cloned()
        .chain(
            [
                "flat_rbf:sigma=1",
                "flat_poly:c=2,p=4",
                "integral_rbf:sigma=2",
                "integral_poly:c=2,p=3",
                "gak:sigma=0.5",
                "gak:sigma=5,band=7",
                "gak:sigma=0.01,floor=1e-50",
                "vrk:tau=0.01,lambda=0.5",
                "vrk:tau=0.5,lambda=1,clip=published",
                "sig_random:features=7,variance=1,seed=3",
                "sig_fourier:level=5,features=16,sigma=1.3,scale=2",
                "sig:level=2,lift=rbf,sigma=0.4,scale=2",
                "sig:level=9,scale=0.05",
            ]
            .map(|s| s.parse().unwrap()),
        )
        .collect();
    let all = |threads, tiling| {
        let run = Run::with_threads(threads).unwrap();
        gram::grams(&grid, &set, Scaling::Raw, tiling, &run).unwrap()
    };
    let reference = all(1, Tiling::default());
    for (threads, rows, columns) in [(4, 96, 128), (1, 1, 1), (3, 7, 13), (2, 200, 9), (1, 13, 500)] {
        assert_eq!(
            all(threads, Tiling { rows, columns }),
            reference,
            "{threads} threads, {rows} x {columns}"
        );
    }
    for (kernel, together) in grid.iter().zip(&reference) {
        let alone = gram::gram(kernel, &set, Scaling::Raw, &Run::sequential()).unwrap();
        assert_eq!(&alone, together, "{kernel} alone and with others");
        let diagonal =
            gram::self_values(std::slice::from_ref(kernel), &set, &Run::sequential()).unwrap().remove(0);
        assert_eq!(diagonal, together.self_values, "{kernel}");
        let cross = gram::cross(kernel, &set, &set, &diagonal, Scaling::Raw, &Run::sequential()).unwrap();
        for (i, row) in (0..set.len()).map(|i| (i, cross.matrix.row(i))) {
            assert_eq!(row[i..], together.matrix.row(i)[i..], "{kernel} as queries against itself");
            // Only the signature recurrences sum k(y,x) in another order than k(x,y).
            if !matches!(kernel, Kernel::Sig { .. } | Kernel::SigPde { .. }) {
                assert_eq!(row[..i], together.matrix.row(i)[..i], "{kernel} transposed");
            }
            for (found, expected) in row[..i].iter().zip(together.matrix.row(i)) {
                let allowed = accuracy(kernel).max(1e-12);
                assert!((found - expected).abs() <= allowed * diagonal[i].value().max(1.0), "{kernel}");
            }
        }
    }
}

/// What a query has with a corpus, and with itself, is what it has in the Gram matrix of both together.
#[test]
fn queries_of_another_set_have_the_values_of_the_whole() {
    let run = Run::sequential();
    let (corpus, queries) = (Numbers(31).walks(21, 6, 2), Numbers(32).walks(7, 6, 2));
    let mut both = corpus.clone();
    both.extend(&queries).unwrap();
    for kernel in every_kernel() {
        for scaling in [Scaling::Raw, Scaling::Normalized] {
            let whole = gram::gram(&kernel, &both, scaling, &run).unwrap();
            let selves = &whole.self_values[..corpus.len()];
            let found = gram::cross(&kernel, &queries, &corpus, selves, scaling, &run).unwrap();
            for q in 0..queries.len() {
                let row = whole.matrix.row(corpus.len() + q);
                let expected = row[..corpus.len()].iter().chain([&row[corpus.len() + q]]);
                let values = found.matrix.row(q).iter().chain([&found.self_values[q]]);
                for (found, expected) in values.zip(expected) {
                    // A tolerance is met by terms enough for all pairs that are worked out together.
                    let close = (found - expected).abs() <= accuracy(&kernel) * expected.abs().max(1e-3);
                    assert!(close, "{kernel} {scaling:?}: {found} {expected}");
                }
            }
        }
    }
}

#[test]
fn self_values_of_queries_are_their_own() {
    let (corpus, queries, run) = (Numbers(8).walks(5, 12, 2), Numbers(9).walks(9, 12, 2), Run::sequential());
    for kernel in every_kernel() {
        let selves = |set| gram::self_values(std::slice::from_ref(&kernel), set, &run).unwrap().remove(0);
        let found = gram::cross(&kernel, &queries, &corpus, &selves(&corpus), Scaling::Raw, &run).unwrap();
        let own: Vec<f64> = selves(&queries).iter().map(|s| s.value()).collect();
        assert_eq!(found.self_values, own, "{kernel}");
    }
}

#[test]
fn blocks_have_the_bits_of_the_whole() {
    let (set, run) = (Numbers(8).walks(23, 20, 3), Run::sequential());
    let part = |range: std::ops::Range<usize>| set.select(&range.collect::<Vec<_>>());
    let (before, after) = (part(0..9), part(9..23));
    for kernel in every_kernel() {
        let selves = |set| gram::self_values(std::slice::from_ref(&kernel), set, &run).unwrap().remove(0);
        let (rows, columns, corpus) = (selves(&before), selves(&after), selves(&set));
        let rows = gram::Side { set: &before, self_values: &rows };
        let columns = gram::Side { set: &after, self_values: &columns };
        for scaling in [Scaling::Raw, Scaling::Normalized] {
            let whole = gram::gram(&kernel, &set, scaling, &run).unwrap().matrix;
            let above = gram::gram_block(&kernel, rows, columns, scaling, &run).unwrap();
            let own = gram::gram(&kernel, &after, scaling, &run).unwrap().matrix;
            (0..9).for_each(|i| assert_eq!(above.row(i), &whole.row(i)[9..], "{kernel}"));
            (0..14).for_each(|i| assert_eq!(own.row(i), &whole.row(9 + i)[9..], "{kernel}"));
            let whole = gram::cross(&kernel, &after, &set, &corpus, scaling, &run).unwrap().matrix;
            let block = gram::cross_block(&kernel, columns, rows, scaling, &run).unwrap();
            (0..14).for_each(|i| assert_eq!(block.row(i), &whole.row(i)[..9], "{kernel} between"));
        }
        let none = gram::Side { set: &before, self_values: &[] };
        assert!(gram::gram_block(&kernel, none, columns, Scaling::Normalized, &run).is_err(), "{kernel}");
    }
}

#[test]
fn short_constant_repeated_and_huge_series_stay_finite() {
    let run = Run::sequential();
    let constant = SeriesSet::from_equal(vec![2.5; 5 * 8], 4, 2).unwrap();
    let zero = SeriesSet::from_equal(vec![0.0; 5 * 8], 4, 2).unwrap();
    let single_steps = Numbers(8).walks(6, 1, 2);
    let mut huge = Numbers(9).walks(6, 20, 2);
    huge.values_mut().iter_mut().for_each(|v| *v *= 1e3);
    let mut tiny = Numbers(9).walks(6, 20, 2);
    tiny.values_mut().iter_mut().for_each(|v| *v *= 1e-3);
    let mut offset = Numbers(10).walks(6, 20, 2);
    offset.values_mut().iter_mut().for_each(|v| *v += 1e6);
    for set in [&constant, &zero, &single_steps, &huge, &tiny, &offset] {
        for kernel in every_kernel() {
            let gram = gram::gram(&kernel, set, Scaling::Normalized, &run).unwrap();
            // A million times the increments that the Goursat problem can be solved for: no accuracy, but a number.
            let beyond =
                std::ptr::eq(set, &huge) && matches!(kernel, Kernel::SigPde { lift: Lift::Linear, .. });
            let within = gram.matrix.values().iter().all(|v| v.abs() <= 1.0 + 1e-12);
            assert!(within || beyond, "{kernel}: a normalised value is at most 1: {:?}", gram.matrix);
            assert!(gram.matrix.values().iter().all(|v| v.is_finite()), "{kernel}");
            Spectrum::new(&gram, Rank::default(), &run).unwrap();
        }
    }
    // A far offset costs the product form all its digits: the distances are computed again.
    let kernel: Kernel = "flat_rbf:sigma=3".parse().unwrap();
    let gram = gram::gram(&kernel, &offset, Scaling::Raw, &run).unwrap();
    let expected = naive(&kernel, offset.series(0).values(), offset.series(1).values(), 2);
    assert!((gram.matrix.get(0, 1) - expected).abs() < 1e-14);
}

#[test]
fn overflow_is_an_error_that_names_the_pair() {
    let set = SeriesSet::from_equal(vec![1e200, 1.0, 1e200, 3.0], 2, 1).unwrap();
    for spec in ["flat_linear", "flat_poly:c=1,p=2", "integral_poly:c=1,p=2"] {
        let error = gram::gram(&spec.parse().unwrap(), &set, Scaling::Raw, &Run::sequential()).unwrap_err();
        assert!(error.to_string().contains("series 0 and 0 is inf"), "{spec}: {error}");
    }
}

#[test]
fn points_too_large_to_be_squared_are_at_no_distance_from_themselves() {
    for channels in [1, 20, 40, 150] {
        let mut values = vec![1e155; 3 * 4 * channels];
        values[..4 * channels].fill(-1e155);
        let set = SeriesSet::from_equal(values, 4, channels).unwrap();
        let kernel = "integral_rbf:sigma=1".parse().unwrap();
        let gram = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap().matrix;
        assert!((0..3).all(|i| (gram.get(i, i) - 1.0).abs() < 1e-15), "{channels}: {gram:?}");
        assert!((gram.get(1, 2) - 1.0).abs() < 1e-15 && gram.get(0, 1) < 1e-300, "{channels}: {gram:?}");
    }
}

#[test]
fn points_outside_the_domain_of_a_reservoir_kernel_are_named() {
    let set = SeriesSet::from_equal(vec![0.1, 0.2, 0.3, 4.0], 2, 1).unwrap();
    let kernel: Kernel = "vrk:tau=0.3".parse().unwrap();
    let error = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap_err().to_string();
    assert!(error.contains("series 1, step 1") && error.contains("choose tau below 0.25"), "{error}");
    for channels in [1, 20, 150] {
        let mut values = vec![0.01; 50 * 7 * channels];
        let good = SeriesSet::from_equal(values.clone(), 7, channels).unwrap();
        // One point, whose products with all others are small.
        values[(40 * 7 + 5) * channels] = -3.5;
        let bad = SeriesSet::from_equal(values, 7, channels).unwrap();
        let run = Run::sequential();
        let selves = gram::self_values(std::slice::from_ref(&kernel), &good, &run).unwrap().remove(0);
        let cross = |queries, corpus| gram::cross(&kernel, queries, corpus, &selves, Scaling::Raw, &run);
        let errors = [
            gram::gram(&kernel, &bad, Scaling::Raw, &run).unwrap_err(),
            gram::gram(&kernel, &bad, Scaling::Log, &run).unwrap_err(),
            gram::gram(&kernel, &bad, Scaling::Normalized, &run).unwrap_err(),
            gram::self_values(std::slice::from_ref(&kernel), &bad, &run).unwrap_err(),
            cross(&good, &bad).unwrap_err(),
            cross(&bad, &good).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().starts_with("series 40, step 5: "), "{channels}: {error}");
        }
    }
    // Times tau it rounds to just below 1, and yet 1 - tau^2 x^2 is not above 0.
    let edge = SeriesSet::from_equal(vec![0.539_243_132_405_786_5; 4], 2, 1).unwrap();
    let sharp: Kernel = "vrk:tau=1.854451062804614".parse().unwrap();
    assert!(1.854_451_062_804_614 * edge.values()[0] < 1.0);
    assert!(gram::gram(&sharp, &edge, Scaling::Raw, &Run::sequential()).is_err());
    let long = SeriesSet::from_equal(vec![3.3; 4000], 2000, 1).unwrap();
    let gram = gram::gram(&kernel, &long, Scaling::Normalized, &Run::sequential()).unwrap();
    assert!((gram.matrix.get(0, 1) - 1.0).abs() < 1e-14);
}

#[test]
fn json_and_words_survive_the_round_trip() {
    for info in CATALOGUE {
        let kernel: Kernel = info.example.parse().unwrap();
        let json = serde_json::to_string(&kernel).unwrap();
        assert!(json.contains(info.name));
        assert_eq!(json.parse::<Kernel>().unwrap(), kernel);
        assert_eq!(serde_json::from_str::<Kernel>(&json).unwrap(), kernel);
        assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
        let default: Kernel = info.name.parse().unwrap();
        let corpus = Numbers(1).walks(8, 6, 2);
        let resolved = default.resolve(&corpus).unwrap();
        assert!(!serde_json::to_string(&resolved).unwrap().contains("auto"), "{resolved}");
        assert_eq!(resolved.resolve(&corpus).unwrap(), resolved);
    }
}

#[test]
fn mistakes_in_a_specification_say_what_is_allowed() {
    for (spec, words) in [
        ("flat_rfb", "choose one of flat_linear, flat_rbf"),
        ("flat_rbf:sigma=0", "sigma = 0: must be a positive number or auto"),
        ("flat_rbf:sigma=-1", "sigma = -1: must be a positive number"),
        ("flat_rbf:sigma=nan", "neither a number nor"),
        ("flat_rbf:gamma=1", "flat_rbf has no such parameter; it has: sigma"),
        ("flat_rbf:sigma", "not of the form parameter=value"),
        ("flat_rbf:sigma=1,sigma=2", "given twice"),
        ("flat_poly:c=-1", "must be zero, a positive number or auto"),
        ("flat_poly:p=0", "degree from 1 to 32"),
        ("flat_linear:c=1", "it has: none"),
        ("sig:level=0", "level from 1 to 32"),
        ("sig:level=3,order=4", "order = 4: must be from 1 to the level, 3"),
        ("sig:sigma=1", "belongs to lift=rbf"),
        ("sig:lift=cubic", "unknown variant"),
        ("sig:scale=0", "must be a positive number"),
        ("{\"kernel\":\"flat_rbf\",\"sigma\":", "not valid JSON"),
        ("", "is not a kernel"),
        ("gak:band=-1", "gak:band=-1"),
        ("gak:floor=2", "must be 0, or from 1e-100 to 1"),
        ("vrk:lambda=0", "above 0 and at most 1"),
        ("vrk:clip=2", "between 0 and 1"),
        ("sig_random:features=0", "must be from 1 to"),
        ("sig_fourier:features=5000", "must be from 1 to 4096"),
        ("sig_fourier:form=diagonal,level=12", "or the form tensor"),
        ("sig_fourier:form=round", "unknown variant"),
        ("sig_fourier:level=40", "level from 1 to 32"),
    ] {
        let error = spec.parse::<Kernel>().unwrap_err().to_string();
        assert!(error.contains(words), "{spec}: {error}");
    }
}

#[test]
fn unequal_lengths_are_an_error_that_names_the_series() {
    let mut set = Numbers(1).walks(3, 5, 2);
    set.push(&[1.0, 2.0]).unwrap();
    for info in CATALOGUE.iter().filter(|info| !info.any_lengths) {
        let kernel: Kernel = info.example.parse().unwrap();
        let error = gram::gram(&kernel, &set, Scaling::Raw, &Run::sequential()).unwrap_err().to_string();
        assert!(error.contains("series 3 has 1 steps where 5 are expected"), "{kernel}: {error}");
        assert!(error.contains("resample"), "{error}");
    }
}

#[test]
fn kernels_of_any_lengths_equal_the_naive_definition_and_ignore_their_company() {
    check_any_lengths(3);
}

/// The same, where static values come from windows of a table, several for the longest series.
#[test]
fn so_it_is_with_many_channels() {
    check_any_lengths(30);
}

fn check_any_lengths(channels: usize) {
    let run = Run::sequential();
    let mut numbers = Numbers(11);
    let mut set = SeriesSet::new(channels).unwrap();
    for steps in [1, 2, 40, 7, 90, 3, 33, 1, 64, 20, 5, 12, 2, 70, 9, 28, 31, 100] {
        // As far from the origin for any number of channels.
        let unit = (3.0 / channels as f64).sqrt();
        let values: Vec<f64> = numbers.walks(1, steps, channels).values().iter().map(|v| v * unit).collect();
        set.push(&values).unwrap();
    }
    let names: Vec<&str> = CATALOGUE.iter().filter(|info| info.any_lengths).map(|info| info.name).collect();
    let any = |k: &Kernel| names.iter().any(|name| k.to_string().split(':').next() == Some(*name));
    for kernel in every_kernel().into_iter().filter(any) {
        let gram = gram::gram(&kernel, &set, Scaling::Raw, &run).unwrap();
        for i in 0..set.len() {
            for j in i..set.len() {
                let value = |i, j| {
                    let (x, y): (varnorm::data::Series<'_>, varnorm::data::Series<'_>) =
                        (set.series(i), set.series(j));
                    naive(&kernel, x.values(), y.values(), channels)
                };
                let error = (gram.matrix.get(i, j) - value(i, j)).abs();
                let scale = (value(i, i) * value(j, j)).sqrt().max(1.0);
                assert!(error <= accuracy(&kernel).max(1e-12) * scale, "{kernel}: {i} {j}: {error:e}");
                let pair = gram::gram(&kernel, &set.select(&[i, j]), Scaling::Raw, &run).unwrap();
                assert_eq!(pair.matrix.get(0, 1), gram.matrix.get(i, j), "{kernel}: {i} {j} alone");
            }
        }
    }
}

#[test]
fn explicit_signatures_give_the_exact_kernel_of_the_same_level() {
    let run = Run::with_threads(2).unwrap();
    let mut set = Numbers(12).walks(40, 25, 3);
    set.push(&[1.0, 2.0, 3.0]).unwrap();
    for level in [1, 2, 5] {
        let exact: Kernel = format!("sig:level={level},order={level},scale=1").parse().unwrap();
        let explicit: Kernel = format!("sig_explicit:level={level},scale=1").parse().unwrap();
        let features = varnorm::kernel::signature_features(&set, level, &run).unwrap();
        let names = varnorm::kernel::signature_feature_names(3, level);
        assert_eq!(names.len(), features.columns());
        let expected = gram::gram(&exact, &set, Scaling::Raw, &run).unwrap().matrix;
        let found = gram::gram(&explicit, &set, Scaling::Raw, &run).unwrap().matrix;
        for i in 0..set.len() {
            for j in 0..set.len() {
                let product: f64 = features.row(i).iter().zip(features.row(j)).map(|(a, b)| a * b).sum();
                let scale = (expected.get(i, i) * expected.get(j, j)).sqrt();
                for value in [1.0 + product, found.get(i, j)] {
                    let error = (value - expected.get(i, j)).abs();
                    assert!(error <= 1e-12 * scale, "level {level}: {i} {j}: {error:e}");
                }
            }
        }
    }
    let error = varnorm::kernel::signature_features(&set, 20, &run).unwrap_err().to_string();
    assert!(error.contains("3 channels has more than 16777216 features"), "{error}");
    let many = Numbers(1).walks(3, 4, 60);
    let error = gram::gram(&"sig_explicit:level=3,scale=1".parse().unwrap(), &many, Scaling::Raw, &run);
    assert!(error.unwrap_err().to_string().contains("sig with order = level"));
}

#[test]
fn signature_kernels_hold_at_any_length_and_scale() {
    let run = Run::sequential();
    // A straight line of n equal steps: order 1 gives (n choose m)^2 (z/n^2)^m.
    for (steps, size) in [(500, 1e3), (3, 1e3), (500, 1e-3), (50, 1e12), (2, 1e30)] {
        let values = (0..steps).map(|t| size * f64::from(t)).collect();
        let set = SeriesSet::from_equal(values, steps as usize, 1).unwrap();
        for level in [1, 7, 32] {
            let kernel: Kernel = format!("sig:level={level},scale=1").parse().unwrap();
            let found = gram::gram(&kernel, &set, Scaling::Log, &run).unwrap().matrix.get(0, 0);
            // Logarithms of the levels, and of their sum.
            let (mut term, mut terms) = (0.0, vec![0.0]);
            for m in 1..=level.min(steps - 1) {
                term += 2.0 * (f64::from(steps - m) / f64::from(m) * size).ln();
                terms.push(term);
            }
            let top = terms.iter().fold(0.0, |a: f64, b| a.max(*b));
            let expected = top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln();
            let error = (found - expected).abs();
            assert!(error <= 1e-11 * expected.max(1.0), "{steps} {size} {level}: {found} {expected}");
        }
    }
}

/// Finite, of unit diagonal and positive semidefinite when normalised, whatever the shape and the size.
fn assert_sound(kernel: &Kernel, set: &SeriesSet, run: &Run, what: &str) {
    let gram = gram::gram(kernel, set, Scaling::Normalized, run).unwrap().matrix;
    assert!(gram.values().iter().all(|v| v.is_finite()), "{kernel} {what}: {gram:?}");
    for i in 0..set.len() {
        assert_eq!(gram.get(i, i), 1.0, "{kernel} {what}");
    }
    let smallest = smallest_eigenvalue(&gram);
    assert!(smallest >= -1e-10 * set.len() as f64, "{kernel} {what}: eigenvalue {smallest:e}");
}

/// Every kernel of the catalogue with its parameters left to the data.
fn automatic(set: &SeriesSet) -> Vec<Kernel> {
    let named = CATALOGUE.iter().map(|info| info.name.parse::<Kernel>().unwrap());
    named.map(|kernel| kernel.resolve(set).unwrap()).collect()
}

#[test]
fn kernels_are_sound_at_every_shape_and_scale() {
    let run = Run::with_threads(2).unwrap();
    for (n, steps, channels) in [(12, 1, 2), (12, 2, 2), (20, 40, 1), (12, 30, 3), (6, 12, 1345)] {
        for scale in [1e-3, 1.0, 1e3] {
            let mut set = Numbers(12).walks(n, steps, channels);
            set.values_mut().iter_mut().for_each(|v| *v *= scale);
            for kernel in automatic(&set) {
                // More channels than a signature can have as features.
                if !(channels > 1000 && matches!(kernel, Kernel::SigExplicit { .. })) {
                    assert_sound(&kernel, &set, &run, &format!("{n} x {steps} x {channels} at {scale:e}"));
                }
            }
        }
    }
}

#[test]
fn kernels_are_sound_for_ten_thousand_steps() {
    let run = Run::with_threads(2).unwrap();
    let set = Numbers(13).walks(3, 10_000, 1);
    for kernel in automatic(&set) {
        assert_sound(&kernel, &set, &run, "10,000 steps");
    }
}

#[test]
fn a_cancelled_run_stops() {
    let run = Run::with_threads(2).unwrap();
    run.cancel_flag().store(true, std::sync::atomic::Ordering::Relaxed);
    let set = Numbers(1).walks(30, 5, 2);
    let error = gram::gram(&Kernel::FlatLinear {}, &set, Scaling::Raw, &run).unwrap_err();
    assert!(matches!(error, varnorm::Error::Cancelled));
    // In the middle of a tile that would take minutes.
    let run = Run::sequential();
    let (flag, set) = (run.cancel_flag(), Numbers(2).walks(60, 4000, 2));
    let start = std::time::Instant::now();
    let error = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        gram::gram(&"gak:sigma=1".parse().unwrap(), &set, Scaling::Log, &run).unwrap_err()
    });
    assert!(matches!(error, varnorm::Error::Cancelled));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn progress_counts_up_to_its_total() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = std::sync::Arc::clone(&seen);
    let run = Run::with_threads(2).unwrap().on_progress(move |p| {
        if p.stage == "kernel values" {
            sink.lock().unwrap().push((p.done, p.total));
        }
    });
    let set = Numbers(1).walks(300, 5, 2);
    gram::gram(&Kernel::FlatLinear {}, &set, Scaling::Raw, &run).unwrap();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    let total = seen[0].1;
    assert!(total > 1);
    assert_eq!(seen, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
}
