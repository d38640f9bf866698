//! Reports: the numbers are those of `score`, nothing that data say becomes markup, and large batches stay small.

use crate::common::Numbers;
use serde_json::Value;
use varnorm::data::{Labels, basic_motions};
use varnorm::report::{Options, Report};
use varnorm::{Dataset, Detector, Run, Settings};

fn walking() -> Detector {
    let motions = basic_motions().unwrap();
    let corpus = motions.train.select(&motions.train.with_label("Walking").unwrap());
    Settings::one_view().fit(&corpus.series, &Run::sequential()).unwrap()
}

/// The numbers that the page's script reads.
fn embedded(html: &str) -> Value {
    let start = html.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

#[test]
fn the_page_has_the_numbers_of_score() {
    let (detector, motions) = (walking(), basic_motions().unwrap());
    let options = Options::default().with_normal("Walking".to_string()).with_explain(3);
    let run = Run::with_threads(4).unwrap();
    let report = Report::new(&detector, &motions.test, &options, &run).unwrap();
    let found = detector.score(&motions.test.series, &Run::sequential()).unwrap();
    let html = report.to_html();
    let data = embedded(&html);
    for finding in &found.findings {
        let at = |key: &str| &data[key][finding.series];
        assert_eq!(at("score").as_f64().unwrap().to_bits(), finding.score.to_bits());
        assert_eq!(at("p_value").as_f64(), finding.p_value);
        assert_eq!(at("novel").as_bool(), finding.novel);
        assert_eq!(at("nearest").as_u64().unwrap() as usize, finding.nearest);
        assert_eq!(at("outside_span").as_f64(), Some(finding.outside_span));
    }
    // Explained are the most novel, with the numbers of `explain`.
    let reasons = data["reasons"].as_object().unwrap();
    assert_eq!(reasons.len(), 3);
    for (at, reason) in reasons {
        let at: usize = at.parse().unwrap();
        let above = found.findings.iter().filter(|f| f.score > found.findings[at].score).count();
        assert!(above < 3);
        let explained = detector.explain(&motions.test.series, at, 10, &Run::sequential()).unwrap();
        for (channel, part) in explained.channels.iter().enumerate() {
            assert_eq!(reason["channels"][channel].as_f64(), Some(part.adds));
        }
    }
    // The normal scores are those of models that have never seen the series: for one, by hand.
    let alone = Settings::one_view().with_calibration("leave_one_out".parse().unwrap());
    let corpus = motions.train.select(&motions.train.with_label("Walking").unwrap());
    let expected = alone.fit(&corpus.series, &run).unwrap();
    assert_eq!(report.normal_scores, expected.calibrated().unwrap().scores());
    let separation = report.separation.as_ref().unwrap();
    assert_eq!((separation.normal, separation.novel), (10, 30));
    assert!(separation.intervals.roc_auc.0 <= separation.roc_auc);
    assert!(separation.roc_auc <= separation.intervals.roc_auc.1);
    let again = Report::new(&detector, &motions.test, &options, &Run::sequential()).unwrap();
    assert!(again.to_html() == html, "pages differ by the number of threads");
}

#[test]
fn nothing_that_data_say_becomes_markup() {
    let motions = basic_motions().unwrap();
    let mut data = motions.test.clone();
    let nasty = "</script><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>{{data}}";
    let long = "<b>".to_string() + &"x".repeat(10_000);
    data.name = nasty.into();
    let names: Vec<String> =
        (0..40).map(|i| if i == 7 { long.clone() } else { format!("{nasty}{i}") }).collect();
    data.case_names = Some(names.clone());
    data.channels = Some(varnorm::data::Channel::named((0..6).map(|c| format!("{nasty}{c}"))));
    let labels = data.labels.as_ref().unwrap().values.iter().map(|l| format!("{l}{nasty}")).collect();
    data.labels = Some(Labels::classes(labels));
    data.notes = vec![nasty.into()];
    let detector = walking().with_corpus_names(Some(vec![nasty.into(); 10]));
    let options = Options::default().with_normal(format!("Walking{nasty}")).with_explain(1);
    let html = Report::new(&detector, &data, &options, &Run::sequential()).unwrap().to_html();
    // The two scripts of the page, and the data between them.
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script").count(), 2);
    assert!(!html.contains("<img") && !html.contains("<b>x"));
    let read = embedded(&html);
    assert_eq!(read["name"][7].as_str(), Some(long.as_str()));
    assert_eq!(read["name"][8].as_str(), Some(names[8].as_str()));
    // Nothing can be fetched, and only the page's own script runs.
    assert!(html.contains("default-src &#39;none&#39;; script-src &#39;sha256-"));
    assert!(
        !html.contains("http://")
            || html.matches("http://").count() == html.matches("http://www.w3.org/").count()
    );
}

#[test]
fn large_batches_stay_small_and_say_what_is_left_out() {
    let mut numbers = Numbers(5);
    let run = Run::with_threads(2).unwrap();
    let corpus = numbers.walks(200, 100, 6);
    let detector = Settings::one_view().fit(&corpus, &run).unwrap();
    let some = Dataset::new("some", numbers.walks(500, 100, 6));
    let report = Report::new(&detector, &some, &Options::default(), &run).unwrap();
    let size = report.to_html().len();
    println!("500 series of 100 x 6: {size} bytes");
    assert!(size < 3_000_000, "{size}");
    assert_eq!(report.curves.series.len(), 500);

    let many = Dataset::new("many", numbers.walks(20_000, 100, 6));
    let options = Options::default().with_explain(5);
    let report = Report::new(&detector, &many, &options, &run).unwrap();
    let html = report.to_html();
    println!("20,000 series of 100 x 6: {} bytes", html.len());
    assert!(html.len() < 6_000_000, "{}", html.len());
    assert_eq!(embedded(&html)["score"].as_array().unwrap().len(), 20_000);
    for words in ["curves are kept for the 500 most novel of 20000", "the map is thinned to 2000 points"] {
        assert!(report.notes.iter().any(|note| note.contains(words)), "{:?}", report.notes);
        assert!(html.contains(words));
    }
}

/// Lengths that differ, one series, no calibration, an infinite score: nothing of it is a reason to fail.
#[test]
fn odd_data_have_a_report_too() {
    let run = Run::sequential();
    let mut numbers = Numbers(3);
    let mut corpus = numbers.walks(5, 30, 2);
    corpus.extend(&numbers.walks(4, 11, 2)).unwrap();
    let settings = Settings::default()
        .with_kernel("sig:level=5".parse().unwrap())
        .with_norm(varnorm::Norm::Exact)
        .with_calibration("none".parse().unwrap())
        .with_prepare("zscore=channel".parse().unwrap());
    let detector = settings.fit(&corpus, &run).unwrap();
    let one = Dataset::new("one", numbers.walks(1, 45, 2));
    let report = Report::new(&detector, &one, &Options::default(), &run).unwrap();
    let data = embedded(&report.to_html());
    assert_eq!(data["score"][0], "inf");
    assert_eq!(data["p_value"][0], Value::Null);
    assert!(report.to_html().contains("scores are infinite"));
    let label = Options::default().with_normal("x".to_string());
    let error = Report::new(&detector, &one, &label, &run).unwrap_err().to_string();
    assert_eq!(error, "label = x: one has no labels");
}
