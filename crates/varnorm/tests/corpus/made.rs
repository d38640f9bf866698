//! Writes the files.

use super::expected::{Answer, Expected, File, Reading, options, recording, several};

const STEPS: usize = 40;

/// The made-up sensors: pressure, flow and vibration, to two decimals.
pub fn sensor(step: usize, channel: usize) -> f64 {
    let t = step as f64;
    let value = match channel {
        0 => 5.0 + 0.9 * (t / 3.0).sin(),
        1 => 120.0 - 30.0 * (t / 5.0).cos(),
        _ => -0.4 + 0.3 * (t * 1.7).sin(),
    };
    (value * 100.0).round() / 100.0
}

fn thousands(step: usize, channel: usize) -> f64 {
    1000.0 * sensor(step, channel)
}

fn with_a_gap(step: usize, channel: usize) -> f64 {
    if channel == 1 && step % 7 == 3 { f64::NAN } else { sensor(step, channel) }
}

fn number(value: f64) -> String {
    format!("{value:.2}")
}

fn comma(value: f64) -> String {
    number(value).replace('.', ",")
}

/// Rows of a time and three sensors.
fn rows(
    steps: usize,
    separator: &str,
    time: impl Fn(usize) -> String,
    cell: impl Fn(f64) -> String,
) -> String {
    (0..steps)
        .map(|i| {
            let mut cells = vec![time(i)];
            cells.extend((0..3).map(|c| cell(sensor(i, c))));
            cells.retain(|cell| cell != "\0");
            cells.join(separator) + "\n"
        })
        .collect()
}

/// No time at all.
fn none(_: usize) -> String {
    "\0".into()
}

fn seconds(i: usize) -> String {
    format!("{:.2}", i as f64 / 100.0)
}

fn iso(i: usize) -> String {
    format!("2024-01-02 03:04:{:02}.{:03}", i / 100, i % 100 * 10)
}

fn german(i: usize) -> String {
    format!("02.01.2024 03:{:02}:{:02}", i / 60, i % 60)
}

fn clock(i: usize) -> String {
    format!("03:{:02}:{:02}", i / 60, i % 60)
}

const NAMES: [&str; 3] = ["pressure", "flow", "vibration"];
const UNITS: [&str; 3] = ["pressure [bar]", "flow [l/min]", "vibration [g]"];

fn file(name: &'static str, text: impl Into<Vec<u8>>, reading: Reading) -> File {
    File {
        name,
        bytes: text.into(),
        extension: "csv",
        options: Default::default(),
        expected: Expected::Read(reading),
        answers: Vec::new(),
    }
}

fn asks(
    name: &'static str,
    text: impl Into<Vec<u8>>,
    words: &'static [&'static str],
    answers: &[(&str, Reading)],
) -> File {
    let answers = answers
        .iter()
        .map(|(words, reading)| Answer { options: options(words), reading: reading.clone() })
        .collect();
    File { expected: Expected::Asks(words), answers, ..file(name, text, Reading::default()) }
}

fn named(mut file: File, extension: &'static str) -> File {
    file.extension = extension;
    file
}

fn told(mut file: File, words: &str) -> File {
    file.options = options(words);
    file
}

/// The whole corpus.
pub fn files() -> Vec<File> {
    [separators(), encodings(), headers(), numbers(), times(), cases(), layouts(), oddities()]
        .into_iter()
        .flatten()
        .collect()
}

fn one() -> Reading {
    recording(STEPS, &NAMES)
}

fn separators() -> Vec<File> {
    let head = "time,pressure,flow,vibration\n";
    let with = |separator: &str| head.replace(',', separator) + &rows(STEPS, separator, seconds, number);
    let german = "Zeit;pressure;flow;vibration\n".to_string()
        + &rows(STEPS, ";", |i| seconds(i).replace('.', ","), comma);
    let aligned: String = rows(STEPS, ",", seconds, number)
        .lines()
        .map(|l| l.split(',').map(|c| format!("{c:>10}")).collect::<String>() + "\n")
        .collect();
    vec![
        file("comma", with(","), one().apart("0.01")),
        file("semicolon_and_point", with(";"), one().apart("0.01")),
        file("semicolon_and_decimal_comma", german.clone(), one().apart("0.01")),
        named(file("tabs", with("\t"), one().apart("0.01")), "tsv"),
        named(file("tabs_and_decimal_comma", german.replace(';', "\t"), one().apart("0.01")), "txt"),
        file("pipes", with("|"), one().apart("0.01")),
        file("comma_and_space", with(", "), one().apart("0.01")),
        named(
            file(
                "aligned",
                format!("{:>10}{:>10}{:>10}{:>10}\n{aligned}", "time", "pressure", "flow", "vibration"),
                one().apart("0.01"),
            ),
            "txt",
        ),
        named(
            file(
                "aligned_with_units",
                format!("Time (s)  pressure (bar)   flow (l/min)   vibration (g)\n{aligned}"),
                recording(STEPS, &UNITS).apart("10 ms"),
            ),
            "dat",
        ),
        named(file("single_spaces", with(" "), one().apart("0.01")), "txt"),
        file("stated_separator", "sep=;\n".to_string() + &german, one().apart("0.01")),
        file(
            "header_of_another_separator",
            head.to_string() + &rows(STEPS, ";", seconds, number),
            one().apart("0.01"),
        ),
        file("trailing_separators", with(";").replace('\n', ";\n"), one().apart("0.01")),
        file(
            "trailing_separators_in_rows_only",
            head.to_string() + &rows(STEPS, ",", seconds, number).replace('\n', ",\n"),
            one().apart("0.01"),
        ),
        file(
            "quoted_everything",
            with(",").lines().map(|l| format!("\"{}\"\r\n", l.replace(',', "\",\""))).collect::<String>(),
            one().apart("0.01"),
        ),
        file(
            "markdown",
            format!(
                "| time | pressure | flow | vibration |\n|---|---|---|---|\n{}",
                rows(STEPS, " | ", seconds, number).lines().map(|l| format!("| {l} |\n")).collect::<String>()
            ),
            one().apart("0.01"),
        ),
        asks(
            "decimal_commas_between_commas",
            "time,pressure,flow,vibration\n".to_string() + &rows(STEPS, ",", |i| i.to_string(), comma),
            &["decimal commas", "cannot be told from separators"],
            &[],
        ),
    ]
}

