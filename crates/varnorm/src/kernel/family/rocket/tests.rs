use super::dilations::{Dilation, dilations};
use super::*;
use crate::kernel::{Kernel, share_features};
use crate::random::Normal;
use crate::run::Run;

fn set(lengths: &[usize], channels: usize, seed: u64) -> SeriesSet {
    let values = Normal::new(seed).take(lengths.iter().sum::<usize>() * channels).collect();
    SeriesSet::from_lengths(values, lengths, channels).unwrap()
}

fn resolved(words: &str, corpus: &SeriesSet) -> (Kernel, RocketFit) {
    let kernel = words.parse::<Kernel>().unwrap().resolve(corpus).unwrap();
    let Kernel::Rocket(Rocket { fitted: Some(fit), .. }) = &kernel else { panic!("{kernel}") };
    (kernel.clone(), fit.clone())
}

#[test]
fn kernels_are_all_choices_of_three_places() {
    assert_eq!((convolve::HEAVY[0], convolve::HEAVY[83]), ([0, 1, 2], [6, 7, 8]));
    assert!(convolve::HEAVY.is_sorted_by(|a, b| a < b && a.is_sorted_by(|x, y| x < y)));
}

#[test]
fn dilations_grow_with_the_length_and_all_features_are_given() {
    let steps = |length, per_kernel| dilations(length, per_kernel).iter().map(|d| d.step).collect::<Vec<_>>();
    for length in 0..10 {
        assert_eq!(dilations(length, 119), [Dilation { step: 1, features: 119 }]);
    }
    assert_eq!(steps(100, 119), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(steps(1 << 20, 1), [1]);
    for (length, per_kernel) in [(17, 119), (100, 119), (5000, 119), (5000, 33), (5000, 2), (1 << 20, 40)] {
        let found = dilations(length, per_kernel);
        assert!(found.iter().all(|d| d.features > 0 && 8 * (d.step as usize) < length), "{found:?}");
        assert_eq!(found.iter().map(|d| d.features as usize).sum::<usize>(), per_kernel);
    }
}

/// Every bias is a quantile of some series' convolution: all are between its extremes, and of one series they are known.
#[test]
fn biases_are_golden_quantiles_of_the_convolution() {
    let corpus = set(&[30], 1, 4);
    let (_, fit) = resolved("rocket:features=252", &corpus);
    let learned = fit.learned();
    let x = |t: isize| if (0..30).contains(&t) { corpus.values()[t as usize] } else { 0.0 };
    let mut at = 0;
    for dilation in &learned.dilations {
        for heavy in convolve::HEAVY {
            let weight = |j: usize| if heavy.contains(&j) { 2.0 } else { -1.0 };
            let tap = |t: isize, j: usize| weight(j) * x(t + (j as isize - 4) * dilation.step as isize);
            let mut values: Vec<f64> = (0..30).map(|t| (0..9).map(|j| tap(t, j)).sum()).collect();
            values.sort_by(f64::total_cmp);
            for _ in 0..dilation.features {
                at += 1;
                let place = (at as f64 * (5f64.sqrt() + 1.0) / 2.0).fract() * 29.0;
                let below = place.floor() as usize;
                let expected = values[below] + (values[below + 1] - values[below]) * place.fract();
                let expected = expected + 1e-9 * values[0].abs().max(values[29]);
                assert!((learned.biases[at - 1] - expected).abs() < 1e-12, "{at}");
            }
        }
    }
    assert_eq!(at, 252);
}

#[test]
fn one_seed_means_one_fit_and_another_another() {
    let corpus = set(&[40; 7], 12, 5);
    let (first, fit) = resolved("rocket:features=504,seed=3", &corpus);
    assert_eq!(first, resolved("rocket:features=504,seed=3", &corpus).0);
    let other = resolved("rocket:features=504,seed=4", &corpus).1;
    assert!(other.learned().subsets != fit.learned().subsets && other != fit);
    let sizes: Vec<usize> = fit.learned().subsets.iter().map(Vec::len).collect();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&1), Some(&9)));
}

#[test]
fn a_step_too_few_for_a_dilation_means_all_steps() {
    // A corpus of 17 steps has the dilations 1 and 2; a series of 16 has no step with all places of dilation 2 within.
    let (kernel, fit) = resolved("rocket:features=168", &set(&[17; 3], 1, 6));
    assert_eq!(fit.learned().dilations.iter().map(|d| d.step).collect::<Vec<_>>(), [1, 2]);
    let short = set(&[16, 1, 8, 9], 1, 7);
    let features = share_features(&short, &kernel, &Run::sequential()).unwrap();
    for (i, steps) in short.lengths().enumerate() {
        for (at, share) in features.row(i).iter().enumerate() {
            let (dilation, padded) = (1 + at / 84, (at / 84 + at % 84) % 2 == 0);
            let within = steps.saturating_sub(8 * dilation);
            let whole = if padded || within == 0 { steps } else { within } as f64;
            assert!(
                (share * whole).fract().abs() < 1e-12 && (0.0..=1.0).contains(share),
                "{steps}: {at}: {share}"
            );
        }
    }
}

#[test]
fn a_fit_that_is_not_one_is_refused() {
    let corpus = set(&[20; 2], 2, 8);
    let (kernel, _) = resolved("rocket:features=84", &corpus);
    let good = serde_json::to_value(&kernel).unwrap();
    let told = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut json = good.clone();
        change(&mut json);
        json.to_string().parse::<Kernel>().unwrap_err().to_string()
    };
    for (part, value, words) in [
        ("biases", "AAAA".into(), "3 bytes where 84 numbers of 8 bytes are expected"),
        ("biases", "A".repeat(10_000).into(), "too many for 672 bytes"),
        ("biases", "!".into(), "not base64"),
        ("subsets", "AAAAAA==".into(), "1 to 9 ascending channels below 2"),
        ("subsets", "".into(), "0 subsets where 84 are expected"),
        ("dilations", serde_json::json!([0]), "ascending dilations"),
        ("dilations", serde_json::json!([2, 1]), "ascending dilations"),
        ("counts", serde_json::json!([0]), "above 0"),
        ("counts", serde_json::json!([4_000_000_000u32]), "at most 84000 features"),
        ("channels", serde_json::json!(1), "channels below 1"),
        ("more", serde_json::json!(1), "unknown field"),
    ] {
        let error = told(&|json| json["fitted"][part] = serde_json::Value::clone(&value));
        assert!(error.contains(words), "{part}: {error}");
    }
    let error = told(&|json| json["features"] = 168.into());
    assert!(error.contains("fitted with 84"), "{error}");
    let other = set(&[20; 2], 3, 8);
    assert!(kernel.resolve(&other).unwrap_err().to_string().contains("3 channels where 2 are expected"));
    assert!(share_features(&other, &kernel, &Run::sequential()).is_err());
    let unfitted: Kernel = "rocket".parse().unwrap();
    let error = share_features(&corpus, &unfitted, &Run::sequential()).unwrap_err().to_string();
    assert!(error.contains("call Kernel::resolve first"), "{error}");
    assert!(
        unfitted
            .resolve(&SeriesSet::new(2).unwrap())
            .unwrap_err()
            .to_string()
            .contains("at least one series")
    );
    let huge = SeriesSet::from_equal(vec![1e308, -1e308, 1e308, -1e308], 2, 1).unwrap();
    assert!(unfitted.resolve(&huge).unwrap_err().to_string().contains("common scale"));
}
