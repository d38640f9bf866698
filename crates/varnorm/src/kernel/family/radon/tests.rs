use super::weights::{GROUP, Weights};
use super::*;
use crate::kernel::{Kernel, share_features};
use crate::random::Normal;
use crate::run::Run;

fn set(lengths: &[usize], channels: usize, seed: u64) -> SeriesSet {
    let values = Normal::new(seed).take(lengths.iter().sum::<usize>() * channels).collect();
    SeriesSet::from_lengths(values, lengths, channels).unwrap()
}

fn resolved(words: &str, corpus: &SeriesSet) -> (Kernel, RadonFit) {
    let kernel = words.parse::<Kernel>().unwrap().resolve(corpus).unwrap();
    let Kernel::Radon(Radon { fitted: Some(fit), .. }) = &kernel else { panic!("{kernel}") };
    (kernel.clone(), fit.clone())
}

/// Products of all steps with a direction, by the definition.
fn naive(set: &SeriesSet, i: usize, fit: &RadonFit, direction: usize) -> Vec<f64> {
    let (series, channels) = (set.series(i), set.channels());
    let size = fit.window() * channels;
    let weights: Vec<f64> = Normal::new(fit.seed()).skip(direction * size).take(size).collect();
    let dilation = 1 + (direction % fit.dilations()) as isize;
    let at = |t: usize| {
        let mut sum = 0.0;
        for (j, weights) in weights.chunks(channels).enumerate() {
            let place = t as isize + (j as isize - (fit.window() as isize - 1) / 2) * dilation;
            if (0..series.steps() as isize).contains(&place) {
                sum += weights.iter().zip(series.step(place as usize)).map(|(w, x)| w * x).sum::<f64>();
            }
        }
        sum
    };
    (0..series.steps()).map(at).collect()
}

/// So many numbers, evenly spaced over a range with its ends; its middle if it is one.
fn spaced([low, high]: [f64; 2], count: usize) -> impl Iterator<Item = f64> {
    let at = move |i: usize| if count == 1 { 0.5 } else { i as f64 / (count - 1) as f64 };
    (0..count).map(move |i| low + (high - low) * at(i))
}

#[test]
fn features_equal_the_naive_definition_for_any_lengths() {
    for (words, channels, lengths) in [
        ("radon:directions=7,thresholds=5", 3, [40, 40, 40, 40]),
        ("radon:directions=13,thresholds=20,seed=5", 1, [30, 17, 95, 33]),
        ("radon:directions=6,thresholds=1,window=4", 2, [5, 12, 3, 1]),
        ("radon:directions=2,thresholds=3,window=1", 2, [200, 150, 16, 1]),
    ] {
        let corpus = set(&lengths, channels, 3);
        let (kernel, fit) = resolved(words, &corpus);
        let queries = set(&[1, 2, 8, 9, 16, 64, 100], channels, 4);
        let found = share_features(&queries, &kernel, &Run::sequential()).unwrap();
        for direction in 0..fit.directions() {
            let mut all: Vec<f64> = (0..4).flat_map(|i| naive(&corpus, i, &fit, direction)).collect();
            let mut ends = [0.0; 2];
            shares::quantiles(&mut all, [0.01, 0.99].into_iter(), &mut ends);
            let most = all.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            ends = [ends[0] - 1e-9 * most, ends[1] + 1e-9 * most];
            let range = fit.ranges().nth(direction).unwrap();
            assert!(
                range.iter().zip(ends).all(|(a, b)| (a - b).abs() < 1e-12),
                "{words}: {range:?} {ends:?}"
            );
            let thresholds = found.columns() / fit.directions();
            for i in 0..queries.len() {
                let products = naive(&queries, i, &fit, direction);
                for (k, threshold) in spaced(range, thresholds).enumerate() {
                    let share = found.row(i)[direction * thresholds + k];
                    // A product within rounding of a threshold may be on either side of it.
                    let [least, most] = [-1e-12, 1e-12].map(|gap| {
                        products.iter().filter(|p| **p <= threshold + gap).count() as f64
                            / products.len() as f64
                    });
                    assert!((least..=most).contains(&share), "{words}: {i} {direction} {k}: {share}");
                }
            }
        }
    }
}

