//! `varnorm convert` between all formats.

use varnorm::data::{ReadOptions, basic_motions, read};

use super::support::{Folder, bytes};

#[test]
fn a_round_trip_through_every_format_keeps_every_bit() {
    let folder = Folder::with_motions();
    let train = basic_motions().unwrap().train;
    let chain = ["train.ts", "a.arff", "b.csv", "c.npz", "d.csv", "e.ts"];
    for pair in chain.windows(2) {
        let shape = if pair[1] == "d.csv" { "wide" } else { "long" };
        let ran = folder.run(["convert", pair[0], pair[1], "--csv", shape]).code(0);
        assert_eq!(ran.out, "");
        assert!(ran.err.contains("40 series of 6 channels, 100 steps each"), "{}", ran.err);
        assert!(ran.err.ends_with(&format!("wrote {}\n", pair[1])), "{}", ran.err);
        let back = read(&folder.path(pair[1]), &ReadOptions::default()).unwrap();
        assert_eq!(back.series, train.series, "{}", pair[1]);
        assert_eq!(back.labels.unwrap().values, train.labels.as_ref().unwrap().values, "{}", pair[1]);
    }
    folder
        .line("convert train.ts f.npy")
        .fails(".npy cannot hold labels; write .npz, or say that it may be dropped with --lossy");
    assert!(!folder.path("f.npy").exists());
    let lossy = folder.line("convert train.ts f.npy --lossy").code(0);
    assert!(lossy.err.contains("warning: dropped: labels\n"), "{}", lossy.err);
    assert_eq!(read(&folder.path("f.npy"), &ReadOptions::default()).unwrap().series, train.series);
}

#[test]
fn several_files_become_one() {
    let folder = Folder::with_motions();
    folder.line("convert train.ts test.ts all.npz").code(0);
    let all = read(&folder.path("all.npz"), &ReadOptions::default()).unwrap();
    assert_eq!(all.series.len(), 80);
    assert_eq!(all.series_name(79), "test/39");
}

#[test]
fn what_cannot_be_dropped_is_refused_with_lossy_too() {
    let folder = Folder::new();
    folder.file("x.csv", "case_id,time,x\na,0,1\na,1,2\nb,0,3\n");
    folder
        .line("convert x.csv x.npy --lossy")
        .fails("cannot hold series of unequal length, and it cannot be dropped");
    folder.line("convert x.csv x.xlsx").fails("files named .xlsx are not known");
    folder.line("convert x.csv no/x.npz").fails("cannot write no/x.npz");
    folder.line("convert missing.csv x.npz").fails("cannot read missing.csv");
    assert_eq!(folder.names(), ["x.csv"]);
}

#[test]
fn an_old_file_survives_a_failure() {
    let folder = Folder::with_motions();
    folder.file("x.npy", "old");
    folder.line("convert train.ts x.npy").fails("cannot hold labels");
    assert_eq!(bytes(&folder.path("x.npy")), b"old");
}
