use std::path::Path;

use super::{Columns, CsvLayout, read};
use crate::Dataset;
use crate::data::{LabelKind, ReadLimits};

fn try_read(text: &str, layout: CsvLayout) -> crate::error::Result<Dataset> {
    read(Path::new("x.csv"), text.as_bytes(), layout, &Columns::default(), &ReadLimits::default())
}

fn with(text: &str, layout: CsvLayout) -> Dataset {
    try_read(text, layout).unwrap()
}

fn auto(text: &str) -> Dataset {
    with(text, CsvLayout::Auto)
}

fn lengths(d: &Dataset) -> Vec<usize> {
    d.series.lengths().collect()
}

#[test]
fn wide_with_channels_in_either_column_order() {
    for text in [
        "case_id,ax_0,ax_1,ay_0,ay_1,label\np,1,2,3,4,a\nq,5,,6,,b\n",
        "Class;AX_1;ay_1;AX_2;ay_2;Series\na;1;3;2;4;p\nb;5;6;;;q\n".to_lowercase().as_str(),
        "label\tax_0\tay_0\tax_1\tay_1\tID\r\na\t1\t3\t2\t4\tp\r\nb\t5\t6\r\n",
    ] {
        let d = auto(text);
        assert_eq!((d.series.channels(), lengths(&d)), (2, vec![2, 1]), "{text}");
        assert_eq!(d.series.values(), [1.0, 3.0, 2.0, 4.0, 5.0, 6.0]);
        assert_eq!(d.channel_names().unwrap(), ["ax", "ay"]);
        assert_eq!(d.labels.unwrap().values, ["a", "b"]);
    }
}

#[test]
fn wide_without_names() {
    let d = with("1,2,3,up\n4,5,,down\n7,,9,up\n", CsvLayout::Wide);
    assert_eq!((lengths(&d), d.series.channels()), (vec![3, 2, 3], 1));
    assert_eq!(d.labels.unwrap().declared, ["up", "down"]);
    assert!(d.series.series(2).step(1)[0].is_nan());
    let ragged = auto("1,2\n4,5,6\n7,8\n");
    assert_eq!((lengths(&ragged), ragged.labels), (vec![2, 3, 2], None));
    let pandas = with(",0,1,2\n0,5,6,7\n1,8,9,10\n", CsvLayout::Wide);
    assert_eq!((pandas.series.values(), pandas.case_names), (&[5.0, 6.0, 7.0, 8.0, 9.0, 10.0][..], None));
    let column = auto("4\n5\n");
    assert_eq!((lengths(&column), column.series.channels()), (vec![2], 1));
    let stated = with("a,b,c\n1,2,3\n", CsvLayout::Wide);
    assert_eq!((lengths(&stated), stated.channels), (vec![3], None));
}

#[test]
fn long_groups_and_keeps_times() {
    let d = auto("Case,TIME,ax,ay,target\nb,2,5,6,1.5\na,x,1,2,7\nb,1,3,4,1.5\na,b,?,NaN,7\n");
    assert_eq!(d.case_names.as_deref().unwrap(), ["b", "a"]);
    assert_eq!(d.times.as_ref().unwrap().to_written(), ["2", "1", "x", "b"]);
    assert_eq!(d.series.series(0).values(), [5.0, 6.0, 3.0, 4.0]);
    assert_eq!(d.channel_names().unwrap(), ["ax", "ay"]);
    let labels = d.labels.unwrap();
    assert_eq!((labels.kind, labels.values), (LabelKind::Target, vec!["1.5".to_string(), "7".into()]));
}

