//! Channels are known by their names and series by their sampling step, from the corpus to what is scored.

use std::path::PathBuf;

use super::support::{Folder, Ran};

/// Smooth series of two channels that differ in level: `pressure` about 4, `flow` about 0.
fn value(series: usize, step: usize, channel: &str) -> f64 {
    let angle = series as f64 * 0.9 + step as f64 * 0.4;
    match channel {
        "pressure" => 4.0 + angle.sin() + 0.05 * series as f64,
        "flow" => (1.3 * angle).cos() * 0.5,
        _ => -7.0 - series as f64,
    }
}

/// A long table with these channels; `time` makes the stamp of a step.
fn long(first: usize, columns: &[&str], time: impl Fn(usize) -> String) -> String {
    let mut text = format!("case_id,time,{}\n", columns.join(","));
    for series in first..first + 12 {
        for step in 0..20 {
            let cells: Vec<String> =
                columns.iter().map(|c| format!("{:?}", value(series, step, c))).collect();
            text += &format!("s{series},{},{}\n", time(step), cells.join(","));
        }
    }
    text
}

/// So many milliseconds apart.
fn every(milliseconds: usize) -> impl Fn(usize) -> String {
    move |step| {
        let at = step * milliseconds;
        format!("2024-03-01 12:00:{:02}.{:03}", at / 1000, at % 1000)
    }
}

/// A folder with a model of pressure and flow, 10 ms apart, and the scores of other series of that kind.
fn fitted() -> (Folder, String) {
    let folder = Folder::new();
    folder.file("train.csv", long(0, &["pressure", "flow"], every(10)));
    folder.file("same.csv", long(30, &["pressure", "flow"], every(10)));
    folder.line("fit train.csv -o a.model --kernel flat_rbf").code(0);
    let scores = folder.line("score a.model same.csv --format csv -q").code(0).out;
    (folder, scores)
}

fn notes(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter_map(|line| line.strip_prefix("note: ")).collect()
}

#[test]
fn columns_are_matched_by_name_at_scoring() {
    let (folder, scores) = fitted();
    folder.file("swapped.csv", long(30, &["flow", "pressure"], every(10)));
    folder.file("more.csv", long(30, &["heat", "flow", "pressure"], every(10)));
    let swapped = folder.line("score a.model swapped.csv --format csv").code(0);
    assert_eq!(swapped.out, scores);
    assert_eq!(
        notes(&swapped),
        ["the channels are in another order than in the model; they were matched by name"]
    );
    let more = folder.line("score a.model more.csv --format csv").code(0);
    assert_eq!(more.out, scores);
    assert!(notes(&more).contains(&"channels that the model lacks were ignored: heat"), "{}", more.err);
    folder.file("other.csv", long(30, &["heat", "flow"], every(10)));
    for command in
        ["score a.model other.csv", "explain a.model other.csv", "report a.model other.csv -o r.html"]
    {
        folder
            .line(command)
            .fails("a channel of the model is missing: pressure; the data have heat, flow; rename or add it");
    }
    let json = folder.line("score a.model swapped.csv --format json -q").code(0).json();
    assert_eq!(json["channels"][0]["name"], "pressure");
    assert!(json["notes"][0].as_str().unwrap().contains("matched by name"));
}

#[test]
fn the_reported_case_is_right_now() {
    let shared = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/repro"));
    if !shared.join("chan_train.csv").is_file() {
        println!("skipped: {} has no chan_train.csv", shared.display());
        return;
    }
    let folder = Folder::new();
    for name in ["chan_train.csv", "chan_same.csv", "chan_swapped.csv"] {
        folder.file(name, std::fs::read(shared.join(name)).unwrap());
    }
    folder.line("fit chan_train.csv -o c.model").code(0);
    let same = folder.line("score c.model chan_same.csv --format csv -q").code(0).out;
    assert_eq!(folder.line("score c.model chan_swapped.csv --format csv -q").code(0).out, same);
    assert!(!same.contains(",yes,"), "{same}");
}

#[test]
fn data_without_names_are_taken_by_position_with_a_note() {
    let (folder, scores) = fitted();
    let bare = long(30, &["pressure", "flow"], every(10)).replace("pressure,flow", "c0,c1");
    folder.file("bare.csv", bare);
    let ran = folder.line("score a.model bare.csv --format csv").code(0);
    assert_eq!(ran.out, scores);
    assert_eq!(
        notes(&ran),
        ["the data do not name their channels; they are taken by position: pressure, flow"]
    );
}

