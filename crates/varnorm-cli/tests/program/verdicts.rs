//! One rule: whatever says what was found about a batch says the same, for every calibration and decision.

use std::path::PathBuf;

use serde_json::Value;
use varnorm::calibrate::Decision;
use varnorm::{Detector, Run};

use super::serve::Server;
use super::support::{Folder, bytes, waves, wide};

const DECISIONS: [&str; 4] = ["each", "benjamini_hochberg", "storey", "lord"];

/// Verdicts of a batch, and what was said about them.
#[derive(Debug, PartialEq)]
struct Verdicts {
    scores: Vec<f64>,
    novel: Vec<Option<bool>>,
    threshold: Option<f64>,
    cannot_flag: Value,
}

fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some(other) => panic!("{other}"),
        None => value.as_f64(),
    }
}

impl Verdicts {
    /// From the JSON of the program, the server or the library.
    fn of(json: &Value) -> Self {
        let findings = json["findings"].as_array().unwrap();
        Self {
            scores: findings.iter().map(|one| number(&one["score"]).unwrap()).collect(),
            novel: findings.iter().map(|one| one["novel"].as_bool()).collect(),
            threshold: number(&json["threshold"]),
            cannot_flag: json["cannot_flag"].clone(),
        }
    }

    /// No series is called normal above a threshold that is printed, and none novel below it.
    fn check(&self, place: &str) {
        for (score, novel) in self.scores.iter().zip(&self.novel) {
            match (self.threshold, novel) {
                (Some(threshold), Some(novel)) => assert_eq!(*score > threshold, *novel, "{place}: {score}"),
                (Some(_), None) => panic!("{place}: a threshold without a verdict"),
                (None, _) => {}
            }
        }
        let flagged = self.flagged();
        assert!(self.cannot_flag.is_null() || flagged == 0, "{place}: {self:?}");
        if let Some(needed) = self.cannot_flag.get("normal_series_needed") {
            assert!(
                needed.as_u64().unwrap() > self.cannot_flag["calibration_scores"].as_u64().unwrap(),
                "{place}"
            );
        }
    }

    fn flagged(&self) -> usize {
        self.novel.iter().filter(|novel| **novel == Some(true)).count()
    }
}

/// The column `novel` of a table or a CSV.
fn column(lines: &str, cells: impl Fn(&str) -> Vec<String>, count: usize) -> Vec<Option<bool>> {
    let header = cells(lines.lines().next().unwrap());
    let at = header.iter().position(|name| name == "novel").unwrap();
    let verdict = |line: &str| match cells(line)[at].as_str() {
        "yes" => Some(true),
        "no" => Some(false),
        "" | "-" => None,
        other => panic!("{other}"),
    };
    lines.lines().skip(1).take(count).map(verdict).collect()
}

/// What a page says: its data, and its words.
fn page(html: &str) -> (Vec<Option<bool>>, String) {
    let start = "<script type=\"application/json\" id=\"data\">";
    let data = html.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    let novel = data["novel"].as_array().unwrap().iter().map(Value::as_bool).collect();
    (novel, html.split_once(start).unwrap().0.to_string())
}

/// Asks everything that answers about `batch.csv`, and holds the answers to each other.
fn agree(folder: &Folder, model: &str, server: &Server, (level, decision): (&str, &str)) -> Verdicts {
    let place = format!("{model} {decision} {level}");
    let options = format!("--level {level} --decision {decision}");
    let line = format!("score {model} batch.csv {options}");
    let json = folder.line(&format!("{line} --format json")).code(0);
    let told = Verdicts::of(&json.json());
    told.check(&place);

    let detector = Detector::load(&folder.path(model)).unwrap();
    let batch = varnorm::data::read(&folder.path("batch.csv"), &Default::default()).unwrap();
    let chosen: Decision = decision.parse().unwrap();
    let found = detector.score_at(&batch.series, level.parse().unwrap(), chosen, &Run::sequential()).unwrap();
    let library = Verdicts::of(&serde_json::to_value(&found).unwrap());
    assert_eq!(library, told, "{place}");

    let count = told.novel.len();
    let table = folder.line(&line).code(0);
    folder.line(&format!("report {model} batch.csv -o r.html --explain 0 {options}")).code(0);
    let words = |line: &str| line.split_whitespace().map(str::to_string).collect();
    assert_eq!(column(&table.out, words, count), told.novel, "{place}");
    let csv = folder.line(&format!("{line} --format csv")).code(0);
    let cells = |line: &str| line.split(',').map(str::to_string).collect();
    assert_eq!(column(&csv.out, cells, count), told.novel, "{place}");
    let (novel, html) = page(&String::from_utf8(bytes(&folder.path("r.html"))).unwrap());
    assert_eq!(novel, told.novel, "{place}");

    let (status, _, body) = server.ask(
        "POST",
        &format!("/v1/score?name=batch.csv&level={level}&decision={decision}"),
        "",
        &bytes(&folder.path("batch.csv")),
    );
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), json.json(), "{place}");

    // Where nothing can be flagged, everything says so.
    if let Some(words) = told.cannot_flag["words"].as_str() {
        let needed = told.cannot_flag["normal_series_needed"].to_string();
        for said in [&table.out, &table.err, &csv.err, &json.err, &html] {
            assert!(said.contains(words) && said.contains(&needed), "{place}: {said}");
        }
    }
    let exit = match &told {
        _ if told.novel.iter().all(Option::is_none) => 2,
        told if !told.cannot_flag.is_null() && told.cannot_flag["at_once"].is_null() => 2,
        told => i32::from(told.flagged() > 0),
    };
    folder.line(&format!("{line} --fail-on-novel")).code(exit);
    told
}