#[test]
fn dilations_follow_from_the_median_length() {
    for (lengths, window, dilations) in [
        ([1, 1, 1], 9, 1),
        ([20, 26, 500], 9, 2),
        ([8, 19, 8], 9, 1),
        ([90; 3], 9, 10),
        ([4000; 3], 9, 10),
        ([7, 8, 9], 4, 2),
    ] {
        let (_, fit) = resolved(&format!("radon:directions=1,window={window}"), &set(&lengths, 1, 1));
        assert_eq!(fit.dilations(), dilations, "{lengths:?}");
    }
}

#[test]
fn groups_hold_every_direction_once_with_its_dilation() {
    for (directions, dilations) in [(100, 10), (1, 1), (3, 7), (20, 3)] {
        let weights = Weights::new(directions, 9, dilations, 2, 0);
        let mut found: Vec<usize> = weights.groups.iter().flat_map(|g| g.directions.clone()).collect();
        found.sort_unstable();
        assert_eq!(found, (0..directions).collect::<Vec<_>>());
        for group in &weights.groups {
            assert!((1..=GROUP).contains(&group.directions.len()));
            assert!(group.directions.iter().all(|r| group.offsets[5] == 1 + (r % dilations) as isize));
        }
        assert_eq!(weights.reach, 4 * dilations);
    }
}

#[test]
fn a_fit_that_is_not_one_is_refused() {
    let corpus = set(&[20; 2], 2, 8);
    let (kernel, _) = resolved("radon:directions=3,seed=2", &corpus);
    let good = serde_json::to_value(&kernel).unwrap();
    let told = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json = good.clone();
        change(&mut json);
        json.to_string().parse::<Kernel>().unwrap_err().to_string()
    };
    let backwards = shares::numbers::write(&[1.0, 0.0, 1.0, 2.0, 1.0, 2.0]);
    for (part, value, words) in [
        ("ranges", serde_json::json!("AAAA"), "3 bytes where 6 numbers of 8 bytes are expected"),
        ("ranges", serde_json::json!(backwards), "direction 0 ends before it begins"),
        ("dilations", serde_json::json!(11), "dilations of a fitted radon must be from 1 to 10, not 11"),
        ("channels", serde_json::json!(100_000_000), "choose fewer directions"),
        ("channels", serde_json::json!(0), "channels of a fitted radon"),
        ("more", serde_json::json!(1), "unknown field"),
    ] {
        let error = told(&|json| json["fitted"][part] = serde_json::Value::clone(&value));
        assert!(error.contains(words), "{part}: {error}");
    }
    for (name, words) in
        [("directions", "fitted with 3"), ("window", "fitted with 9"), ("seed", "fitted with 2")]
    {
        let error = told(&|json| json[name] = 4.into());
        assert!(error.contains(words), "{name}: {error}");
    }
    let other = set(&[20; 2], 3, 8);
    assert!(kernel.resolve(&other).unwrap_err().to_string().contains("3 channels where 2 are expected"));
    let unfitted: Kernel = "radon".parse().unwrap();
    assert!(share_features(&corpus, &unfitted, &Run::sequential()).is_err());
    let wide = SeriesSet::from_equal(vec![0.0; 200_000], 1, 200_000).unwrap();
    assert!(unfitted.resolve(&wide).unwrap_err().to_string().contains("choose fewer directions"));
    let huge = SeriesSet::from_equal(vec![1e308, -1e308, 1e308, -1e308], 2, 1).unwrap();
    assert!(unfitted.resolve(&huge).unwrap_err().to_string().contains("common scale"));
}
