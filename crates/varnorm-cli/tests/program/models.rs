//! Damaged model files are refused, or harmless.

use super::support::{Folder, bytes};

#[test]
fn a_model_cut_short_is_refused() {
    let folder = Folder::with_model();
    let whole = bytes(&folder.path("walking.model"));
    let size = whole.len();
    for length in [0, 1, 7, 8, 9, 100, 1000, size / 4, size / 2, size - 8, size - 1] {
        folder.file("cut.model", &whole[..length]);
        folder.line("score cut.model test.ts").fails("cut.model: not a usable varnorm model: ");
        folder.line("inspect cut.model").fails("cut.model: ");
    }
    folder.file("long.model", [&whole[..], b"x"].concat());
    folder.line("score long.model test.ts").fails("long.model: not a usable varnorm model: ");
}

#[test]
fn a_flipped_bit_is_noticed_or_harmless() {
    let folder = Folder::with_model();
    let whole = bytes(&folder.path("walking.model"));
    let scores = folder.line("score walking.model test.ts --format csv -q").code(0).out;
    let spread = (0..184).map(|i| i * whole.len() / 184);
    let mut harmless = 0;
    for (turn, at) in (0..16).chain(spread).enumerate() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (turn % 8);
        folder.file("flip.model", &damaged);
        let ran = folder.line("score flip.model test.ts --format csv -q");
        if ran.code == Some(0) {
            assert_eq!(ran.out, scores, "byte {at} changed the scores unnoticed");
            harmless += 1;
        } else {
            ran.fails("flip.model: not a usable varnorm model: ");
        }
    }
    assert!(harmless < 10, "{harmless} of 200 went unnoticed");
}

#[test]
fn a_later_format_version_is_named() {
    let folder = Folder::with_model();
    let mut model = bytes(&folder.path("walking.model"));
    let version = br#"\"format\":2,"#;
    let at = model.windows(version.len()).position(|w| w == version).unwrap();
    model[at + version.len() - 2] = b'9';
    folder.file("later.model", &model);
    folder
        .line("score later.model test.ts")
        .fails("its format version is 9 and this program reads version 1 and 2; fit the model again");
}

#[test]
fn saving_and_loading_changes_nothing() {
    let folder = Folder::with_model();
    folder.line("fit train.ts --normal Walking -o again.model --threads 1").code(0);
    let (first, second) = (folder.path("walking.model"), folder.path("again.model"));
    let (first, second) =
        (varnorm::Detector::load(&first).unwrap(), varnorm::Detector::load(&second).unwrap());
    assert_eq!(first, second);
}
