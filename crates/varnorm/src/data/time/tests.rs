use super::*;
use crate::data::{Dataset, SeriesSet};

fn written(texts: &[&str]) -> Times {
    Times::from_written(texts.iter().map(|t| t.to_string()).collect())
}

fn recording(texts: &[&str]) -> Dataset {
    let values = (0..texts.len()).map(|i| i as f64).collect();
    let series = SeriesSet::from_equal(values, texts.len(), 1).unwrap();
    Dataset { times: Some(written(texts)), ..Dataset::new("pump", series) }
}

/// Nanoseconds of the first stamp in seconds.
fn first_second(texts: &[&str]) -> Option<i64> {
    written(texts).as_stamps().map(|all| all[0] / 1_000_000_000)
}

#[test]
fn times_are_written_as_they_were_read() {
    for texts in [
        &["0", "1", "2"][..],
        &["0.00", "0.01", "0.02"],
        &["0", "0.5", "1"],
        &["1e3", "2e3"],
        &["2024-03-01T12:00:00Z", "2024-03-01T12:00:01Z"],
        &["2024-03-01 12:00:00.100", "2024-03-01 12:00:00.200"],
        &["2024-03-01 12:00:00,100", "2024-03-01 12:00:00,200"],
        &["2024-03-01T12:00:00+01:00", "2024-03-01T12:00:01+01:00"],
        &["2024-03-31T01:59:59+01:00", "2024-03-31T03:00:00+02:00"],
        &["01.03.2024 12:00", "01.03.2024 12:01"],
        &["13/03/2024 1:00 PM", "13/03/2024 1:01 PM"],
        &["12:00:00", "12:00:01"],
        &["monday", "tuesday"],
        &[" 1 ", "2"],
    ] {
        assert_eq!(written(texts).to_written(), texts);
    }
}

#[test]
fn stamps_are_instants() {
    let noon = 1_709_294_400;
    for text in [
        "2024-03-01T12:00:00Z",
        "2024-03-01T13:00:00+01:00",
        "2024-03-01 12:00",
        "01.03.2024 12:00:00",
        "2024/03/01 12:00:00.000",
        "01-Mar-2024 12:00:00",
        "20240301T120000Z",
        "2024-03-01 12:00:00 UTC",
    ] {
        assert_eq!(first_second(&[text]), Some(noon), "{text}");
    }
    assert_eq!(first_second(&["13/03/2024 12:00"]), Some(noon + 12 * 86400));
    assert_eq!(first_second(&["03/13/2024 12:00 PM"]), Some(noon + 12 * 86400));
    // A day above 12 further on decides.
    assert_eq!(first_second(&["01/03/2024 12:00", "13/03/2024 12:00"]), Some(noon));
    for text in ["pump", "12", "99:00:00", "2024-13-01", "", "NaN"] {
        assert_eq!(first_second(&[text]), None, "{text}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_told() {
    let StampReading::Ambiguous(a, b) = StampFormat::of(["03/04/2024 12:00"].into_iter()) else { panic!() };
    assert_eq!((a.pattern(), b.pattern()), ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"));
    assert!(written(&["03/04/2024 12:00"]).are_texts());
    let stated = StampFormat::new("%m/%d/%Y %H:%M").unwrap();
    let times = Times::stamps_as_written(vec!["03/04/2024 12:00".into()], stated).unwrap();
    assert_eq!(times.as_stamps().unwrap()[0] / 1_000_000_000, 1_709_553_600);
    assert!(StampFormat::new("%Q %q").is_err() && StampFormat::new("hello").is_err());
}

#[test]
fn clocks_go_on_after_midnight() {
    let stamps = written(&["23:59:58", "23:59:59", "00:00:00", "00:00:01"]);
    let all = stamps.as_stamps().unwrap();
    assert!(all.windows(2).all(|w| w[1] - w[0] == 1_000_000_000));
    assert_eq!(stamps.to_written()[2], "00:00:00");
}

#[test]
fn steps_have_units() {
    let step = |texts: &[&str]| recording(texts).sampling_step().unwrap();
    assert_eq!(step(&["12:00:00.00", "12:00:00.01", "12:00:00.02"]).to_string(), "10 ms");
    assert_eq!(step(&["2024-03-01", "2024-03-02", "2024-03-03"]).to_string(), "1 d");
    assert_eq!(step(&["0", "0.5", "1", "1.5"]), SamplingStep::new(0.5, None));
    assert!(!step(&["0", "1", "3", "7", "8"]).regular);
    let (a, b) = (SamplingStep::from_words("10ms").unwrap(), SamplingStep::from_words("0.0105 s").unwrap());
    assert!(a.agrees(&b, 0.1) && !a.agrees(&b, 0.01));
    assert_eq!(SamplingStep::from_words("90 sec").unwrap().to_string(), "90 s");
    assert_eq!(SamplingStep::from_words("1.5").unwrap(), SamplingStep::new(1.5, None));
    for wrong in ["", "ms", "-1s", "0s", "1 parsec", "nan s"] {
        assert!(SamplingStep::from_words(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn steps_out_of_order_are_sorted_with_a_note() {
    let settled = recording(&["2", "0", "1"]).settle_times(Gaps::Refuse, Gaps::LIMIT).unwrap();
    assert_eq!(settled.series.values(), [1.0, 2.0, 0.0]);
    assert_eq!(settled.times.unwrap().to_written(), ["0", "1", "2"]);
    assert_eq!(settled.notes, ["the steps of 1 series were not in the order of their times and were sorted"]);
}

#[test]
fn duplicates_and_short_gaps_are_told() {
    let times = ["0", "1", "1", "2", "3", "4", "5", "8", "9", "10", "11", "12", "13", "14"];
    let settled = recording(&times).settle_times(Gaps::Refuse, Gaps::LIMIT).unwrap();
    assert_eq!(
        settled.notes,
        [
            "1 step has the time of the step before; the first is series 0, step 2, at `1`",
            "the times have 1 gap of more than 1.5 sampling steps, the longest of 3; the steps around them were \
             taken as neighbours"
        ]
    );
}

#[test]
fn long_gaps_are_refused_split_or_kept_with_a_note() {
    let times = ["12:00:00", "12:00:01", "12:00:02", "12:05:02", "12:05:03"];
    let refused = recording(&times).settle_times(Gaps::Refuse, Gaps::LIMIT).unwrap_err().to_string();
    let expected = "times = pump: after series 0, step 2, at `12:00:02` nothing is recorded for 5 min, 300 times \
                    the sampling step of 1 s; gaps of more than 10 steps are not bridged: state `--time-gaps split` to \
                    make a series of each side, or `--time-gaps keep` to take the steps as neighbours";
    assert_eq!(refused, expected);
    let split = recording(&times).settle_times(Gaps::Split, Gaps::LIMIT).unwrap();
    assert_eq!(split.series.lengths().collect::<Vec<_>>(), [3, 2]);
    assert_eq!(split.case_names.as_deref().unwrap(), ["pump/part0", "pump/part1"]);
    assert_eq!(split.notes[0], "1 series had long gaps in their times and became 2");
    assert_eq!(split.times_of(1).unwrap().to_written(), ["12:05:02", "12:05:03"]);
    let kept = recording(&times).settle_times(Gaps::Keep, Gaps::LIMIT).unwrap();
    assert_eq!(kept.series.len(), 1);
    assert!(kept.notes[0].contains("1 gap of more than 1.5 sampling steps, the longest of 300"));
}