fn encodings() -> Vec<File> {
    let text = "time [s],pressure [bar],flow [l/min],Temperatur [°C]\n".to_string()
        + &rows(STEPS, ",", seconds, number);
    let reading = recording(STEPS, &["pressure [bar]", "flow [l/min]", "Temperatur [°C]"]).apart("10 ms");
    let utf16 = |big: bool| {
        let mark = if big { [0xfe, 0xff] } else { [0xff, 0xfe] };
        let unit = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
        mark.into_iter().chain(text.encode_utf16().flat_map(unit)).collect::<Vec<u8>>()
    };
    let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    let broken = |end: &str, bad: &str| text.replace('\n', end) + bad + end;
    vec![
        file("utf8_mark", "\u{feff}".to_string() + &text, reading.clone()),
        file("utf16_little", utf16(false), reading.clone()),
        file("utf16_big", utf16(true), reading.clone()),
        file("latin1", latin, reading.clone().noted("Windows-1252")),
        file("crlf", text.replace('\n', "\r\n"), reading.clone()),
        file("cr", text.replace('\n', "\r"), reading.clone()),
        asks(
            "crlf_with_a_wrong_cell",
            broken("\r\n", "0.40,1.0,x1,2.0"),
            &["line 42", "`x1` is not a number", "--ignore flow"],
            &[(
                "ignore=flow",
                Reading {
                    lengths: vec![41],
                    count: 2,
                    channels: Some(vec!["pressure [bar]", "Temperatur [°C]"]),
                    step: Some("10 ms"),
                    ..Reading::default()
                },
            )],
        ),
        asks(
            "cr_with_a_wrong_cell",
            broken("\r", "0.40,1.0,x1,2.0"),
            &["line 42", "`x1` is not a number"],
            &[(
                "ignore=flow",
                Reading {
                    lengths: vec![41],
                    count: 2,
                    channels: Some(vec!["pressure [bar]", "Temperatur [°C]"]),
                    step: Some("10 ms"),
                    ..Reading::default()
                },
            )],
        ),
        named(
            file(
                "gzip",
                {
                    use std::io::Write;
                    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    out.write_all(text.as_bytes()).unwrap();
                    out.finish().unwrap()
                },
                reading.clone(),
            ),
            "csv.gz",
        ),
        named(
            file(
                "zstd",
                ruzstd::encoding::compress_to_vec(
                    text.as_bytes(),
                    ruzstd::encoding::CompressionLevel::Fastest,
                ),
                reading,
            ),
            "csv.zst",
        ),
    ]
}

