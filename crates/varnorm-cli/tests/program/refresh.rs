//! `varnorm refresh`, `glossary`, and what `fit` and `score` say about corpora and batches.

use super::support::{Folder, bytes, waves, wide};

fn spikes(count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|i| (0..12).map(|t| if (t + i) % 2 == 0 { 9.0 } else { -9.0 }).collect()).collect()
}

#[test]
fn a_refreshed_model_does_not_swallow_what_it_flags() {
    let folder = Folder::new();
    // Waves rise with their number: every third is new.
    let all = waves(60, 12);
    let every = |new: bool| -> Vec<Vec<f64>> {
        all.iter().enumerate().filter(|(i, _)| (i % 3 == 1) == new).map(|(_, x)| x.clone()).collect()
    };
    let mut new = every(true);
    new.extend(spikes(2));
    folder.file("old.csv", wide(&every(false))).file("new.csv", wide(&new)).file("bad.csv", wide(&spikes(6)));
    for (name, space) in [("all", ""), ("compact", "--landmarks 10")] {
        folder.line(&format!("fit old.csv -o {name} --kernel flat_rbf {space} --level 0.1")).code(0);
        let ran = folder.line(&format!("refresh {name} new.csv -o next --allow 0.5")).code(0);
        assert!(ran.err.contains("left out: ") && ran.err.contains("21"), "{}", ran.err);
        let scored = folder.line("score next bad.csv --format csv").code(0);
        assert!(scored.rows()[1..].iter().all(|row| row[3] == "yes"), "{name}: {}", scored.out);
        let before = bytes(&folder.path("next"));
        folder.line(&format!("refresh {name} bad.csv -o next")).fails("nothing was written");
        assert_eq!(bytes(&folder.path("next")), before);
    }
    let inspected = folder.line("inspect next --format json").code(0).json();
    assert!(inspected["corpus"]["series"].as_u64().unwrap() > 40);
    folder.line("fit old.csv -o none --calibration none --kernel flat_rbf").code(0);
    folder.line("refresh none new.csv -o next").fails("nothing protects it");
    folder.line("fit old.csv -o small --level 0.001 --kernel flat_rbf").code(0);
    folder.line("refresh small new.csv -o next").fails("nothing protects the model");
}

#[test]
fn suspects_are_told_by_fit_inspect_and_the_report() {
    let folder = Folder::new();
    let mut mixed = waves(30, 12);
    mixed.extend(spikes(2));
    folder.file("mixed.csv", wide(&mixed)).file("new.csv", wide(&waves(3, 12)));
    let fit = folder.line("fit mixed.csv -o m --kernel flat_rbf").code(0);
    assert!(fit.err.contains("of the corpus stand out from the others"), "{}", fit.err);
    let trimmed = folder.line("fit mixed.csv -o t --kernel flat_rbf --robust trim:0.1").code(0);
    assert!(trimmed.err.contains("3 left out as suspects"), "{}", trimmed.err);
    let inspected = folder.line("inspect t").code(0);
    assert!(inspected.out.contains("suspects") && inspected.out.contains("like the 29 that were kept"));
    let described = folder.line("inspect t --format json").code(0).json();
    let places: Vec<u64> =
        described["suspects"].as_array().unwrap().iter().map(|s| s["series"].as_u64().unwrap()).collect();
    assert!(places.len() == 3 && places.contains(&30) && places.contains(&31), "{places:?}");
    folder.line("report t new.csv -o r.html").code(0);
    let html = String::from_utf8(bytes(&folder.path("r.html"))).unwrap();
    assert!(html.contains("Most suspicious member of the corpus") && html.contains("left out of the model"));
    folder.line("fit mixed.csv -o x --robust trim:0.7").fails("share");
}

#[test]
fn words_are_explained_by_the_program_and_in_reports() {
    let folder = Folder::with_model();
    let all = folder.line("glossary").code(0).out;
    for word in ["conformance", "envelope", "outside the span", "p-value", "level"] {
        assert!(all.contains(&format!("{word}\n    ")), "{word}");
    }
    assert!(folder.line("glossary p-val").code(0).out.starts_with("p-value\n    An upper bound"));
    folder.line("glossary nonsense").fails("is not in the glossary");
    folder.line("report walking.model -o r.html").code(0);
    let html = String::from_utf8(bytes(&folder.path("r.html"))).unwrap();
    assert!(html.contains("<dt>conformance</dt>"), "no glossary");
}

#[test]
fn the_most_novel_can_be_had_first_or_alone() {
    let folder = Folder::with_model();
    let plain = folder.line("score walking.model test.ts --format csv").code(0);
    let sorted = folder.line("score walking.model test.ts --format csv --sort score").code(0);
    let scores =
        |rows: &[Vec<&str>]| rows[1..].iter().map(|r| r[2].parse::<f64>().unwrap()).collect::<Vec<_>>();
    let mut expected = scores(&plain.rows());
    expected.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(scores(&sorted.rows()), expected);
    let top = folder.line("score walking.model test.ts --format csv --top 3").code(0);
    assert_eq!(scores(&top.rows()), expected[..3]);
    let json = folder.line("score walking.model test.ts --format json --top 3").code(0).json();
    assert_eq!(json["findings"].as_array().unwrap().len(), 3);
    // No colours where nobody sees them.
    assert!(!folder.line("score walking.model test.ts").code(0).out.contains('\u{1b}'));
}

#[test]
fn a_batch_that_no_longer_looks_like_the_corpus_is_said_to_have_drifted() {
    let folder = Folder::new();
    let all = waves(60, 12);
    let moved: Vec<Vec<f64>> = all[40..].iter().map(|x| x.iter().map(|v| v + 8.0).collect()).collect();
    folder.file("old.csv", wide(&all[..40])).file("moved.csv", wide(&moved));
    folder.line("fit old.csv -o m --kernel flat_rbf").code(0);
    let same = folder.line("score m old.csv --format json").code(0);
    assert_eq!(same.json()["drift"]["series"], 40);
    let ran = folder.line("score m moved.csv --format json").code(0);
    assert_eq!(ran.json()["drift"]["drifted"], true);
    assert!(ran.err.contains("no longer look like the corpus"), "{}", ran.err);
}
