//! The examples run, and say what they are there to say. As modules, they are not linked once more.

#[path = "../../examples/explain.rs"]
mod explain;
#[path = "../../examples/own_vectors.rs"]
mod own_vectors;
#[path = "../../examples/save_and_load.rs"]
mod save_and_load;
#[path = "../../examples/service.rs"]
mod service;

use varnorm::detector::Replaced;
use varnorm::{Error, Run};

#[test]
fn own_vectors_that_do_not_go_together_are_flagged() {
    own_vectors::main().unwrap();
    let found = own_vectors::findings().unwrap();
    assert_eq!(
        found.findings.iter().map(|f| f.novel.unwrap()).collect::<Vec<_>>(),
        [false, true],
        "{found:?}"
    );
}

#[test]
fn a_loaded_detector_scores_as_before() {
    save_and_load::main().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (model, run) = (folder.path().join("model"), Run::sequential());
    let before = save_and_load::train(&model, &run).unwrap();
    assert_eq!(before, save_and_load::watch(&model, &run).unwrap());
    // Ten of forty walk.
    assert!((20..=35).contains(&before.flagged()), "{}", before.flagged());
}

#[test]
fn an_explanation_finds_the_stuck_channel() {
    explain::main().unwrap();
    let found = explain::explanation().unwrap();
    let most = |parts: &[Replaced]| {
        (0..parts.len()).max_by(|a, b| parts[*a].adds.total_cmp(&parts[*b].adds)).unwrap()
    };
    assert_eq!((most(&found.channels), most(&found.segments)), (3, 2), "{found:?}");
}

#[test]
fn a_service_answers_and_cancels() {
    service::main().unwrap();
    let [scored, cancelled] = service::answers().unwrap();
    let scored = scored.unwrap();
    // Ten of forty stand.
    assert!(scored.len() == 40 && (20..=35).contains(&scored.flagged()), "{}", scored.flagged());
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
}
