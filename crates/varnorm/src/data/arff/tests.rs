use std::path::Path;

use super::read;
use crate::data::LabelKind;
use crate::data::ReadLimits;

fn ok(text: &str) -> crate::Dataset {
    read(Path::new("x.arff"), text.as_bytes(), &ReadLimits::default()).unwrap()
}

#[test]
fn multivariate_with_both_quotes_and_padding() {
    let d = ok("% c\n@RELATION 'my set'\n@attribute \"the bag\" RELATIONAL\n@attribute a0 numeric\n\
                @Attribute a1 numeric\n@end \"the bag\"\n@attribute class {a,'c d',\"it\\'s\"}\n@Data\n\
                '1,2,?\\n3,?,?','c d'\n\"4,5,6\\n7,8,9\" , \"it's\"\n");
    assert_eq!(d.name, "my set");
    assert_eq!(d.series.channels(), 2);
    assert_eq!(d.series.lengths().collect::<Vec<_>>(), [2, 3]);
    assert_eq!(d.series.series(1).values(), [4.0, 7.0, 5.0, 8.0, 6.0, 9.0]);
    assert!(d.series.series(0).step(1)[1].is_nan());
    let labels = d.labels.unwrap();
    assert_eq!((labels.values, labels.declared.len()), (vec!["c d".to_string(), "it's".into()], 3));
}

#[test]
fn univariate_with_class_target_or_nothing() {
    let with = |last: &str, cell: &str| {
        ok(&format!(
            "@relation r\n@attribute t0 real\n@attribute t1 INTEGER\n@attribute {last}\n@data\n1,2,{cell}\n"
        ))
    };
    let class = with("target {1,2}", "2").labels.unwrap();
    assert_eq!((class.kind, class.values), (LabelKind::Class, vec!["2".to_string()]));
    let target = with("target numeric", "2.50").labels.unwrap();
    assert_eq!((target.kind, target.values), (LabelKind::Target, vec!["2.50".to_string()]));
    let none = with("t2 numeric", "3");
    assert_eq!((none.labels, none.series.values()), (None, &[1.0, 2.0, 3.0][..]));
    let text = with("class string", "'a b'").labels.unwrap();
    assert_eq!(text.values, ["a b"]);
    let note = with("target {1,2}", "3").notes;
    assert_eq!(note, ["labels that the header does not declare: 3"]);
}

#[test]
fn malformed_files_are_explained() {
    let multi = |rest: &str| {
        format!(
            "@relation r\n@attribute b relational\n@attribute a0 numeric\n@end b\n@attribute c \
             {{x,y}}\n@data\n{rest}"
        )
    };
    let shape = "the header must declare one relational attribute (multivariate) or one numeric attribute \
                 per step \
                 (univariate)";
    let table = [
        ("\n\n".into(), "the file is empty; give a file with at least one series"),
        (
            "@relation r\n".into(),
            "there is no `@data` line; put `@data` on a line of its own above the first series",
        ),
        (multi(""), "no series follow the `@data` line; give at least one line of values"),
        ("@relation r\n@data\n1".into(), shape),
        ("@relation r\n@attribute c {a}\n@data\na".into(), shape),
        (
            "1,2,3".into(),
            "line 1: `1,2,3` is none of `@relation`, `@attribute`, `@end` and `@data`; put the data below \
             `@data`",
        ),
        (
            "@attribute when date".into(),
            "line 1: the attribute `when` has the type `date`; use numeric, relational, string or \
             {name,name,...}",
        ),
        (
            "@attribute a numeric\n@attribute b {x}\n@attribute c {x}\n@data\n1,x,x".into(),
            "line 3: the attributes `b` and `c` are both labels; keep one of them",
        ),
        (multi("'1,2,x"), "line 7: the quote ' is never closed; close it on the same line"),
        (multi("'1,2'x,y"), "line 7: something follows a closing quote; put a comma between cells"),
        (multi("{1 2}"), "line 7: sparse lines, `{...}`, are not supported; write every value"),
        (
            multi("1,2,x"),
            "line 7: 3 cells where the header declares 2 attributes; give one cell per attribute and put the \
             channels of a series into one quoted cell",
        ),
        (
            multi("'1,b',x"),
            "line 7: channel 0, step 1: `b` is not a number; write a number, or `?` for a missing value",
        ),
        (
            multi("'1,2\\n3',x"),
            "line 7: channel 0 has 2 values and channel 1 has 1; give the channels of one series equal \
             lengths, \
             with `?` for missing values",
        ),
        (
            multi("'1\\n2',x\n'1',x"),
            "line 8: 1 channel where the lines above have 2; give every series the same channels",
        ),
        (
            multi("'?,?',x"),
            "line 7: all values of the series are missing; give at least one, or drop the line",
        ),
        (
            "@attribute a numeric\n@attribute target numeric\n@data\n1,x".into(),
            "line 4: the target `x` is not a number; write a number",
        ),
    ];
    for (text, expected) in table {
        let error = read(Path::new("x.arff"), text.as_bytes(), &ReadLimits::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("x.arff: {expected}"), "{text}");
    }
}