fn headers() -> Vec<File> {
    let body = rows(STEPS, ",", seconds, number);
    let german = rows(STEPS, ";", |i| seconds(i).replace('.', ","), comma);
    let units = recording(STEPS, &UNITS).apart("10 ms");
    let labview = "LabVIEW Measurement\t\nWriter_Version\t2\nReader_Version\t2\nSeparator\tTab\nDecimal_Separator\t.\nMulti_Headings\tNo\nX_Columns\tOne\nTime_Pref\tAbsolute\nOperator\tlab\nDate\t2024/01/02\nTime\t03:04:05.678\n***End_of_Header***\t\n\t\nChannels\t3\t\t\t\nSamples\t40\t40\t40\t\n***End_of_Header***\t\t\t\t\nX_Value\tpressure\tflow\tvibration\tComment\n".to_string()
        + &rows(STEPS, "\t", seconds, number).replace('\n', "\t\n");
    let plc = "\"Archive\";\"Line 4\"\n\"Exported\";\"02.01.2024 03:04\"\n\n\"Zeit\";\"pressure\";\"flow\";\"vibration\"\n\"s\";\"bar\";\"l/min\";\"g\"\n".to_string() + &german;
    let scope = "Model,DPO3034\nFirmware Version,2.37\nPoint Format,Y,,\nHorizontal Units,S,,\nSample Interval,1e-02,,\nRecord Length,40,,\nLabel,,,\nTIME,pressure,flow,vibration\n".to_string() + &body;
    vec![
        file(
            "units_in_brackets",
            "time [s],pressure [bar],flow [l/min],vibration [g]\n".to_string() + &body,
            units.clone(),
        ),
        file(
            "units_in_round_brackets",
            "Time (s),pressure (bar),flow (l/min),vibration (g)\n".to_string() + &body,
            units.clone(),
        ),
        file(
            "units_row",
            "time,pressure,flow,vibration\ns,bar,l/min,g\n".to_string() + &body,
            units.clone().noted("line 2 was read as units"),
        ),
        file(
            "units_row_in_brackets",
            "time,pressure,flow,vibration\n[s],[bar],[l/min],[g]\n".to_string() + &body,
            units.clone(),
        ),
        file(
            "units_row_said",
            "Tag,pressure,flow,vibration\nUnit,bar,l/min,g\n".replace("Tag", "time") + &body,
            recording(STEPS, &UNITS).apart("0.01"),
        ),
        file(
            "title_lines",
            "Measurement of pump 7\nOperator: Smith\n\ntime [s],pressure [bar],flow [l/min],vibration [g]\n"
                .to_string()
                + &body,
            units.clone().noted("lines 1 to 2 before the header"),
        ),
        file(
            "titles_padded_by_a_spreadsheet",
            "Report;;;\nLine 4;;;\n;;;\nZeit [s];pressure [bar];flow [l/min];vibration [g]\n".to_string()
                + &german,
            units.clone(),
        ),
        named(file("labview", labview, one().apart("0.01")), "lvm"),
        file("controller_export", plc, recording(STEPS, &UNITS).apart("10 ms")),
        file("oscilloscope", scope, one().apart("0.01")),
        file(
            "comments_with_hash",
            "# recorded at line 4\n# operator: me\ntime,pressure,flow,vibration\n".to_string() + &body,
            one().apart("0.01"),
        ),
        named(
            file(
                "comments_with_percent",
                "% recorded\n% at line 4\n".to_string()
                    + "time pressure flow vibration\n"
                    + &body.replace(',', " "),
                one().apart("0.01"),
            ),
            "txt",
        ),
        named(
            file(
                "header_in_a_comment",
                "# time pressure flow vibration\n".to_string() + &body.replace(',', " "),
                one().apart("0.01"),
            ),
            "txt",
        ),
        file(
            "types_row",
            "time,pressure,flow,vibration\nREAL,REAL,REAL,REAL\n".to_string() + &body,
            one().apart("0.01"),
        ),
        file(
            "comments_between_rows",
            "time,pressure,flow,vibration\n".to_string() + &body.replacen("0.20", "# valve opened\n0.20", 1),
            one().apart("0.01"),
        ),
        file(
            "empty_lines",
            "\n\ntime,pressure,flow,vibration\n\n".to_string() + &body.replace('\n', "\n\n"),
            one().apart("0.01"),
        ),
        file(
            "total_line",
            "Zeit [s];pressure [bar];flow [l/min];vibration [g]\n".to_string()
                + &german
                + "Summe;200,5;4800,1;-16,2\n",
            units.clone().noted("below the data"),
        ),
        file(
            "footer",
            "time,pressure,flow,vibration\n".to_string() + &body + "\nEnd of file\n40 rows exported\n",
            one().apart("0.01").noted("below the data"),
        ),
        told(
            file(
                "skipped_lines",
                "1,2,3,4\n1,2,3,4\ntime,pressure,flow,vibration\n".to_string() + &body,
                one().apart("0.01"),
            ),
            "skip=2",
        ),
        file(
            "grouped_names",
            "time,left,,right\n,p,q,p\n".to_string() + &body,
            recording(STEPS, &["left p", "left q", "right p"]).apart("0.01"),
        ),
        file(
            "header_again",
            "time,pressure,flow,vibration\n".to_string()
                + &body.replacen("0.20", "time,pressure,flow,vibration\n0.20", 1),
            one().apart("0.01").noted("is the header again"),
        ),
        file(
            "names_over_lines",
            "time,\"pressure\nin the pipe\",flow,vibration\n".to_string() + &body,
            recording(STEPS, &["pressure\nin the pipe", "flow", "vibration"]).apart("0.01"),
        ),
        asks(
            "same_name_twice",
            "time,p,p,v\n".to_string() + &body,
            &["columns 2 and 3 are both named `p`", "--ignore 3"],
            &[(
                "ignore=3",
                Reading {
                    lengths: vec![STEPS],
                    count: 2,
                    channels: Some(vec!["p", "v"]),
                    step: Some("0.01"),
                    ..Reading::default()
                },
            )],
        ),
    ]
}

