//! The bodies of the fuzz targets, run over good files and files with a changed byte: they compile, and find nothing.

#[path = "../../../../fuzz/bodies.rs"]
mod bodies;

use super::support::{Folder, bytes};

/// The bytes, cut at several places, and with a byte changed at many.
fn damaged(good: &[u8], mut look: impl FnMut(&[u8])) {
    look(good);
    (0..20).for_each(|part| look(&good[..good.len() * part / 20]));
    let step = (good.len() / 150).max(1);
    for at in (0..good.len()).step_by(step) {
        for value in [0, b'-', 0xff] {
            let mut changed = good.to_vec();
            changed[at] = value;
            look(&changed);
        }
    }
}

#[test]
fn fuzz_targets_find_nothing_near_good_files() {
    let folder = Folder::with_model();
    for (reader, name) in
        [(0, "train.ts"), (1, "t.arff"), (2, "t.npy"), (3, "t.npz"), (4, "t.csv"), (6, "t.csv")]
    {
        if name != "train.ts" {
            folder.line(&format!("convert train.ts {name} --lossy")).code(0);
        }
        let head: Vec<u8> = bytes(&folder.path(name)).into_iter().take(20_000).collect();
        damaged(&head, |file| bodies::readers(&[&[reader], file].concat()));
    }
    damaged(&bytes(&folder.path("walking.model")), bodies::model);
    let settings = folder.line("fit --print-settings").out;
    let words =
        ["gak:sigma=3,band=2", "sig:level=4,lift=rbf", "zscore=channel,clip=5", "split:holdout=0.3,seed=0"];
    words.into_iter().chain([settings.as_str()]).for_each(|text| damaged(text.as_bytes(), bodies::words));
}
