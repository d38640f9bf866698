//! Bad input: one sentence, exit code 2, no file left behind.

use super::support::{Folder, waves, wide};

/// `fit` on this content fails with these words and leaves only the data.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, options: &str, words: &str) {
    let folder = Folder::new();
    folder.file(name, content);
    folder.line(&format!("fit {name} -o m {options}")).fails(words);
    assert_eq!(folder.names(), [name]);
    if options.is_empty() {
        folder.line(&format!("gram {name} -o g.npy --prepare standard")).code.unwrap();
        assert!(folder.names().iter().all(|n| !n.starts_with(".varnorm")));
    }
}

#[test]
fn files_that_are_not_data() {
    for name in ["x.csv", "x.ts", "x.arff"] {
        refused(name, "", "", "the file is empty; give a file with at least one series");
    }
    refused("x.npy", "", "", "x.npy: ");
    refused("x.npz", "", "", "x.npz: ");
    refused("x.npz", "PK\u{3}\u{4}junk", "", "x.npz: ");
    refused("x.xlsx", "a", "", "files named .xlsx are not known; use one of .ts");
    refused("data", "a", "", "the file's name has no extension to tell its format");
    refused("x.csv", "case_id,time,x\na,0,one\n", "", "x.csv: there is no column of values");
    let folder = Folder::new();
    folder.line("fit missing.csv -o m").fails("cannot read missing.csv: No such file or directory");
    folder.line("fit . -o m").fails("the folder holds no file of a known format");
    assert!(folder.names().is_empty());
}

#[test]
fn series_that_cannot_be_used() {
    let mut ragged = waves(6, 10);
    ragged[4].truncate(7);
    refused(
        "x.csv",
        wide(&ragged),
        "--kernel flat_rbf",
        "needs series of equal length, but series 4 has 7 steps where 10 are expected",
    );
    let mut holes = waves(6, 10);
    holes[5][3] = f64::NAN;
    refused("x.csv", wide(&holes), "", "series 5, step 3, channel 0: the value is missing (NaN)");
    holes[5][3] = f64::INFINITY;
    refused("x.csv", wide(&holes), "", "series 5, step 3, channel 0: the value inf is not finite");
    refused("x.csv", wide(&waves(1, 10)), "", "fitting a detector needs at least 2 series and got 1");
    let folds = "cross-fitting with 5 folds needs at least 5 series and got 3";
    refused("x.csv", wide(&waves(3, 10)), "--calibration cross_fit", folds);
}

#[test]
fn series_are_numbered_and_named_as_in_the_file() {
    let folder = Folder::new();
    let cases = ["p,0,1,no", "q,0,2,yes", "r,0,3,yes", "s,0,,yes", "t,0,5,yes", "u,0,6,yes"];
    folder.file("x.csv", format!("case_id,time,x,label\n{}\n", cases.join("\n")));
    folder.line("fit x.csv --normal yes -o m").fails("series 3, step 0, channel 0: the value is missing");
    let ran = folder.line("fit x.csv --normal yes -o m --calibration none");
    assert!(ran.err.contains("(series 3 is named s"), "{}", ran.err);
    folder
        .line("fit x.csv --normal maybe -o m")
        .fails("label = maybe: no series has it; labels here are: no, yes");
}

#[test]
fn interpolation_repairs_what_is_missing() {
    let folder = Folder::new();
    let mut holes = waves(6, 10);
    holes[5][3] = f64::NAN;
    folder.file("x.csv", wide(&holes));
    folder.line("fit x.csv -o m --prepare interpolate,standard").code(0);
    folder.line("score m x.csv").code(0);
}

#[test]
fn equal_series_are_fitted_with_a_warning_that_says_what_scores_mean() {
    let folder = Folder::new();
    folder.file("x.csv", wide(&vec![vec![3.0; 10]; 8]));
    for (norm, meaning) in [
        ("envelope", "a score is the plain distance in feature space over sqrt(alpha)"),
        ("tikhonov", "every score is 0"),
        ("exact", "a score is 0 for the same series and infinite for any other"),
    ] {
        let ran = folder.run(["fit", "x.csv", "-o", "m", "--norm", norm]).code(0);
        let warning = format!(
            "warning: the corpus is degenerate: all its series are equal under this kernel (rank 0), so \
             {meaning}"
        );
        assert!(ran.err.contains(&warning), "{}", ran.err);
        let scored = folder.line("score m x.csv --format csv").code(0);
        assert!(scored.rows()[1..].iter().all(|row| row[1] == "0.0"), "{}", scored.out);
        assert!(scored.err.contains(&warning));
        folder.line("inspect m").code(0);
    }
    let mut other = vec![vec![3.0; 10]; 2];
    other[1][0] = 4.0;
    folder.file("y.csv", wide(&other));
    let json = folder.line("score m y.csv --format json").code(0).json();
    assert_eq!(json["findings"][1]["score"], "inf");
    assert!(folder.line("score m y.csv").code(0).out.contains("inf"));
}