fn numbers() -> Vec<File> {
    let head = "time;pressure;flow;vibration\n";
    let large = |group: &str, mark: &str| {
        let cell = move |v: f64| {
            let text = format!("{:.1}", (v * 1000.0).abs());
            let (whole, decimals) = text.split_once('.').unwrap();
            let at = whole.len().saturating_sub(3);
            let grouped =
                if at > 0 { format!("{}{group}{}", &whole[..at], &whole[at..]) } else { whole.to_string() };
            format!("{}{grouped}{mark}{decimals}", if v < 0.0 { "-" } else { "" })
        };
        head.to_string() + &rows(STEPS, ";", |i| i.to_string(), cell)
    };
    let big = Reading { tolerance: 0.11, step: Some("1"), ..one().valued(thousands) };
    let big = Reading { step: None, ..big };
    let gaps = |word: &'static str| {
        let text: String = (0..STEPS)
            .map(|i| {
                format!(
                    "{},{},{},{}\n",
                    seconds(i),
                    number(sensor(i, 0)),
                    if i % 7 == 3 { word.to_string() } else { number(sensor(i, 1)) },
                    number(sensor(i, 2))
                )
            })
            .collect();
        "time,pressure,flow,vibration\n".to_string() + &text
    };
    let missing = || one().apart("0.01").valued(with_a_gap);
    let three = (0..STEPS)
        .map(|i| format!("{};{};{}\n", i, 1000 + 7 * i, 2000 + i))
        .map(|l| l.replace(";1", ";1,").replace(";2", ";2,"))
        .collect::<String>();
    fn milli(step: usize, channel: usize) -> f64 {
        if channel == 0 { (1000.0 + 7.0 * step as f64) / 1000.0 } else { (2000.0 + step as f64) / 1000.0 }
    }
    fn whole(step: usize, channel: usize) -> f64 {
        if channel == 0 { 1000.0 + 7.0 * step as f64 } else { 2000.0 + step as f64 }
    }
    let two = Reading { count: 2, ..recording(STEPS, &["a", "b"]) };
    let mut all = vec![
        file("thousands_by_comma", large(",", "."), big.clone()),
        file("thousands_by_point", large(".", ","), big.clone()),
        file("thousands_by_space", large(" ", ","), big.clone()),
        file("thousands_by_narrow_space", large("\u{202f}", ","), big.clone()),
        file("thousands_by_apostrophe", large("'", "."), big.clone()),
        file(
            "thousands_in_quotes",
            large(",", ".")
                .lines()
                .map(|l| l.split(';').map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(",") + "\n")
                .collect::<String>(),
            big,
        ),
        file(
            "decimal_commas_in_quotes",
            "time,pressure,flow,vibration\n".to_string()
                + &rows(STEPS, ",", |i| i.to_string(), |v| format!("\"{}\"", comma(v))),
            one(),
        ),
        asks(
            "thousands_or_decimals",
            "step;a;b\n".to_string() + &three,
            &["can be read in two ways: 1.000 or 1000", "--decimal point", "--decimal comma"],
            &[("decimal=comma", two.clone().valued(milli)), ("decimal=point", two.valued(whole))],
        ),
        file(
            "infinite",
            gaps("inf"),
            one()
                .apart("0.01")
                .valued(|i, c| if c == 1 && i % 7 == 3 { f64::INFINITY } else { sensor(i, c) }),
        ),
        file(
            "exponents",
            "time,pressure,flow,vibration\n".to_string()
                + &rows(STEPS, ",", seconds, |v| format!("{:.4E}", v)),
            one().apart("0.01"),
        ),
        file(
            "units_in_cells",
            "time,pressure,flow,vibration\n".to_string()
                + &(0..STEPS)
                    .map(|i| {
                        format!(
                            "{},{} bar,{} l/min,{}\n",
                            seconds(i),
                            number(sensor(i, 0)),
                            number(sensor(i, 1)),
                            number(sensor(i, 2))
                        )
                    })
                    .collect::<String>(),
            recording(STEPS, &["pressure [bar]", "flow [l/min]", "vibration"]).apart("0.01"),
        ),
        asks(
            "two_marks",
            "time;a;b\n".to_string() + &(0..STEPS).map(|i| format!("{i};{i}.5;{i},5\n")).collect::<String>(),
            &["decimal point", "decimal comma", "--decimal point"],
            &[(
                "decimal=point ignore=b",
                Reading {
                    lengths: vec![STEPS],
                    count: 1,
                    channels: Some(vec!["a"]),
                    values: Some(|i, _| i as f64 + 0.5),
                    ..Reading::default()
                },
            )],
        ),
    ];
    for (name, word) in [
        ("missing_na", "NA"),
        ("missing_n_a", "N/A"),
        ("missing_null", "null"),
        ("missing_dash", "-"),
        ("missing_spreadsheet", "#N/A"),
        ("missing_nan", "NaN"),
        ("missing_empty", ""),
        ("missing_qnan", "1.#QNAN"),
        ("missing_none", "None"),
    ] {
        all.push(file(name, gaps(word), missing()));
    }
    all
}

