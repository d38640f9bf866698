//! One long recording: fit, score, follow.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::support::{Folder, Ran, bytes};

/// A log of two channels with dates, one row a second.
fn log(rows: usize, seed: u64, novel: std::ops::Range<usize>) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let mut text = String::from("time,flow,pressure\n");
    for t in 0..rows {
        let time =
            format!("2026-11-{:02} {:02}:{:02}:{:02}", 1 + t / 86_400, t / 3600 % 24, t / 60 % 60, t % 60);
        let flow = (t as f64 * 0.3).sin() + 0.5 * noise();
        let pressure =
            20.0 + 2.0 * (t as f64 * 0.3).cos() + noise() + if novel.contains(&t) { 15.0 } else { 0.0 };
        text += &format!("{time},{flow},{pressure}\n");
    }
    text
}

/// With `log.csv`, `new.csv` and `log.model`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("log.csv", log(2500, 1, 0..0)).file("new.csv", log(600, 2, 300..320));
    let ran = folder.line("fit log.csv --window auto -o log.model").code(0);
    assert!(ran.err.contains("window 32 steps (32.0 seconds)"), "{}", ran.err);
    assert!(
        ran.err.contains(
            "at most one false alarm in 20 blocks of 128 steps, from 19 normal blocks (one in 43 minutes)"
        ),
        "{}",
        ran.err
    );
    folder
}

#[test]
fn a_log_is_fitted_scored_and_inspected() {
    let folder = folder();
    let events = folder.line("score log.model new.csv --format jsonl").code(0);
    let lines: Vec<Value> = events.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let event = lines
        .iter()
        .max_by(|a, b| a["score"].as_f64().unwrap().total_cmp(&b["score"].as_f64().unwrap()))
        .unwrap();
    assert!((230..=300).contains(&event["from"].as_u64().unwrap()), "{event}");
    assert!(event["channels"].as_str().unwrap().starts_with("pressure "), "{event}");
    assert!(event["from_time"].as_str().unwrap().starts_with("2026-11-01 00:0"), "{event}");
    assert!(event["nearest_time"].as_str().unwrap().starts_with("2026-11-01"), "{event}");
    assert_eq!(
        event["duration"].as_u64(),
        Some(event["to"].as_u64().unwrap() + 1 - event["from"].as_u64().unwrap())
    );
    let points = folder.line("score log.model new.csv --per point --format csv").code(0);
    let rows = points.rows();
    assert_eq!(rows[0], ["row", "time", "settled", "causal", "p_value", "alarm"]);
    assert_eq!(rows.len(), 601);
    assert_eq!((rows[311][0], rows[311][1], rows[311][5]), ("310", "2026-11-01 00:05:10", "yes"));
    // No window has ended at the first row.
    assert_eq!((rows[1][3], rows[33][3].is_empty()), ("", false));
    let windows = folder.line("score log.model new.csv --per window --format json").code(0).json();
    assert_eq!(windows.as_array().unwrap().len(), 285);
    folder.line("score log.model new.csv --per window -o windows.csv").code(0);
    assert_eq!(String::from_utf8(bytes(&folder.path("windows.csv"))).unwrap().lines().count(), 286);
    assert!(folder.line("score log.model new.csv").code(0).out.starts_with("from"));
    folder.line("score log.model new.csv --fail-on-novel").code(1);
    let seen = folder.line("inspect log.model").code(0);
    assert!(seen.out.contains("one long recording") && seen.out.contains("flow, pressure"), "{}", seen.out);
    assert_eq!(folder.line("inspect log.model --format json").code(0).json()["window"], 32);
}

#[test]
fn columns_are_found_by_name_and_gaps_are_respected() {
    let folder = folder();
    let text = log(400, 3, 0..0);
    let turned: Vec<String> = text
        .lines()
        .enumerate()
        .filter(|(n, _)| *n < 200 || *n >= 260)
        .map(|(n, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let label = if n == 0 { "anomaly" } else { "0" };
            format!("{};{};{label};{}", cells[2], cells[1], cells[0])
        })
        .collect();
    folder.file("turned.csv", turned.join("\n"));
    folder.file("plain.csv", &text);
    let (a, b) = (
        folder.line("score log.model plain.csv --per point --format csv").code(0),
        folder.line("score log.model turned.csv --per point --format csv").code(0),
    );
    let (a, rows) = (a.rows(), b.rows());
    assert_eq!(rows.len(), 341);
    assert!((1..137).all(|row| a[row][2] == rows[row][2]));
    assert!(b.err.contains("1 gaps in time"), "{}", b.err);
    // The causal score begins anew after the gap.
    assert!(rows[200..231].iter().all(|row| row[3].is_empty()) && !rows[231][3].is_empty());
}