#[test]
fn parameters_outside_their_domain() {
    let wave = wide(&waves(6, 10));
    for (options, words) in [
        ("--kernel cosine", "kernel = cosine: is not a kernel; choose one of flat_linear"),
        ("--kernel flat_rbf:sigma=0", "sigma = 0: must be a positive number or auto"),
        ("--kernel flat_rbf:sigma=-1", "sigma = -1: must be a positive number or auto"),
        ("--kernel flat_rbf:gamma=1", "gamma = 1: flat_rbf has no such parameter; it has: sigma"),
        ("--kernel flat_poly:c=-1", "c = -1: must be zero, a positive number or auto"),
        ("--prepare wavelet", "`wavelet` is not a preparation step"),
        ("--alpha 0", "alpha = 0: must be positive for the envelope norm"),
        ("--alpha -1", "alpha = -1"),
        ("--alpha nan", "alpha = NaN"),
        ("--level 0", "level = 0: must be a false-alarm rate between 0 and 1"),
        ("--level 1", "level = 1: must be"),
        ("--level -0.1", "level = -0.1: must be"),
        ("--neighbour 0", "neighbour = 0: must be from 1"),
        (
            "--neighbour 9 --calibration none",
            "neighbour = 9: must be from 1 to the number of corpus series, 6",
        ),
        ("--max-rank 0", "max_rank = 0: must be at least 1"),
        ("--eigenvalue-threshold -1", "eigenvalue_threshold = -1"),
        ("--calibration magic", "calibration = magic"),
        ("--calibration split:holdout=2", "holdout = 2"),
        ("--settings missing.json", "cannot read missing.json"),
        ("--normal a", "label = a: x has no labels"),
    ] {
        refused("x.csv", &wave, options, words);
    }
}

#[test]
fn settings_files_that_are_none() {
    let folder = Folder::new();
    for text in
        ["", "{", "[]", r#"{"alhpa": 1}"#, r#"{"kernel": {"kernel": "cosine"}}"#, r#"{"level": "high"}"#]
    {
        folder.file("s.json", text);
        folder.line("fit --print-settings --settings s.json").fails("s.json: not varnorm settings: ");
    }
    folder.file("s.json", r#"{"level": 3}"#);
    folder.line("fit --print-settings --settings s.json").fails("level = 3");
}

#[test]
fn data_that_do_not_fit_the_model() {
    let folder = Folder::with_model();
    folder.file("one.csv", wide(&waves(3, 100)));
    folder.line("score walking.model one.csv").fails("the series have 1 channels where 6 are expected");
    folder.line("score walking.model missing.ts").fails("cannot read missing.ts");
    folder.line("score missing.model test.ts").fails("cannot read missing.model");
    folder.line("score test.ts test.ts").fails("test.ts: not a usable varnorm model");
    for level in ["0", "1", "-0.5", "nan", "inf"] {
        folder.run(["score", "walking.model", "test.ts", "--level", level]).fails("level = ");
    }
    folder.file("a.csv", wide(&waves(6, 10)));
    folder.file("b.csv", wide(&waves(6, 9)));
    folder.line("fit a.csv -o a.model --kernel flat_rbf").code(0);
    folder.line("score a.model b.csv -o out.csv").fails("series 0 has 9 steps where 10 are expected");
    folder.line("gram a.csv b.csv -o g.npy").fails("a.csv: ");
    folder
        .line("gram a.csv test.ts -o g.npy")
        .fails("a.csv: the series have 1 channels where 6 are expected");
    assert!(!folder.path("out.csv").exists() && !folder.path("g.npy").exists());
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::with_model();
    let before = folder.names();
    for line in [
        "fit train.ts -o no/m",
        "score walking.model test.ts -o no/f.csv",
        "gram train.ts -o no/g.npy",
        "convert train.ts no/t.npz",
    ] {
        folder.line(line).fails("cannot write no/");
    }
    folder.line("fit train.ts -o .").fails("cannot write .");
    if std::path::Path::new("/dev/full").exists() {
        for line in [
            "fit train.ts -o /dev/full",
            "score walking.model test.ts -o /dev/full",
            "gram train.ts -o /dev/full",
        ] {
            folder.line(line).fails("cannot write /dev/full: No space left on device");
        }
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn one_option_decides_about_gaps_at_fitting_or_at_scoring() {
    let folder = Folder::new();
    let (whole, mut holes) = (waves(12, 20), waves(12, 20));
    holes[5][3] = f64::NAN;
    holes[7][0] = f64::NAN;
    folder.file("whole.csv", wide(&whole));
    folder.file("holes.csv", wide(&holes));
    // Decided at fitting, the model remembers it.
    folder.line("fit holes.csv -o m").fails("the value is missing (NaN); fill it in, or say how");
    folder.line("fit holes.csv -o m --gaps interpolate").code(0);
    let remembered = folder.line("score m holes.csv --format csv").code(0);
    // Decided at scoring, where the model was fitted on whole series.
    folder.line("fit whole.csv -o n").code(0);
    folder.line("score n holes.csv").fails("gaps interpolate");
    let ran = folder.line("score n holes.csv --gaps interpolate --format csv").code(0);
    assert!(ran.err.contains("2 missing values were filled in by interpolation"), "{}", ran.err);
    assert_eq!(remembered.out.lines().count(), ran.out.lines().count());
    // Given views keep it in their preparation.
    let ran = folder.line("fit holes.csv -o k --kernel flat_rbf --gaps interpolate").code(0);
    assert!(ran.err.contains("prepared by interpolate,"), "{}", ran.err);
}