fn times() -> Vec<File> {
    let with = |head: &str, time: &dyn Fn(usize) -> String| {
        format!("{head},pressure,flow,vibration\n") + &rows(STEPS, ",", time, number)
    };
    let split = |separator: &str, date: &str| {
        let time = move |i: usize| format!("{date}{separator}{}", clock(i));
        ["Datum", "Uhrzeit", "pressure", "flow", "vibration"].join(separator)
            + "\n"
            + &rows(STEPS, separator, time, if separator == ";" { comma } else { number })
    };
    let slashes =
        |day: usize| with("Date", &move |i| format!("01/{day:02}/2024 03:{:02}:{:02}", i / 60, i % 60));
    vec![
        file("iso_stamps", with("timestamp", &iso), one().apart("10 ms").from("2024-01-02 03:04:00.000")),
        file("iso_stamps_with_zone", with("time", &|i| iso(i).replace(' ', "T") + "Z"), one().apart("10 ms")),
        file(
            "iso_stamps_with_offset",
            with("time", &|i| iso(i).replace(' ', "T") + "+01:00"),
            one().apart("10 ms"),
        ),
        file(
            "stamps_with_comma",
            "time;pressure;flow;vibration\n".to_string()
                + &rows(STEPS, ";", |i| iso(i).replace('.', ","), comma),
            one().apart("10 ms"),
        ),
        file(
            "german_stamps",
            "Zeitstempel;pressure;flow;vibration\n".to_string() + &rows(STEPS, ";", german, comma),
            one().apart("1 s").from("02.01.2024 03:00:00"),
        ),
        file("date_and_time", split(";", "02.01.2024"), one().apart("1 s")),
        file("date_and_time_iso", split(",", "2024-01-02"), one().apart("1 s")),
        file(
            "clock_times",
            with("Uhrzeit", &|i| format!("03:04:{:02}.{}", i / 10, i % 10)),
            one().apart("100 ms"),
        ),
        file(
            "clock_past_midnight",
            with("time", &|i| {
                format!(
                    "{:02}:{:02}:{:02}",
                    (23 + (3580 + i) / 3600) % 24,
                    (3580 + i) / 60 % 60,
                    (3580 + i) % 60
                )
            }),
            one().apart("1 s"),
        ),
        asks(
            "day_or_month",
            slashes(2),
            &["two ways", "--time Date=dmy", "--time Date=mdy"],
            &[
                ("time=Date=dmy", one().apart("1 s").from("01/02/2024 03:00:00")),
                ("time=mdy", one().apart("1 s")),
            ],
        ),
        file("month_first", slashes(25), one().apart("1 s").from("01/25/2024 03:00:00")),
        file(
            "day_first",
            with("Date", &|i| format!("25/01/2024 03:{:02}:{:02}", i / 60, i % 60)),
            one().apart("1 s"),
        ),
        file(
            "month_names",
            with("Date", &|i| format!("02-Jan-2024 03:{:02}:{:02}", i / 60, i % 60)),
            one().apart("1 s"),
        ),
        file("am_and_pm", with("Time", &|i| format!("2024-01-02 11:{:02}:30 PM", i)), one().apart("1 min")),
        file("epoch_seconds", with("timestamp", &|i| (1_704_164_645 + i).to_string()), one().apart("1 s")),
        file(
            "epoch_milliseconds",
            with("timestamp", &|i| (1_704_164_645_000 + 10 * i as u64).to_string()),
            one().apart("10 ms"),
        ),
        file(
            "spreadsheet_days",
            with("Date", &|i| format!("{:.8}", 45_293.125 + i as f64 / 86_400.0)),
            one().apart("1 s"),
        ),
        asks(
            "spreadsheet_days_or_seconds",
            with("time", &|i| format!("{:.8}", 45_293.125 + i as f64 / 86_400.0)),
            &["--time time=excel", "--time time=s"],
            &[("time=time=excel", one().apart("1 s"))],
        ),
        file("milliseconds_in_the_name", with("time_ms", &|i| (10 * i).to_string()), one().apart("10 ms")),
        file("milliseconds_as_the_name", with("ms", &|i| (10 * i).to_string()), one().apart("10 ms")),
        file("seconds_in_brackets", with("t [s]", &seconds), one().apart("10 ms")),
        file(
            "elapsed_minutes",
            with("Elapsed (min)", &|i| format!("{:.1}", i as f64 / 2.0)),
            one().apart("30 s"),
        ),
        file("french_time", with("Temps (s)", &seconds), one().apart("10 ms")),
        file("unnamed_stamps", with("", &iso), one().apart("10 ms")),
        file("stamps_under_another_name", with("when", &iso), one().apart("10 ms")),
        file("compact_stamps", with("time", &|i| format!("20240102T0304{:02}", i)), one().apart("1 s")),
        file("stamps_called_timestamp", with("timestamp", &|i| iso(i)), one().apart("10 ms")),
        file(
            "temperature_called_t",
            "time,T [°C],flow,vibration\n".to_string() + &rows(STEPS, ",", seconds, number),
            recording(STEPS, &["T [°C]", "flow", "vibration"]).apart("0.01"),
        ),
        asks(
            "two_times",
            "start,stop,p\n".to_string()
                + &(0..STEPS)
                    .map(|i| format!("{},{},{}\n", iso(i), iso(i + 1), number(sensor(i, 0))))
                    .collect::<String>(),
            &["--time start", "--time stop"],
            &[("time=start", recording(STEPS, &["p"]).apart("10 ms"))],
        ),
        file(
            "pattern_stated",
            with("when", &|i| format!("02~01~2024_03:04:{:02}", i)),
            Reading {
                lengths: vec![STEPS],
                count: 3,
                channels: Some(NAMES.to_vec()),
                step: Some("1 s"),
                ..Reading::default()
            },
        ),
    ]
    .into_iter()
    .map(|f| if f.name == "pattern_stated" { told(f, "time=when=%d~%m~%Y_%H:%M:%S") } else { f })
    .collect()
}

