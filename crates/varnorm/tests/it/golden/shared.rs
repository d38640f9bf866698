//! Numbers of an independent oracle: kernels, and the algorithms at all ranks and alphas.

use crate::common::{assert_close, matrix, numbers, series_set, shared_json};
use serde_json::Value;
use varnorm::gram::{self, Cross, Scaling};
use varnorm::score::{Scores, score_grid};
use varnorm::{Distance, Gram, Kernel, Measure, Norm, Rank, Run, Spectrum};

fn golden_kernel(case: &Value) -> Option<Kernel> {
    let mut object = case["params"].as_object().unwrap().clone();
    object.insert("kernel".into(), case["kernel"].clone());
    let name = case["kernel"].as_str().unwrap();
    (name.starts_with("flat_") || name.starts_with("integral_") || name == "vrk")
        .then(|| Value::Object(object).to_string().parse().unwrap())
}

#[test]
fn flat_integral_and_reservoir_kernels() {
    let Some(golden) = shared_json("golden/kernels.json") else { return };
    let (x, y) = (series_set(&golden["X"]), series_set(&golden["Y"]));
    let run = Run::sequential();
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap() {
        let Some(kernel) = golden_kernel(case) else { continue };
        let within = gram::gram(&kernel, &x, Scaling::Raw, &run).unwrap().matrix;
        let corpus = gram::self_values(std::slice::from_ref(&kernel), &y, &run).unwrap().remove(0);
        let between = gram::cross(&kernel, &x, &y, &corpus, Scaling::Raw, &run).unwrap().matrix;
        for (found, expected) in [(within, matrix(&case["xx"])), (between, matrix(&case["xy"]))] {
            for (f, e) in found.values().iter().zip(expected.values()) {
                assert_close(*f, *e, 1e-12, &kernel.to_string());
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 11, "the golden file has eleven flat, integral and reservoir cases");
}

#[test]
fn logarithms_of_the_global_alignment_kernel() {
    let Some(golden) = shared_json("golden/kernels.json") else { return };
    let [x, y, ragged] = ["X", "Y", "ragged"].map(|name| series_set(&golden[name]));
    let run = Run::sequential();
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap().iter().filter(|c| c["kernel"] == "log_gak") {
        // The oracle follows the published experiments, which keep k / (2 - k) above 1e-10.
        let kernel: Kernel = format!("gak:floor=1e-10,sigma={}", case["params"]["sigma"]).parse().unwrap();
        for (other, name) in [(&x, "xx"), (&y, "xy"), (&ragged, "x_ragged")] {
            let selves = gram::self_values(std::slice::from_ref(&kernel), other, &run).unwrap().remove(0);
            let found = gram::cross(&kernel, &x, other, &selves, Scaling::Log, &run).unwrap().matrix;
            for (f, e) in found.values().iter().zip(matrix(&case[name]).values()) {
                assert_close(*f, *e, 1e-10, &format!("{kernel} {name}"));
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 2, "the golden file has two alignment cases");
}

#[test]
fn truncated_signature_kernels() {
    let Some(golden) = shared_json("golden/kernels.json") else { return };
    let (x, y, ragged) = (series_set(&golden["X"]), series_set(&golden["Y"]), series_set(&golden["ragged"]));
    let run = Run::sequential();
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap() {
        let mut object = case["params"].as_object().unwrap().clone();
        let order = match case["kernel"].as_str().unwrap() {
            "sig_truncated_order1" => 1.into(),
            "sig_truncated_exact" => object["level"].clone(),
            _ => continue,
        };
        object.insert("kernel".into(), "sig".into());
        object.insert("order".into(), order);
        let kernel: Kernel = Value::Object(object).to_string().parse().unwrap();
        for (other, name) in [(&x, "xx"), (&y, "xy"), (&ragged, "x_ragged")] {
            let squares = gram::self_values(std::slice::from_ref(&kernel), other, &run).unwrap().remove(0);
            let found = gram::cross(&kernel, &x, other, &squares, Scaling::Raw, &run).unwrap().matrix;
            for (f, e) in found.values().iter().zip(matrix(&case[name]).values()) {
                assert_close(*f, *e, 1e-12, &format!("{kernel} {name}"));
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 9, "the golden file has nine cases of truncated signature kernels");
}

#[test]
fn untruncated_signature_kernels_by_the_dyadic_scheme() {
    let Some(golden) = shared_json("golden/kernels.json") else { return };
    let [x, y, ragged] = ["X", "Y", "ragged"].map(|name| series_set(&golden[name]));
    let run = Run::sequential();
    let mut seen = 0;
    for case in golden["cases"].as_array().unwrap().iter().filter(|c| c["kernel"] == "sig_pde_dyadic") {
        let mut object = case["params"].as_object().unwrap().clone();
        let order = object.remove("order").unwrap();
        object.insert("kernel".into(), "sig_pde".into());
        object.insert("dyadic".into(), order);
        let kernel: Kernel = Value::Object(object).to_string().parse().unwrap();
        for (other, name) in [(&x, "xx"), (&y, "xy"), (&ragged, "x_ragged")] {
            let squares = gram::self_values(std::slice::from_ref(&kernel), other, &run).unwrap().remove(0);
            let found = gram::cross(&kernel, &x, other, &squares, Scaling::Raw, &run).unwrap().matrix;
            for (f, e) in found.values().iter().zip(matrix(&case[name]).values()) {
                assert_close(*f, *e, 1e-10, &format!("{kernel} {name}"));
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 4, "the golden file has four dyadic cases");
}

#[test]
fn untruncated_signature_kernels_to_any_tolerance() {
    let Some(golden) = shared_json("golden/sig_untruncated_exact.json") else { return };
    let paths = series_set(&golden["paths"]);
    for (spec, relative) in [("sig_pde:scale=1", 1e-8), ("sig_pde:scale=1,tolerance=1e-12", 1e-11)] {
        let kernel: Kernel = spec.parse().unwrap();
        let found = gram::gram(&kernel, &paths, Scaling::Raw, &Run::sequential()).unwrap().matrix;
        for (f, e) in found.values().iter().zip(matrix(&golden["k"]).values()) {
            assert_close(*f, *e, relative, spec);
        }
    }
}

fn assert_by_rank(found: &[Scores], expected: &Value, what: &str) {
    for (q, by_rank) in expected.as_array().unwrap().iter().enumerate() {
        let expected = numbers(by_rank);
        assert_eq!(found.len(), expected.len(), "{what}: ranks");
        for (r, e) in expected.iter().enumerate() {
            assert_close(found[r].values[q], *e, 1e-9, &format!("{what}, query {q}, rank {}", r + 1));
        }
    }
}

#[test]
fn scores_at_every_rank_and_alpha() {
    let Some(golden) = shared_json("golden/algorithms.json") else { return };
    let run = Run::sequential();
    let gram = Gram::from_matrix(matrix(&golden["gram"])).unwrap();
    let cross = Cross { matrix: matrix(&golden["cross"]), self_values: numbers(&golden["self_query"]) };
    let rank = Rank::at_most(golden["max_rank"].as_u64().map(|r| r as usize))
        .above(golden["eigenvalue_threshold"].as_f64());
    let spectrum = Spectrum::new(&gram, rank, &run).unwrap();
    for (found, expected) in spectrum.eigenvalues().iter().zip(numbers(&golden["eigenvalues"])) {
        assert_close(*found, expected, 1e-12, "eigenvalue");
    }
    let mut seen = 0;
    for case in golden["by_alpha"].as_array().unwrap() {
        let alpha = case["alpha"].as_f64().unwrap();
        for (norm, norm_name) in [(Norm::Tikhonov, "tikhonov"), (Norm::Envelope, "envelope")] {
            for (distance, distance_name) in
                [(Distance::Mahalanobis {}, "mahalanobis"), (Distance::default(), "conformance")]
            {
                let key = format!("{norm_name}_{distance_name}_by_rank");
                let Some(expected) = case.get(&key) else { continue };
                let measure = Measure { norm, alpha, distance };
                let found = score_grid(&spectrum, &cross, &[measure], &run).unwrap();
                assert_by_rank(&found[0], expected, &format!("{key}, alpha {alpha}"));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 18, "five alphas with the paper's norm and four with the envelope, two distances each");
}
