use std::path::Path;

use super::read;
use crate::data::LabelKind;
use crate::data::ReadLimits;

const HEAD: &str = "@problemName Demo\n@classLabel true a b\n@data\n";

fn ok(text: &str) -> crate::Dataset {
    read(Path::new("x.ts"), text.as_bytes(), &ReadLimits::default()).unwrap()
}

#[test]
fn keys_in_any_case_and_order_comments_blank_lines_and_line_ends() {
    let d = ok(
        "\u{feff}# c\r\n@CLASSLABEL True B a\r\n\r\n@MISSING true\r\n% c\r\n@problemname My set\r\n@DATA\r\n\
                1,?,NaN: 4,,inf :a\r\n# c\r\n\r\n7:-Infinity:B:\r\n",
    );
    assert_eq!(d.name, "My set");
    assert_eq!(d.series.lengths().collect::<Vec<_>>(), [3, 1]);
    let values: Vec<String> = d.series.values().iter().map(|v| format!("{v:?}")).collect();
    assert_eq!(values, ["1.0", "4.0", "NaN", "NaN", "NaN", "inf", "7.0", "-inf"]);
    let labels = d.labels.unwrap();
    assert_eq!(
        (labels.values, labels.declared),
        (vec!["a".into(), "B".into()], vec!["B".into(), "a".into()])
    );
    assert!(d.notes.is_empty(), "{:?}", d.notes);
}

#[test]
fn headers_that_lie_are_noted() {
    let d = ok("@timeStamps true\n@missing false\n@univariate true\n@dimension 3\n@equalLength true\n\
                @seriesLength 9\n@colour red\n@classLabel true a\n@data\n1,2:?,4:a\n1:2:b\n");
    assert_eq!(
        d.notes,
        [
            "unknown header key `@colour` ignored",
            "labels that the header does not declare: b",
            "the header says `@timeStamps true`, but the series have no timestamps; the data decide",
            "the header says `@missing false`, but the series have missing values; the data decide",
            "the header says `@univariate true`, but the series have 2 channels; the data decide",
            "the header says `@equalLength true`, but the series have 1 to 2 steps; the data decide",
            "the header says `@dimensions 3`, but the series have 2 channels; the data decide",
            "the header says `@seriesLength 9`, but the series have 1 to 2 steps; the data decide",
        ]
    );
    assert_eq!(d.labels.unwrap().declared, ["a", "b"]);
}

#[test]
fn timestamps_are_kept_and_joined() {
    let d = ok("@timeStamps true\n@targetLabel true\n@data\n\
                (2007-01-01 00:00:00,1),(2007-01-02 00:00:00,2):(2007-01-01 00:00:00,3),(2007-01-02 \
                00:00:00,?):1.50\n\
                (10,1),(9,2):(9.0,4),(11,5):2\n\
                ?:(1,6):3\n");
    let labels = d.labels.unwrap();
    assert_eq!(
        (labels.kind, labels.values),
        (LabelKind::Target, vec!["1.50".to_string(), "2".into(), "3".into()])
    );
    let times = d.times.unwrap().to_written();
    assert_eq!(times, ["2007-01-01 00:00:00", "2007-01-02 00:00:00", "9", "10", "11", "1"]);
    let values: Vec<String> = d.series.values().iter().map(|v| format!("{v:?}")).collect();
    assert_eq!(values, ["1.0", "3.0", "2.0", "NaN", "2.0", "4.0", "1.0", "NaN", "NaN", "5.0", "NaN", "6.0"]);
}

#[test]
fn malformed_files_are_explained() {
    let head = |rest: &str| format!("{HEAD}{rest}");
    let bare = |rest: &str| format!("@data\n{rest}");
    let table = [
        (String::new(), "the file is empty; give a file with at least one series"),
        (
            "@missing false\n".into(),
            "there is no `@data` line; put `@data` on a line of its own above the first series",
        ),
        (
            "1,2,3\n".into(),
            "line 1: `1,2,3` stands before the `@data` line; put `@data` on a line of its own above the \
             first series",
        ),
        (head(""), "no series follow the `@data` line; give at least one line of values"),
        (head("@missing true"), "line 4: `@missing true` stands below `@data`; move it above"),
        (
            head("1,x:2,3:a"),
            "line 4: channel 0, step 1: `x` is not a number; write a number, or `?` for a missing value",
        ),
        (
            head("1,2:2,3:a\n1,2:2,3:2,3:a"),
            "line 5: 3 channels before the label where the lines above have 2; separate channels by `:` \
             and give \
             every series the same channels",
        ),
        (
            head("1,2:2:a"),
            "line 4: channel 0 has 2 values and channel 1 has 1; give the channels of one series equal \
             lengths, \
             with `?` for missing values",
        ),
        (
            head("1,2:"),
            "line 4: the line has no label, or no values before it; write \
                        `value,value,...:label`",
        ),
        (head("1,2: :"), "line 4: the label is empty; write it after the last `:`"),
        (
            bare("1,2:walk"),
            "line 2: channel 1, step 0: `walk` is not a number; if it is a label, state `@classLabel true` \
             and the \
             class names in the header",
        ),
        (
            "@classLabel yes a b\n@data\n1:a".into(),
            "line 1: `@classLabel` is followed by `yes`; write `true` or `false` first, then the class names",
        ),
        (
            "@classLabel true a b\n@targetLabel true\n@data\n1:a".into(),
            "line 2: `@classLabel` and `@targetLabel` are both true; keep one of them",
        ),
        (
            "@targetLabel true\n@data\n1:a".into(),
            "line 3: the target `a` is not a number; write a number, or state `@classLabel` instead of \
             `@targetLabel`",
        ),
        (bare("(0,1"), "line 2: channel 0, step 0: `(0,1` has no closing `)`; write `(time,value)`"),
        (bare("(0,1),2"), "line 2: channel 0, step 1: `2` does not start with `(`; write `(time,value)`"),
        (bare("(01)"), "line 2: channel 0, step 0: `(01)` has no comma; write `(time,value)`"),
        (
            bare("(0,1,2)"),
            "line 2: channel 0, step 0: `(0,1,2)` does not hold one time and one value; write `(time,value)`",
        ),
        (
            bare("(0,1),(0,2):(1,2)"),
            "line 2: channel 0 has the time `0` twice; give each time once, or all channels the same times",
        ),
        (
            bare("(0,1)\n1"),
            "line 3: some lines have timestamps, `(time,value)`, and some have none; write all in one way",
        ),
    ];
    for (text, expected) in table {
        let error = read(Path::new("x.ts"), text.as_bytes(), &ReadLimits::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("x.ts: {expected}"), "{text}");
    }
}