fn cases() -> Vec<File> {
    let long = |head: &str, name: &dyn Fn(usize) -> String| {
        head.to_string()
            + "\n"
            + &(0..STEPS)
                .map(|i| {
                    format!(
                        "{},{},{}\n",
                        name(i / 10),
                        seconds(i % 10),
                        (0..3).map(|c| number(sensor(i, c))).collect::<Vec<_>>().join(",")
                    )
                })
                .collect::<String>()
    };
    let four = || several(&[10, 10, 10, 10], &NAMES).apart("0.01");
    let interleaved = "time,machine,pressure\n".to_string()
        + &(0..STEPS)
            .map(|i| format!("{},{},{}\n", seconds(i / 2), ["A", "B"][i % 2], number(sensor(i, 0))))
            .collect::<String>();
    fn halves(step: usize, _: usize) -> f64 {
        if step < 20 { sensor(2 * step, 0) } else { sensor(2 * (step - 20) + 1, 0) }
    }
    vec![
        file(
            "long_by_case",
            long("case_id,time,pressure,flow,vibration", &|c| format!("run {c}")),
            four().cases(&["run 0", "run 1", "run 2", "run 3"]),
        ),
        file(
            "long_by_batch",
            long("Batch,time,pressure,flow,vibration", &|c| format!("B{c}")),
            four().cases(&["B0", "B1", "B2", "B3"]).noted("names the series"),
        ),
        file(
            "long_by_cycle_number",
            long("cycle,time,pressure,flow,vibration", &|c| (c + 1).to_string()),
            four().cases(&["1", "2", "3", "4"]),
        ),
        file(
            "long_by_any_word",
            long("Prüfling,time,pressure,flow,vibration", &|c| format!("P-{c}")),
            four().cases(&["P-0", "P-1", "P-2", "P-3"]).noted("names the series"),
        ),
        file(
            "long_interleaved",
            interleaved,
            several(&[20, 20], &["pressure"]).apart("0.01").cases(&["A", "B"]).valued(halves),
        ),
        asks(
            "restarts_without_names",
            long("time,pressure,flow,vibration", &|_| String::new()).replace("\n,", "\n"),
            &["line 12", "--case restart", "--csv-layout recording"],
            &[("case=restart", four())],
        ),
        asks(
            "stretches_of_a_machine",
            "time,machine,pressure,flow,vibration\n".to_string()
                + &(0..STEPS)
                    .map(|i| {
                        format!(
                            "{},{},{}\n",
                            seconds(i),
                            ["A", "B"][i / 20],
                            (0..3).map(|c| number(sensor(i, c))).collect::<Vec<_>>().join(",")
                        )
                    })
                    .collect::<String>(),
            &["--case machine", "--ignore machine"],
            &[
                ("case=machine", several(&[20, 20], &NAMES).apart("0.01")),
                ("ignore=machine", one().apart("0.01")),
            ],
        ),
        told(
            file(
                "two_columns_name_the_case",
                "machine,run,time,pressure,flow,vibration\n".to_string()
                    + &(0..STEPS)
                        .map(|i| {
                            format!(
                                "{},{},{},{}\n",
                                ["A", "B"][i / 20],
                                i / 10 % 2,
                                seconds(i % 10),
                                (0..3).map(|c| number(sensor(i, c))).collect::<Vec<_>>().join(",")
                            )
                        })
                        .collect::<String>(),
                four().cases(&["A/0", "A/1", "B/0", "B/1"]),
            ),
            "case=machine+run",
        ),
        file(
            "one_case_only",
            long("case_id,time,pressure,flow,vibration", &|_| "a".into())
                .lines()
                .take(11)
                .map(|l| l.to_string() + "\n")
                .collect::<String>(),
            several(&[10], &NAMES).apart("0.01").cases(&["a"]),
        ),
    ]
}

