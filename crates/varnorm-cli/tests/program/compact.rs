//! Corpora that are read in parts, models that merge, and memory that is kept to.

use varnorm::data::{WriteOptions, basic_motions, write};

use super::support::Folder;

/// A folder `parts` with the series of BasicMotions in four files of ten.
fn in_parts() -> Folder {
    let folder = Folder::with_motions();
    std::fs::create_dir(folder.path("parts")).unwrap();
    let train = basic_motions().unwrap().train;
    for part in 0..4 {
        let some = train.select(&(10 * part..10 * part + 10).collect::<Vec<_>>());
        write(&some, &folder.path(&format!("parts/{part}.ts")), &WriteOptions::default()).unwrap();
    }
    folder
}

fn scores(folder: &Folder, model: &str) -> Vec<f64> {
    let out = folder.line(&format!("score {model} test.ts --format csv -q")).code(0).out;
    let column = out.lines().next().unwrap().split(',').position(|name| name == "score").unwrap();
    out.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect()
}

fn assert_close(folder: &Folder, a: &str, b: &str) {
    for (a, b) in scores(folder, a).iter().zip(scores(folder, b)) {
        assert!((a - b).abs() <= 1e-10 * b, "{a} {b}");
    }
}

#[test]
fn parts_fitted_alike_merge_into_the_whole() {
    let folder = in_parts();
    for space in ["--kernel flat_linear --space features --prepare none", "--kernel gak --landmarks 6"] {
        folder.line(&format!("fit parts/0.ts -o first.model {space}")).code(0);
        for part in 1..4 {
            folder.line(&format!("fit parts/{part}.ts -o {part}.model --like first.model")).code(0);
        }
        let ran = folder.line("merge first.model 1.model 2.model 3.model -o merged.model").code(0);
        assert!(ran.err.contains("merged 4 models of 40 series in all"), "{}", ran.err);
        folder.line("fit parts -o whole.model --like first.model").code(0);
        assert_close(&folder, "merged.model", "whole.model");
    }
    let other = folder.line("fit parts/1.ts -o other.model --kernel gak --landmarks 6").code(0);
    assert!(other.err.contains("6 landmarks miss"), "{}", other.err);
    folder
        .line("merge first.model other.model -o no.model")
        .fails("fit the parts like one of them (--like MODEL");
    folder.line("fit train.ts -o gram.model --normal Walking").code(0);
    folder.line("fit train.ts -o no.model --like gram.model").fails("it is a model of all pairs");
    assert!(!folder.names().contains(&"no.model".into()));
}

#[test]
fn a_corpus_is_read_in_parts_that_fit_the_memory() {
    let folder = in_parts();
    let fit = |name: &str, memory: &str| {
        let kernel = "--kernel sig_random:features=8,variance=0.1 --space features --prepare none";
        folder.line(&format!("fit parts -o {name} {kernel} --distance mahalanobis {memory}"))
    };
    let whole = fit("whole.model", "").code(0);
    assert!(!whole.err.contains("read in"), "{}", whole.err);
    // A part may take a fifth of it, and a file has 48 kB of values: two parts of two files.
    let ran = fit("in_parts.model", "--memory 420k").code(0);
    for words in ["from the first part: 20 series", "read in 2 parts", "fitted on 40 series"] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    assert_close(&folder, "in_parts.model", "whole.model");
    fit("no.model", "--memory 50k").fails("would need about");
    folder
        .line("fit parts -o no.model --kernel gak --landmarks 4 --memory 200k")
        .fails("--distance mahalanobis would need");
}

#[test]
fn all_pairs_that_do_not_fit_say_what_would() {
    let folder = Folder::with_motions();
    let ran = folder.line("fit train.ts -o no.model --memory 300k").fails("memory = 300 kB");
    for words in ["fitting 40 series in the space gram would need about", "--landmarks", "would need"] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let ran =
        folder.line("fit train.ts -o no.model --memory 300k --kernel flat_linear").fails("--space features");
    assert!(!folder.names().contains(&"no.model".into()), "{}", ran.err);
    folder.line("fit train.ts -o no.model --memory much").fails("write a size such as 4G");
}

#[test]
fn a_dry_run_estimates_and_writes_nothing() {
    let folder = Folder::with_motions();
    for space in ["", "--landmarks 8", "--kernel flat_linear --space features"] {
        let ran = folder.line(&format!("fit train.ts --dry-run {space}")).code(0);
        for words in ["series         40", "kernel values", "time           about", "memory         about"] {
            assert!(ran.out.contains(words), "{}", ran.out);
        }
    }
    assert_eq!(folder.names(), ["test.ts", "train.ts"]);
}

#[test]
fn a_compact_model_is_inspected_explained_and_reported() {
    let folder = Folder::with_motions();
    folder.line("fit train.ts --normal Walking -o w.model --kernel gak --landmarks 4").code(0);
    let shown = folder.line("inspect w.model").code(0).out;
    assert!(shown.contains("landmarks:count=4,choice=pivoted,seed=0: 4 landmarks, which miss"), "{shown}");
    let json = folder.line("inspect w.model --format json").code(0).out;
    assert!(json.contains("\"trace_error\":"), "{json}");
    folder.line("explain w.model test.ts --series 3").code(0);
    folder.line("report w.model test.ts -o r.html").code(0);
    assert!(folder.names().contains(&"r.html".into()));
}