#[test]
fn recordings() {
    let d = auto("timestamp,ax,ay,label\n2020-01-01,1,2,q\n2020-01-02,3,4,q\n");
    assert_eq!(
        (lengths(&d), d.times.unwrap().len(), d.labels.unwrap().values),
        (vec![2], 2, vec!["q".into()])
    );
    let bare = auto("ax,ay\n1,2\n3,4\n");
    assert_eq!((bare.series.values(), bare.times), (&[1.0, 2.0, 3.0, 4.0][..], None));
    let headless = with("1,2,3\n3,4,5\n5,6,7\n", CsvLayout::Recording);
    assert_eq!((lengths(&headless), headless.channels), (vec![3], None));
    let indexed = auto(",ax,ay\n0,1,2\n1,3,4\n");
    assert_eq!((indexed.series.channels(), indexed.times), (2, None));
}

#[test]
fn channels_come_in_the_order_in_which_they_were_asked_for() {
    let columns = Columns::default().with_channels(vec!["z".into(), "2".into()]);
    let read = |text: &str| {
        read(Path::new("x.csv"), text.as_bytes(), CsvLayout::Auto, &columns, &ReadLimits::default())
    };
    let d = read("time,x,y,z\n0,1,2,3\n1,4,5,6\n").unwrap();
    assert_eq!(d.series.values(), [3.0, 1.0, 6.0, 4.0]);
    let error = read("time,x,y\n0,1,2\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "columns = z: there is no such column (time, x, y); give a name, or a number from 1 to 3"
    );
}

#[test]
fn malformed_files_are_explained() {
    use CsvLayout::{Auto, Long, Recording, Wide};
    const NOT_A_NUMBER: &str = "is not a number; write a number (with a decimal point), or leave the cell empty if the value is missing";
    let table = [
        (Auto, "", "the file is empty; give a file with at least one series"),
        (Auto, "a,b\n", "there is a header and no row of data below it; give at least one row"),
        (
            Auto,
            "a_0,a_1\n1,2,3\n",
            "line 2: 3 cells where the header in line 1 has 2 names; if these are decimal commas, they cannot be told from separators: \
             write the file with semicolons or tabs, or with quotes around numbers",
        ),
        (
            Wide,
            "1,2,a\n3,4,b\n1,b\n",
            "line 3: 2 cells where 3 are expected; give every row one cell per column",
        ),
        (
            Wide,
            "a_0,a_1\n1,2\n1,x\n",
            &format!("line 3: column `a_1`: `x` {NOT_A_NUMBER}; `--ignore a_1` leaves the column out"),
        ),
        (
            Wide,
            "a_0,a_2\n1,2\n",
            "there should be exactly one column `a_1`; number the steps of every channel from 0 to 1 without gaps",
        ),
        (
            Wide,
            "a_1,a_2,b_1\n1,2,3\n",
            "there should be exactly one column `b_2`; number the steps of every channel from 1 to 2 without gaps",
        ),
        (
            Wide,
            "label,a_0\nx,1\ny,\n",
            "line 3: the series has no values; give at least one, or drop the row",
        ),
        (Auto, "label\nx\n", "there is no column of numbers; give at least one"),
        (
            Wide,
            "time,a\n1,2\n",
            "the wide layout has one row per series and no place for the time column `time`; state another layout, or leave the column \
             out with `--ignore time`",
        ),
        (
            Long,
            "run,a\n1,2.5\n1,3.5\n",
            "the long layout needs a column that names the series; state it with `--case COLUMN`, or name it `case_id` in a header",
        ),
        (
            Auto,
            "case,time,a\n1,2\n1,3,4\n1,4,4\n",
            "line 2: 2 cells where 3 are expected; give every row one cell per column",
        ),
        (
            Auto,
            "case,time,a,label\np,0,1,x\np,1,1,y\n",
            "line 3: `p` has the label `y` here and `x` in line 2; give all rows of a series the same label, or leave the column out with \
             `--ignore label`",
        ),
        (
            Recording,
            "case,a\n1,2\n",
            "a recording is one series and has no case column, but there is `case`; state `--csv-layout long`, or leave the column out \
             with `--ignore case`",
        ),
    ];
    for (layout, text, expected) in table {
        let error = try_read(text, layout).unwrap_err();
        assert_eq!(error.to_string(), format!("x.csv: {expected}"), "{text}");
    }
}