fn layouts() -> Vec<File> {
    let bare = rows(STEPS, ",", none, number);
    let both: &'static [&'static str] = &[
        "40 steps x 3 channels (`--csv-layout recording`)",
        "40 series of 3 steps, one per row (`--csv-layout wide`)",
    ];
    let answers = || {
        [
            ("layout=recording", one().unnamed(3)),
            ("layout=wide", Reading { lengths: vec![3; STEPS], count: 1, values: None, ..one().unnamed(1) }),
        ]
    };
    fn row(step: usize, _: usize) -> f64 {
        sensor(step % 20, 0) + (step / 20) as f64
    }
    let wide = |head: &dyn Fn(usize) -> String, lead: &dyn Fn(usize) -> String| {
        let mut text = lead(usize::MAX) + &(0..20).map(head).collect::<Vec<_>>().join(",") + "\n";
        for r in 0..5 {
            text += &(lead(r)
                + &(0..20).map(|s| number(row(20 * r + s, 0))).collect::<Vec<_>>().join(",")
                + "\n");
        }
        text
    };
    let case = |r: usize| if r == usize::MAX { "id,".to_string() } else { format!("s{r},") };
    let five = || Reading {
        lengths: vec![20; 5],
        count: 1,
        channels: None,
        values: Some(row),
        tolerance: 0.0051,
        ..Reading::default()
    };
    vec![
        asks("numbers_without_header", bare.clone(), both, &answers()),
        asks("numbers_without_header_semicolons", rows(STEPS, ";", none, comma), both, &answers()),
        asks(
            "counted_by_pandas",
            ",0,1,2\n".to_string() + &rows(STEPS, ",", |i| i.to_string(), number),
            both,
            &answers(),
        ),
        file("time_without_header", rows(STEPS, ",", seconds, number), one().unnamed(3).apart("0.01")),
        file("stamps_without_header", rows(STEPS, ",", iso, number), one().unnamed(3).apart("10 ms")),
        file("names_without_time", "pressure,flow,vibration\n".to_string() + &bare, one()),
        file(
            "index_of_pandas",
            ",pressure,flow,vibration\n".to_string() + &rows(STEPS, ",", |i| i.to_string(), number),
            one(),
        ),
        file(
            "index_and_time",
            "Unnamed: 0,time,pressure,flow,vibration\n".to_string()
                + &rows(STEPS, ",", |i| format!("{i},{}", seconds(i)), number),
            one().apart("0.01"),
        ),
        named(
            file(
                "row_names_of_r",
                "\"pressure\" \"flow\" \"vibration\"\n".to_string()
                    + &rows(STEPS, " ", |i| format!("\"{}\"", i + 1), number),
                one(),
            ),
            "txt",
        ),
        file(
            "one_column",
            "pressure\n".to_string() + &(0..STEPS).map(|i| number(sensor(i, 0)) + "\n").collect::<String>(),
            recording(STEPS, &["pressure"]),
        ),
        file(
            "one_column_without_header",
            (0..STEPS).map(|i| number(sensor(i, 0)) + "\n").collect::<String>(),
            Reading { channels: None, ..recording(STEPS, &["pressure"]) },
        ),
        file(
            "one_column_with_decimal_commas",
            "pressure\n".to_string() + &(0..STEPS).map(|i| comma(sensor(i, 0)) + "\n").collect::<String>(),
            recording(STEPS, &["pressure"]),
        ),
        asks(
            "one_column_or_two",
            (0..STEPS).map(|i| comma(sensor(i, 0)) + "\n").collect::<String>(),
            &["--decimal comma", "--decimal point"],
            &[("decimal=comma", Reading { channels: None, ..recording(STEPS, &["pressure"]) })],
        ),
        file(
            "wide_by_name",
            wide(&|s| format!("ax_{s}"), &case),
            Reading { channels: Some(vec!["ax"]), ..five() }.cases(&["s0", "s1", "s2", "s3", "s4"]),
        ),
        file("wide_by_step_words", wide(&|s| format!("t{s}"), &|_| String::new()), five()),
        file(
            "wide_with_labels",
            wide(&|s| format!("V{s}"), &|r| {
                if r == usize::MAX { "label,".into() } else { format!("{},", ["a", "b"][r % 2]) }
            }),
            five(),
        ),
        file("wide_by_times", wide(&|s| format!("{:.2}", s as f64 / 100.0), &|_| String::new()), five()),
        asks(
            "numbered_columns",
            wide(&|s| format!("sensor_{s}"), &|_| String::new()),
            &["--csv-layout recording", "--csv-layout wide"],
            &[
                ("layout=wide", Reading { channels: Some(vec!["sensor"]), ..five() }),
                (
                    "layout=recording",
                    Reading {
                        lengths: vec![5],
                        count: 20,
                        channels: Some(
                            [
                                "sensor_0",
                                "sensor_1",
                                "sensor_2",
                                "sensor_3",
                                "sensor_4",
                                "sensor_5",
                                "sensor_6",
                                "sensor_7",
                                "sensor_8",
                                "sensor_9",
                                "sensor_10",
                                "sensor_11",
                                "sensor_12",
                                "sensor_13",
                                "sensor_14",
                                "sensor_15",
                                "sensor_16",
                                "sensor_17",
                                "sensor_18",
                                "sensor_19",
                            ]
                            .to_vec(),
                        ),
                        ..Reading::default()
                    },
                ),
            ],
        ),
        asks(
            "ids_without_time",
            "id,a,b\n".to_string()
                + &(0..STEPS)
                    .map(|i| format!("x{i},{},{}\n", number(sensor(i, 0)), number(sensor(i, 1))))
                    .collect::<String>(),
            &["--csv-layout wide", "--ignore id"],
            &[("ignore=id", recording(STEPS, &["a", "b"]))],
        ),
    ]
}

