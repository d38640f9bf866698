//! Bits do not depend on threads, tiles, blocks or the company of other series.

use super::{accuracy, every_kernel};
use crate::common::Numbers;
use varnorm::gram::{self, Scaling};
use varnorm::internal::{Side, Tiling, cross_block, gram_block, grams_in_tiles};
use varnorm::{Kernel, Run};

#[test]
fn bits_do_not_depend_on_threads_tiles_or_company() {
    let set = Numbers(7).walks(60, 40, 4);
    let kernels = every_kernel(&set);
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
        grams_in_tiles(&grid, &set, Scaling::Raw, tiling, &run).unwrap()
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
            if !matches!(kernel, Kernel::Sig(_) | Kernel::SigPde(_)) {
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
    for kernel in every_kernel(&corpus) {
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
    for kernel in every_kernel(&corpus) {
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
    for kernel in every_kernel(&set) {
        let selves = |set| gram::self_values(std::slice::from_ref(&kernel), set, &run).unwrap().remove(0);
        let (rows, columns, corpus) = (selves(&before), selves(&after), selves(&set));
        let rows = Side { set: &before, self_values: &rows };
        let columns = Side { set: &after, self_values: &columns };
        for scaling in [Scaling::Raw, Scaling::Normalized] {
            let whole = gram::gram(&kernel, &set, scaling, &run).unwrap().matrix;
            let above = gram_block(&kernel, rows, columns, scaling, &run).unwrap();
            let own = gram::gram(&kernel, &after, scaling, &run).unwrap().matrix;
            (0..9).for_each(|i| assert_eq!(above.row(i), &whole.row(i)[9..], "{kernel}"));
            (0..14).for_each(|i| assert_eq!(own.row(i), &whole.row(9 + i)[9..], "{kernel}"));
            let whole = gram::cross(&kernel, &after, &set, &corpus, scaling, &run).unwrap().matrix;
            let block = cross_block(&kernel, columns, rows, scaling, &run).unwrap();
            (0..14).for_each(|i| assert_eq!(block.row(i), &whole.row(i)[..9], "{kernel} between"));
        }
        let none = Side { set: &before, self_values: &[] };
        assert!(gram_block(&kernel, none, columns, Scaling::Normalized, &run).is_err(), "{kernel}");
    }
}