#[test]
fn the_normal_part_is_a_choice() {
    let folder = Folder::new();
    folder
        .file("log.csv", log(4000, 1, 3000..3050))
        .file("clean.csv", "from,until\n0,1500\n2026-11-01 00:30:00,3000\n");
    let rows = |line: &str| {
        let ran = folder.line(line).code(0);
        ran.err.lines().find(|line| line.starts_with("fitted on")).unwrap().to_string()
    };
    assert!(rows("fit log.csv --window 32 --until 3000 -o a").contains("3000 rows"));
    assert!(
        rows("fit log.csv --window 32s --from 100 --until 2026-11-01T00:50:00 -o b").contains("2900 rows")
    );
    assert!(rows("fit log.csv --window 32 --clean clean.csv -o c").contains("2700 rows"));
    let ran = folder.line("fit log.csv --window 16 --one-false-alarm-in 20min --until 3000 -o d").code(0);
    assert!(ran.err.contains(" blocks of 64 steps, from 46 normal blocks (one in "), "{}", ran.err);
}

#[test]
fn bad_input_is_one_sentence_and_leaves_nothing_behind() {
    let folder = folder();
    folder
        .file("short.csv", log(300, 1, 0..0))
        .file("word.csv", "a,b\n1,2\n3,on\n")
        .file("one.csv", "time,a\n1,2\n2,3\n3,4\n");
    folder.file("other.csv", "a,b\n1,2\n3,4\n").file("cut.model", &bytes(&folder.path("log.model"))[..5000]);
    let before = folder.names();
    folder
        .line("fit short.csv --window 16 --level 0.01 -o x.model")
        .fails("needs 99 normal blocks of 64 steps, 6336 steps in all");
    folder.line("fit short.csv --window 400 -o x.model").fails("longest stretch without a gap has 300 rows");
    folder
        .line("fit word.csv --window 2 -o x.model")
        .fails("word.csv: line 3: column `b`: \"on\" is not a number");
    folder
        .line("fit log.csv --window soon -o x.model")
        .fails("must be a number of steps such as 64, or a duration");
    folder.line("fit log.csv --window 16 --until 99999 -o x.model").fails("the log has 2500 rows");
    folder.line("fit log.csv --window 16 --kernel gak -o x.model").fails("has no feature vectors");
    folder
        .line("fit log.csv --window 16 --prepare none -o x.model")
        .fails("cannot be chosen together with --window");
    folder.line("fit one.csv -o x.model").fails("say --window auto");
    folder.line("fit no.csv --window 16 -o x.model").fails("cannot read no.csv");
    folder
        .line("score log.model other.csv")
        .fails("the model's channel `flow` is no column here; columns are: a, b");
    folder.line("score log.model word.csv --per point -o x.csv").fails("is no column here");
    folder.line("score cut.model new.csv").fails("not a usable varnorm model");
    folder.line("score log.model new.csv --level 0.1").fails("--level cannot be used");
    folder.line("follow cut.model").fails("it is not a model of one long recording; fit one with --window");
    assert_eq!(folder.names(), before);
    let ran = folder.line("fit short.csv --window 16 -o x.model").code(0);
    assert!(
        ran.err.contains("no alarms: level = 0.05: a promise about alarms needs 19 normal blocks"),
        "{}",
        ran.err
    );
    folder.line("score x.model new.csv").fails("the model makes no alarms");
    folder.line("score x.model new.csv --per point").code(0);
}

fn follow(folder: &Folder, arguments: &str, input: &str) -> Ran {
    let mut command = folder.command(format!("follow log.model {arguments}").split_whitespace());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let text = input.to_string();
    let writer = std::thread::spawn(move || {
        let _ = to.write_all(text.as_bytes());
    });
    let ran = Ran::from(child.wait_with_output().unwrap());
    writer.join().unwrap();
    ran
}