fn serving(folder: &Folder, model: &str) -> Server {
    Server::of(folder.command(["serve", model, "--listen", "127.0.0.1:0"]))
}

/// Forty normal series, and a batch of normal ones with four that are not.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut all = waves(46, 12);
    let mut batch = all.split_off(40);
    let outliers: Vec<Vec<f64>> =
        (0..4).map(|i| (0..12).map(|t| if (t + i) % 2 == 0 { 9.0 } else { -9.0 }).collect()).collect();
    batch.extend(outliers.clone());
    folder.file("normal.csv", wide(&all)).file("batch.csv", wide(&batch)).file("bad.csv", wide(&outliers));
    folder
}

#[test]
fn all_outputs_agree_for_every_calibration_and_decision() {
    let folder = folder();
    let (mut flagged, mut unable, mut told) = (0, 0, 0);
    for (at, options) in [
        "--calibration auto",
        "--calibration none",
        "--calibration quantile:holdout=0.3",
        "--calibration split:holdout=0.5",
        "--calibration cross_fit:folds=4",
        "--calibration leave_one_out --distance mahalanobis",
        "--calibration gaussian --distance mahalanobis",
        "--calibration supervised:objective=youden --outliers bad.csv",
        "--calibration fixed:threshold=2",
        "--landmarks 8 --calibration cross_fit:folds=5",
    ]
    .into_iter()
    .enumerate()
    {
        let model = format!("m{at}");
        folder.line(&format!("fit normal.csv -o {model} --kernel flat_rbf {options}")).code(0);
        let server = serving(&folder, &model);
        let cases = DECISIONS.map(|decision| ("0.1", decision)).into_iter().chain([("0.01", "each")]);
        for case in cases {
            let found = agree(&folder, &model, &server, case);
            flagged += found.flagged();
            unable += usize::from(!found.cannot_flag.is_null());
            told += found.novel.iter().flatten().count();
        }
    }
    // The cases are there that the test is about.
    println!("{told} verdicts, {flagged} of them novel; {unable} batches in which nothing could be flagged");
    assert!(flagged > 50 && unable > 5 && told > 300, "{flagged} {unable} {told}");
}

/// A bearing: a ringing after each shock; a broken one has three times as many shocks.
fn bearing(seed: usize, broken: bool) -> Vec<f64> {
    let period = if broken { 12 } else { 36 };
    let noise = |t: usize| ((seed * 7919 + t * 104_729) % 1009) as f64 / 1009.0 - 0.5;
    (0..144)
        .map(|t| {
            let since = ((t + seed * 5) % period) as f64;
            (-since / 4.0).exp() * (since * 1.3).sin() * (if broken { 2.0 } else { 1.0 }) + 0.1 * noise(t)
        })
        .collect()
}

#[test]
fn a_broken_bearing_among_three_good_ones_is_flagged() {
    let folder = Folder::new();
    let good: Vec<Vec<f64>> = (0..24).map(|seed| bearing(seed, false)).collect();
    let mut batch: Vec<Vec<f64>> = (30..33).map(|seed| bearing(seed, false)).collect();
    batch.insert(2, bearing(40, true));
    folder.file("good.csv", wide(&good)).file("batch.csv", wide(&batch));
    folder.line("fit good.csv -o m").code(0);
    let ran = folder.line("score m batch.csv --fail-on-novel --format json").code(1);
    assert_eq!(Verdicts::of(&ran.json()).novel[2], Some(true), "{}", ran.out);
    let server = serving(&folder, "m");
    let told = agree(&folder, "m", &server, ("0.05", "each"));
    assert_eq!(told.novel[2], Some(true));
}

#[test]
fn fifteen_series_of_a_shared_set_carry_one_verdict() {
    let file = |part: &str| {
        let name = format!("../../../shared/uea/RacketSports/RacketSports_{part}.ts");
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
    };
    if !file("TRAIN").is_file() {
        println!("skipped: {} is not there", file("TRAIN").display());
        return;
    }
    let folder = Folder::new();
    let train = varnorm::data::read(&file("TRAIN"), &Default::default()).unwrap();
    let test = varnorm::data::read(&file("TEST"), &Default::default()).unwrap();
    let normal = train.select(&train.with_label("Badminton_Smash").unwrap());
    let others: Vec<usize> = (0..test.series.len()).filter(|i| i % 10 == 0).take(15).collect();
    for (name, data) in [("normal.csv", &normal), ("batch.csv", &test.select(&others))] {
        varnorm::data::write(data, &folder.path(name), &Default::default()).unwrap();
    }
    folder.line("fit normal.csv -o m --quiet").code(0);
    let server = serving(&folder, "m");
    let mut flagged = Vec::new();
    for decision in DECISIONS {
        let told = agree(&folder, "m", &server, ("0.05", decision));
        assert_eq!(told.novel.len(), 15);
        flagged.push(told.flagged());
    }
    println!("flagged of 15 by {DECISIONS:?}: {flagged:?}");
    assert!(flagged[0] > 5, "{flagged:?}");
}
