//! Files as people have them: each is read as a person would expect, or refused with the option that decides.
//!
//! `made` writes the files; what is expected of each stands beside it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod expected;
mod made;

use expected::{Expected, File};

#[test]
fn every_file_is_read_as_expected_or_refused_with_the_option_that_decides() {
    let folder = tempfile::tempdir().unwrap();
    let files = made::files();
    assert!(files.len() >= 60, "{}", files.len());
    let mut wrong = Vec::new();
    for file in &files {
        let place = folder.path().join(file.name);
        std::fs::create_dir(&place).unwrap();
        if let Err(problem) = file.check(&place) {
            wrong.push(format!("{}: {problem}", file.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn what_was_asked_for_can_be_answered() {
    let folder = tempfile::tempdir().unwrap();
    // Some are wrong, not open: no option makes them right.
    let asks = |file: &&File| matches!(file.expected, Expected::Asks(words) if words.iter().any(|word| word.contains("--")));
    for file in made::files().iter().filter(asks) {
        assert!(!file.answers.is_empty(), "{}: no answer is tried", file.name);
        for (at, answer) in file.answers.iter().enumerate() {
            let place = folder.path().join(format!("{}-{at}", file.name));
            std::fs::create_dir(&place).unwrap();
            if let Err(problem) = answer.check(file, &place) {
                panic!("{}: answer {at}: {problem}", file.name);
            }
        }
    }
}