#[test]
fn another_sampling_step_is_refused_and_resampling_helps() {
    let (folder, scores) = fitted();
    folder.file("slow.csv", long(30, &["pressure", "flow"], every(20)));
    folder.line("score a.model slow.csv").fails(
        "the steps of `s30` are 20 ms apart where those of the model are 10 ms apart; bring all to one step, as with \
         `--resample 10ms`",
    );
    // Every second step is one of those that were recorded.
    folder.line("fit train.csv -o b.model --kernel gak").code(0);
    let ran = folder.line("score b.model slow.csv --resample 10ms --format csv").code(0);
    assert!(notes(&ran).iter().any(|note| note.contains("brought to steps of 10 ms")), "{}", ran.err);
    // A tenth more is taken for jitter.
    folder.file(
        "near.csv",
        long(30, &["pressure", "flow"], |step| format!("2024-03-01 12:00:00.{:06}", step * 10_500)),
    );
    assert_eq!(folder.line("score a.model near.csv --format csv -q").code(0).out, scores);
    folder.line("inspect a.model").code(0).out.find("pressure, flow").expect("the model's channels are told");
    let json = folder.line("inspect a.model --format json").code(0).json();
    assert_eq!(json["corpus"]["origin"]["sampling"]["unit"], "s");
    assert_eq!(json["corpus"]["origin"]["channels"][1]["name"], "flow");
}

#[test]
fn gaps_are_refused_split_or_kept_and_never_bridged_silently() {
    let folder = Folder::new();
    let gappy = |step: usize| every(10)(if step < 9 { step } else { step + 400 });
    folder.file("gap.csv", long(0, &["pressure", "flow"], gappy));
    folder
        .line("inspect gap.csv")
        .fails("nothing is recorded for 4.01 s, 401 times the sampling step of 10 ms");
    let kept = folder.line("fit gap.csv -o k.model --kernel gak --time-gaps keep").code(0);
    assert!(kept.err.contains("gaps of more than 1.5 sampling steps, the longest of 401"), "{}", kept.err);
    let split = folder.line("fit gap.csv -o s.model --kernel gak --time-gaps split").code(0);
    assert!(split.err.contains("12 series had long gaps in their times and became 24"), "{}", split.err);
    assert!(split.err.contains("fitted on 24 series"), "{}", split.err);
    folder.line("fit gap.csv -o l.model --kernel gak --time-gap-limit 500").code(0);
}

#[test]
fn folders_are_read_with_their_sub_folders_and_columns_in_any_order() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("days/monday")).unwrap();
    let recording = |columns: [&str; 2], series: usize| {
        let mut text = format!("time,{},{}\n", columns[0], columns[1]);
        for step in 0..20 {
            let [a, b] = columns.map(|c| value(series, step, c));
            text += &format!("{},{a:?},{b:?}\n", every(10)(step));
        }
        text
    };
    for series in 0..6 {
        let columns = if series % 2 == 0 { ["pressure", "flow"] } else { ["flow", "pressure"] };
        let place = if series < 3 { "days" } else { "days/monday" };
        folder.file(&format!("{place}/r{series}.csv"), recording(columns, series));
    }
    let ran = folder.line("fit days -o d.model --kernel flat_rbf").code(0);
    assert!(ran.err.contains("fitted on 6 series of 2 channels"), "{}", ran.err);
    assert!(
        ran.err.contains("columns in another order than in the first file were matched by name"),
        "{}",
        ran.err
    );
    let scored = folder.line("score d.model days --format csv -q").code(0);
    assert!(scored.out.contains("\nmonday/r3,"), "{}", scored.out);
    let flat = folder.line("score d.model days --no-recursive --format csv -q").code(0);
    assert_eq!(flat.out.lines().count(), 4);
}

#[test]
fn sentences_name_channels() {
    let folder = Folder::new();
    let constant = long(0, &["pressure", "flow"], every(10));
    let constant: Vec<String> = constant
        .lines()
        .enumerate()
        .map(
            |(at, line)| {
                if at == 0 { line.into() } else { format!("{},1", line.rsplit_once(',').unwrap().0) }
            },
        )
        .collect();
    folder.file("constant.csv", constant.join("\n"));
    let ran = folder.line("fit constant.csv -o c.model --kernel flat_rbf").code(0);
    assert!(ran.err.contains("channel flow is constant in the corpus"), "{}", ran.err);
    let broken = long(0, &["pressure", "flow"], every(10)).replacen(",0.5\n", ",\n", 1);
    folder.file("missing.csv", broken);
    folder
        .line("fit missing.csv -o m.model --kernel flat_rbf")
        .fails("channel 1: the value is missing (NaN); fill it in, or say how it is to be filled: gaps interpolate (series 0 is named s0, channel 1 is named flow)");
}
