use super::*;

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn npy(folder: &Path, name: &str, shape: &[usize], values: &[f64]) {
    let mut bytes = varnorm::data::npy_header("<f8", shape);
    values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    std::fs::write(folder.join(name), bytes).unwrap();
}

fn only(folder: &Path) -> (Listed, Labelled) {
    let mut found = list(folder).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let listed = found.remove(0);
    let read = listed.read(folder).unwrap();
    (listed, read)
}

#[test]
fn a_ucr_name_tells_everything() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "UCR/001_UCR_Anomaly_x_3_4_5.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let (listed, read) = only(folder.path());
    assert_eq!((listed.family, listed.group.as_str()), (Family::Ucr, "UCR"));
    assert_eq!(listed.name, "UCR/001_UCR_Anomaly_x_3_4_5");
    assert_eq!((read.normal, read.test), (vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0, 7.0]));
    assert_eq!(read.anomalous, [false, true, true, false]);
    write(folder.path(), "UCR/002_UCR_Anomaly_x_3_4_9.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let error = list(folder.path()).unwrap()[1].read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("from 4 to 9, and there are 7 points"), "{error}");
}

#[test]
fn the_first_400_rows_of_skab_are_normal() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("datetime;A;B;anomaly;changepoint\n");
    (0..402).for_each(|i| {
        text += &format!("2020-03-09 10:14:{i};{i};-1;{};0.0\n", if i == 401 { "1.0" } else { "0.0" })
    });
    write(folder.path(), "valve1/0.csv", &text);
    write(folder.path(), "free.csv", "datetime;A;B\n0;1;2\n");
    let (listed, read) = only(folder.path());
    assert_eq!(
        (listed.family, listed.group.as_str(), listed.name.as_str()),
        (Family::Skab, "SKAB", "valve1/0")
    );
    assert_eq!((read.channels, read.normal.len()), (2, 800));
    assert_eq!((read.test, read.anomalous), (vec![400.0, -1.0, 401.0, -1.0], vec![false, true]));
}

#[test]
fn arrays_come_in_threes() {
    let folder = tempfile::tempdir().unwrap();
    let asd = folder.path().join("ASD");
    std::fs::create_dir(&asd).unwrap();
    npy(&asd, "o-1_train.npy", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    npy(&asd, "o-1_test.npy", &[3, 2], &[f64::NAN, 6.0, 7.0, f64::NAN, 9.0, 10.0]);
    npy(&asd, "o-1_test_label.npy", &[3], &[0.0, 1.0, 0.0]);
    let (listed, read) = only(folder.path());
    assert_eq!((listed.group.as_str(), listed.name.as_str()), ("ASD", "ASD/o-1"));
    assert_eq!(read.normal, [1.0, 2.0, 3.0, 4.0]);
    // Missing numbers are the last before or the first after.
    assert_eq!(read.test, [7.0, 6.0, 7.0, 6.0, 9.0, 10.0]);
    assert_eq!(read.anomalous, [false, true, false]);
    npy(&asd, "o-1_test_label.npy", &[2], &[0.0, 1.0]);
    let error = listed.read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("2 labels for 3 rows"), "{error}");
}

#[test]
fn tables_of_tsb_ad_and_time_eval() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "001_X_id_1_Y_tr_2_1st_3.csv", "a,b,Label\n1,2,0\n3,4,0\n5,6,0\n7,8,1\n");
    let (listed, read) = only(folder.path());
    assert_eq!((listed.family, listed.group.as_str()), (Family::TsbAd, "TSB-AD"));
    assert_eq!((read.normal.len(), read.anomalous), (4, vec![false, true]));

    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "s.test.csv", "timestamp,v,is_anomaly\n1,1.5,0\n2,2.5,1\n");
    write(folder.path(), "s.train.csv", "timestamp,v,is_anomaly\n1,7,0\n");
    let (_, read) = only(folder.path());
    assert_eq!((read.normal, read.test), (vec![7.0], vec![1.5, 2.5]));
    std::fs::remove_file(folder.path().join("s.train.csv")).unwrap();
    let rows: String = (0..20).map(|i| format!("{i},{i},{}\n", u8::from(i > 17))).collect();
    write(folder.path(), "s.test.csv", &format!("timestamp,v,is_anomaly\n{rows}"));
    let (listed, read) = only(folder.path());
    assert_eq!((listed.family, read.normal.len(), read.points()), (Family::TimeEval, 3, 17));
}

#[test]
fn nab_has_windows_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..20).map(|i| format!("2014-04-01 00:{i:02}:00,{i}\n")).collect();
    write(folder.path(), "data/real/a.csv", &format!("timestamp,value\n{rows}"));
    let windows = r#"{"real/a.csv": [["2014-04-01 00:05:00.000000", "2014-04-01 00:06:00.000000"]]}"#;
    write(folder.path(), "labels/combined_windows.json", windows);
    let (listed, read) = only(folder.path());
    assert_eq!((listed.family, read.normal.len()), (Family::Nab, 3));
    let labelled: Vec<usize> = (0..17).filter(|at| read.anomalous[*at]).collect();
    assert_eq!(labelled, [2, 3]);
}

#[test]
fn a_folder_without_recordings_and_a_bad_cell_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let error = list(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no recording of a known archive is here"), "{error}");
    write(folder.path(), "001_X_tr_2_1st_3.csv", "a,Label\n1,0\nx,0\n5,0\n7,1\n");
    let error = list(folder.path()).unwrap()[0].read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("line 3: column `a`: `x` is no number"), "{error}");
}