/// The settled scores of lines of points, by their rows.
fn points(out: &str) -> Vec<(u64, String)> {
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let points = lines.filter(|line| line["kind"] == "point");
    points.map(|line| (line["row"].as_u64().unwrap(), line["settled"].to_string())).collect()
}

#[test]
fn follow_prints_what_score_prints() {
    let folder = folder();
    let new = String::from_utf8(bytes(&folder.path("new.csv"))).unwrap();
    let whole = folder.line("score log.model new.csv --per point --format jsonl").code(0);
    let expected: Vec<String> = whole
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["settled"].to_string())
        .collect();
    let ran = follow(&folder, "", &new).code(0);
    assert_eq!(points(&ran.out).into_iter().map(|(_, score)| score).collect::<Vec<_>>(), expected);
    let kinds = |kind: &str| {
        ran.out.lines().filter(|line| line.starts_with(&format!("{{\"kind\":\"{kind}\""))).count()
    };
    assert!(kinds("event") >= 1 && kinds("event") == kinds("alarm"));
    // JSON lines, late and duplicate rows.
    let json: String = new
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let line =
                format!("{{\"time\":\"{}\",\"pressure\":{},\"flow\":{}}}\n", cells[0], cells[2], cells[1]);
            if cells[0].ends_with("00:03:00") {
                line.repeat(2) + "{\"time\":\"2026-10-01\",\"flow\":1,\"pressure\":2}\n"
            } else {
                line
            }
        })
        .collect();
    let ran = follow(&folder, "--only points", &json).code(0);
    assert_eq!(points(&ran.out).into_iter().map(|(_, score)| score).collect::<Vec<_>>(), expected);
    assert!(
        ran.err.contains("1 late rows were dropped") && ran.err.contains("1 rows were dropped"),
        "{}",
        ran.err
    );
    let causal = follow(&folder, "--score causal --only points", &new).code(0);
    assert_eq!(causal.out.lines().count(), 600);
    follow(&folder, "", "time,flow\n1,2\n").fails("the model's channel `pressure` is no column here");
    follow(&folder, "", "").fails("no rows");
}

/// Reads lines until the row is there.
fn read_until(child: &mut Child, row: u64) -> String {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    loop {
        let mut line = String::new();
        assert!(out.read_line(&mut line).unwrap() > 0, "{text}");
        text += &line;
        if line.contains(&format!("\"row\":{row},")) {
            return text;
        }
    }
}

#[test]
fn a_stream_that_was_killed_goes_on_where_it_was() {
    let folder = folder();
    let new = String::from_utf8(bytes(&folder.path("new.csv"))).unwrap();
    let (header, rows) = (new.lines().next().unwrap(), new.lines().skip(1).collect::<Vec<_>>());
    let whole = folder.line("score log.model new.csv --per point --format jsonl").code(0);
    let expected: Vec<String> = whole
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["settled"].to_string())
        .collect();
    let mut command = folder.command("follow log.model --state s".split_whitespace());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    writeln!(to, "{header}\n{}", rows[..330].join("\n")).unwrap();
    to.flush().unwrap();
    let mut found = points(&read_until(&mut child, 250));
    child.kill().unwrap();
    child.wait().unwrap();
    // What was printed is in the state, and the state says where to go on.
    let again = follow(&folder, "--state s", &format!("{header}\n")).code(2);
    let resumed: Value = serde_json::from_str(again.out.lines().next().unwrap()).unwrap();
    let at = resumed["rows"].as_u64().unwrap() as usize;
    assert!(resumed["kind"] == "resumed" && at > 250 && at <= 330, "{resumed}");
    let ran = follow(&folder, "--state s", &format!("{header}\n{}\n", rows[at..].join("\n"))).code(0);
    found.extend(points(&again.out));
    found.extend(points(&ran.out));
    found.sort();
    found.dedup();
    // The last rows wait for more.
    assert_eq!(found.len(), 544);
    assert!(found.iter().enumerate().all(|(i, (row, score))| *row == i as u64 && *score == expected[i]));
    let mut damaged = bytes(&folder.path("s"));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.file("s", &damaged);
    follow(&folder, "--state s", &new).fails("not a usable state of a stream");
}