fn oddities() -> Vec<File> {
    let body = |extra: &dyn Fn(usize) -> String| {
        (0..STEPS)
            .map(|i| {
                format!(
                    "{},{},{},{},{}\n",
                    seconds(i),
                    number(sensor(i, 0)),
                    number(sensor(i, 1)),
                    number(sensor(i, 2)),
                    extra(i)
                )
            })
            .collect::<String>()
    };
    let head = "time,pressure,flow,vibration,";
    let only = |lengths: usize, names: &[&'static str]| Reading {
        lengths: vec![lengths],
        count: names.len(),
        channels: Some(names.to_vec()),
        step: Some("0.01"),
        ..Reading::default()
    };
    vec![
        file(
            "words",
            format!("{head}status\n") + &body(&|i| if i % 9 == 0 { "alarm" } else { "ok" }.into()),
            one().apart("0.01").noted("column `status` holds words"),
        ),
        file(
            "constant_words",
            format!("{head}site\n") + &body(&|_| "north".into()),
            one().apart("0.01").noted("`site`"),
        ),
        file(
            "constant_number",
            format!("{head}setpoint\n") + &body(&|_| "50".into()),
            only(STEPS, &["pressure", "flow", "vibration", "setpoint"]),
        ),
        file(
            "empty_column",
            format!("{head}comment\n") + &body(&|_| String::new()),
            one().apart("0.01").noted("holds no values"),
        ),
        file(
            "truths",
            format!("{head}valve\n") + &body(&|i| (i > 5).to_string()),
            only(STEPS, &["pressure", "flow", "vibration", "valve"]).noted("read as 1 and 0"),
        ),
        file(
            "marks",
            format!("{head}anomaly\n") + &body(&|i| usize::from(i > 30).to_string()),
            one().apart("0.01").noted("marks, not measurements"),
        ),
        asks(
            "label_that_changes",
            format!("{head}label\n") + &body(&|i| if i < 20 { "a" } else { "b" }.into()),
            &["line 22", "--ignore label"],
            &[("ignore=label", one().apart("0.01"))],
        ),
        told(
            file(
                "columns_chosen",
                format!("{head}extra\n") + &body(&|_| "1".into()),
                only(STEPS, &["vibration", "pressure"]),
            ),
            "columns=vibration,pressure",
        ),
        told(
            file("columns_left_out", format!("{head}extra\n") + &body(&|_| "1".into()), one().apart("0.01")),
            "ignore=extra",
        ),
        asks(
            "short_row",
            "time,pressure,flow\n0,1,2\n1,1.5,2.5\n2,1.5\n3,1,2\n",
            &["line 4", "2 cells where 3 are expected"],
            &[],
        ),
        asks(
            "cut_last_row",
            "time,pressure,flow\n0,1,2\n1,1.5,2.5\n2,1.5\n",
            &["line 4", "2 cells where 3 are expected"],
            &[],
        ),
        asks(
            "long_row",
            "time,pressure,flow\n0,1,2\n1,1.5,2.5,9\n2,1.5,3\n",
            &["line 3", "4 cells where 3 are expected"],
            &[],
        ),
        asks("mixed_separators", "time,pressure,flow\n0,1,2\n1,1.5,2.5\n2;1.5;3\n3,1,2\n", &["line 4"], &[]),
        asks("empty", "", &["the file is empty"], &[]),
        asks("only_blanks", "\r\n \r\n", &["the file is empty"], &[]),
        asks("only_a_header", "time,pressure,flow\n", &["header and no row of data"], &[]),
        asks(
            "a_word_among_numbers",
            "time,pressure,flow\n".to_string()
                + &(0..STEPS)
                    .map(|i| {
                        format!("{i},{},{}\n", if i == 20 { "OL".into() } else { number(sensor(i, 0)) }, i)
                    })
                    .collect::<String>(),
            &["line 22", "column `pressure`", "`OL` is not a number", "--ignore pressure"],
            &[(
                "ignore=pressure",
                Reading {
                    lengths: vec![STEPS],
                    count: 1,
                    channels: Some(vec!["flow"]),
                    ..Reading::default()
                },
            )],
        ),
        asks("no_numbers", "name,colour\na,red\nb,blue\n", &["no column of numbers"], &[]),
        asks("time_missing", "time,p\n0,1\n,2\n2,3\n", &["line 3", "the time is missing"], &[]),
    ]
}
