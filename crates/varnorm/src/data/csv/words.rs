//! What the names of columns say: time, case, label, and units.

use crate::data::LabelKind;

/// Names of a column of times, without what stands between letters. Those of one language stand in a line.
const TIME: &[&str] = &[
    "time",
    "timestamp",
    "timestamps",
    "timepoint",
    "timepoints",
    "timeindex",
    "datetime",
    "timedate",
    "date",
    "dateandtime",
    "ts",
    "utc",
    "utctime",
    "timeutc",
    "timestamputc",
    "localtime",
    "timelocal",
    "gpstime",
    "unix",
    "unixtime",
    "unixtimestamp",
    "epoch",
    "epochtime",
    "posixtime",
    "elapsed",
    "elapsedtime",
    "timeelapsed",
    "reltime",
    "relativetime",
    "relativetimes",
    "relativzeit",
    "runtime",
    "logtime",
    "logdate",
    "recordtime",
    "sampletime",
    "sampledat",
    "recordedat",
    "measuredat",
    "createdat",
    "eventtime",
    "systemtime",
    "servertime",
    "sourcetimestamp",
    "clock",
    "timeofday",
    "xvalue",
    "xvalues",
    "datenum",
    "exceldate",
    "timecode",
    "timevalue",
    "vartime",
    "timestring",
    "zeit",
    "zeitstempel",
    "zeitpunkt",
    "uhrzeit",
    "datum",
    "datumuhrzeit",
    "datumzeit",
    "datumunduhrzeit",
    "messzeit",
    "messzeitpunkt",
    "laufzeit",
    "zeitinsekunden",
    "zeitachse",
    "temps",
    "heure",
    "horodatage",
    "horodate",
    "dateheure",
    "dateetheure",
    "instant",
    "tiempo",
    "hora",
    "fecha",
    "fechahora",
    "fechayhora",
    "marcadetiempo",
    "tempo",
    "ora",
    "dataora",
    "dataeora",
    "datahora",
    "dataehora",
    "oraedata",
    "tijd",
    "tijdstip",
    "tijdstempel",
    "datumtijd",
    "datumentijd",
    "tid",
    "tidpunkt",
    "tidsstempel",
    "tidspunkt",
    "dato",
    "datotid",
    "klokkeslett",
    "datumtid",
    "czas",
    "dataczas",
    "dataiczas",
    "čas",
    "datumčas",
    "datumacas",
    "idő",
    "időbélyeg",
    "aika",
    "aikaleima",
    "päivämäärä",
    "zaman",
    "tarih",
    "tarihsaat",
    "время",
    "дата",
    "датавремя",
    "датаивремя",
    "时间",
    "时间戳",
    "日期",
    "日期时间",
    "時間",
    "時刻",
    "日時",
    "日付",
    "시간",
    "날짜",
    "시각",
];

/// Names that count steps, or are times only if their values look so.
const COUNT: &[&str] = &[
    "step",
    "steps",
    "timestep",
    "sample",
    "sampleno",
    "samplenumber",
    "sampleindex",
    "tick",
    "ticks",
    "frame",
    "t",
    "x",
    "data",
    "saat",
];

/// Names of a row's number.
const INDEX: &[&str] = &[
    "",
    "index",
    "idx",
    "no",
    "nr",
    "number",
    "row",
    "rownumber",
    "rowid",
    "rownum",
    "line",
    "lfdnr",
    "lfd",
    "n",
    "#",
    "record",
    "recordno",
    "recordnumber",
    "recno",
    "rec",
    "scan",
    "scannumber",
    "scanno",
    "messung",
    "messungnr",
    "seq",
    "sequence",
    "point",
    "datapoint",
    "pos",
    "zeile",
    "counter",
];

/// Names that can mean nothing but the case.
const CASE: &[&str] = &[
    "caseid",
    "case",
    "seriesid",
    "series",
    "instance",
    "instanceid",
    "seriesname",
    "casename",
    "recordingid",
    "recording",
];

/// Names that mostly mean the case; values must agree.
const MAYBE_CASE: &[&str] = &[
    "id",
    "run",
    "runid",
    "runno",
    "runnr",
    "runnumber",
    "runname",
    "batch",
    "batchid",
    "batchno",
    "batchnr",
    "charge",
    "chargennr",
    "chargennummer",
    "charge",
    "unit",
    "unitid",
    "unitno",
    "unitnr",
    "unitnumber",
    "machine",
    "machineid",
    "machinename",
    "maschine",
    "maschinenid",
    "anlage",
    "cycle",
    "cycleid",
    "cycleno",
    "cyclenumber",
    "zyklus",
    "zyklusnr",
    "trial",
    "trialid",
    "experiment",
    "experimentid",
    "session",
    "sessionid",
    "lot",
    "lotid",
    "lotno",
    "serial",
    "serialnumber",
    "serialno",
    "seriennummer",
    "part",
    "partid",
    "partno",
    "partnumber",
    "teil",
    "teilenr",
    "werkstück",
    "device",
    "deviceid",
    "devicename",
    "gerät",
    "geraet",
    "sensorid",
    "asset",
    "assetid",
    "engine",
    "engineid",
    "engineno",
    "enginenumber",
    "motorid",
    "pump",
    "pumpid",
    "pumpe",
    "file",
    "filename",
    "datei",
    "subject",
    "subjectid",
    "patient",
    "patientid",
    "user",
    "userid",
    "person",
    "test",
    "testid",
    "testno",
    "testnr",
    "versuch",
    "versuchsnr",
    "versuchid",
    "messreihe",
    "sequenceid",
    "sequenceno",
    "segment",
    "segmentid",
    "group",
    "groupid",
    "gruppe",
    "name",
    "key",
    "uid",
    "uuid",
    "sampleid",
    "shot",
    "shotid",
    "shotno",
    "wafer",
    "waferid",
    "tool",
    "toolid",
    "job",
    "jobid",
    "order",
    "orderid",
    "auftrag",
    "auftragsnr",
    "vehicle",
    "vehicleid",
    "trip",
    "tripid",
    "track",
    "trackid",
    "flight",
    "flightid",
    "essai",
    "lote",
    "ciclo",
    "máquina",
    "machineno",
    "station",
    "stationid",
    "line id",
    "episode",
    "episodeid",
    "traceid",
    "trace",
];

/// Names of a mark that somebody set on steps: the truth, not a measurement.
const ANNOTATION: &[&str] = &[
    "anomaly",
    "anomalies",
    "isanomaly",
    "anomalous",
    "changepoint",
    "outlier",
    "isoutlier",
    "attack",
    "attacklabel",
    "normalattack",
    "groundtruth",
];

/// What a name alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Times.
    Time,
    /// Times if the values look like it.
    MaybeTime,
    /// The case, surely.
    Case,
    /// The case if the values agree.
    MaybeCase,
    /// The row's number.
    Index,
    /// A label or a target.
    Label(LabelKind),
    /// The truth about a step.
    Annotation,
    /// Anything else.
    Other,
}

/// A name without brackets, in lower case, letters and digits alone.
pub(super) fn key(name: &str) -> String {
    let end = name.find(['[', '(', '{']).filter(|at| *at > 0).unwrap_or(name.len());
    name[..end].to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == '#').collect()
}

/// What the name says, without its unit.
pub(super) fn meaning(name: &str) -> Meaning {
    let key = key(name);
    // `time_ms`: the unit at the end is no part of the name.
    let bare = time_suffix(name).map_or_else(|| key.clone(), |(bare, _)| self::key(bare));
    let is = |list: &[&str]| list.contains(&key.as_str());
    if name.starts_with("Unnamed: 0") {
        return Meaning::Index;
    }
    match key.as_str() {
        "label" | "class" => return Meaning::Label(LabelKind::Class),
        "target" => return Meaning::Label(LabelKind::Target),
        // `#` numbers rows; a letter of another script is a name.
        "" if !name.trim().is_empty() => return Meaning::Other,
        _ => {}
    }
    if is(TIME) || TIME.contains(&bare.as_str()) || is_unit_of_time(&key) {
        Meaning::Time
    } else if is(COUNT) || bare == "t" {
        Meaning::MaybeTime
    } else if is(CASE) {
        Meaning::Case
    } else if is(MAYBE_CASE) {
        Meaning::MaybeCase
    } else if is(INDEX) {
        Meaning::Index
    } else if is(ANNOTATION) {
        Meaning::Annotation
    } else {
        Meaning::Other
    }
}

/// Names such as `ms` or `seconds`; the single letters mean other things too.
fn is_unit_of_time(key: &str) -> bool {
    matches!(
        key,
        "ms" | "msec"
            | "millis"
            | "milliseconds"
            | "sec"
            | "secs"
            | "seconds"
            | "us"
            | "usec"
            | "microseconds"
            | "ns"
            | "nanoseconds"
            | "minutes"
            | "hours"
            | "sekunden"
            | "millisekunden"
            | "minuten"
            | "stunden"
            | "secondes"
    )
}

/// `time_ms` is `time` in `ms`; nothing where the name has no such end.
pub(super) fn time_suffix(name: &str) -> Option<(&str, &'static str)> {
    let name = name.trim();
    let (bare, end) = name.rsplit_once(['_', '-', ' ', '.'])?;
    Some((bare, time_unit(end)?))
}

/// A unit of time in its short form.
pub(super) fn time_unit(word: &str) -> Option<&'static str> {
    Some(match word.trim().trim_matches(['.', '[', ']', '(', ')']).to_lowercase().as_str() {
        "ns" | "nsec" | "nanoseconds" => "ns",
        "us" | "µs" | "μs" | "usec" | "microseconds" => "us",
        "ms" | "msec" | "millis" | "milliseconds" | "millisekunden" | "msecs" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" | "sek" | "sekunden" | "secondes" | "segundos" => "s",
        "min" | "mins" | "minute" | "minutes" | "minuten" => "min",
        "h" | "hr" | "hrs" | "hour" | "hours" | "std" | "stunden" => "h",
        "d" | "day" | "days" | "tage" => "d",
        _ => return None,
    })
}

/// Units that stand without brackets in a row of their own.
const UNITS: &[&str] = &[
    "bar", "mbar", "pa", "hpa", "kpa", "mpa", "psi", "atm", "torr", "mmhg", "c", "k", "f", "degc", "degf",
    "celsius", "kelvin", "v", "mv", "kv", "uv", "a", "ma", "ua", "ka", "w", "kw", "mw", "wh", "kwh", "mwh",
    "va", "kva", "var", "hz", "khz", "mhz", "ghz", "rpm", "upm", "g", "mg", "kg", "t", "n", "kn", "nm",
    "knm", "mm", "um", "cm", "dm", "m", "km", "in", "inch", "ft", "l", "ml", "gal", "lpm", "gpm", "slpm",
    "sccm", "deg", "rad", "db", "dba", "dbm", "ppm", "ppb", "lux", "lx", "ohm", "kohm", "mohm", "j", "kj",
    "mj", "cal", "kcal", "ph", "rh", "volt", "volts", "ampere", "amps", "watt", "pct", "percent", "count",
    "counts", "1", "bool", "mps", "kmh", "kph", "mph", "nmol", "mol", "ntu", "us/cm", "cps", "cp", "cst",
    "lbs", "lb", "lbf", "oz", "nl/min", "raw", "none", "kn/m", "t/h",
];

/// Whether a text alone could be a unit.
pub(super) fn is_unit(text: &str) -> bool {
    let text = text.trim();
    let inner = bracketed(text).unwrap_or(text).trim();
    let low = inner.to_lowercase();
    if inner.is_empty() || inner.chars().count() > 16 {
        return is_pattern(&low);
    }
    let first = low.chars().next().unwrap_or(' ');
    let has_letters = low.chars().any(|c| c.is_alphabetic() || "%°‰Ω".contains(c));
    let ratio = low.contains('/') && has_letters && !low.contains(' ') && low.len() <= 12;
    UNITS.contains(&low.as_str())
        || time_unit(&low).is_some()
        || ratio
        || "%°‰Ω".contains(first)
        || low.ends_with(['²', '³', '°', 'Ω', 'ω', '%'])
        || low.starts_with(['µ', 'μ'])
        || matches!(low.as_str(), "-" | "--" | "[-]" | "m^2" | "m^3" | "m/s^2" | "m2" | "m3")
        || (bracketed(text).is_some() && has_letters)
        || is_pattern(&low)
}

/// `yyyy-mm-dd hh:mm:ss`: the pattern of stamps, where units stand.
fn is_pattern(low: &str) -> bool {
    low.len() >= 5
        && low.chars().all(|c| "ymdhsfjt:./- ".contains(c))
        && (low.contains("mm") || low.contains("hh"))
}

fn bracketed(text: &str) -> Option<&str> {
    let pairs = [('[', ']'), ('(', ')'), ('{', '}'), ('<', '>')];
    pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close))
}

/// `pressure [bar]` is `pressure` in `bar`.
pub(super) fn name_and_unit(name: &str) -> (String, Option<String>) {
    let name = name.trim();
    let plain = || (name.to_string(), None);
    let pairs = [('[', ']'), ('(', ')'), ('{', '}')];
    for (open, close) in pairs {
        let Some((bare, inner)) = name.strip_suffix(close).and_then(|rest| rest.rsplit_once(open)) else {
            continue;
        };
        let (bare, inner) = (bare.trim(), inner.trim());
        let counts = inner.chars().all(|c| c.is_ascii_digit());
        // Round brackets hold many things; square ones after a name hold a unit.
        let fits =
            if open == '[' { inner.chars().count() <= 16 && !inner.contains(',') } else { is_unit(inner) };
        return match fits && !counts && !bare.is_empty() {
            true => (
                bare.to_string(),
                Some(inner.to_string()).filter(|unit| !matches!(unit.as_str(), "-" | "--")),
            ),
            false => plain(),
        };
    }
    if let Some((bare, unit)) = name.split_once(" / ").or_else(|| name.split_once(" in "))
        && is_unit(unit)
        && !bare.trim().is_empty()
    {
        return (bare.trim().to_string(), Some(unit.trim().to_string()));
    }
    plain()
}

/// A unit from a cell of a row of units.
pub(super) fn unit_of(cell: &str) -> Option<String> {
    let cell = cell.trim();
    let inner = bracketed(cell).unwrap_or(cell).trim();
    (!inner.is_empty() && !matches!(inner, "-" | "--") && !is_pattern(&inner.to_lowercase()))
        .then(|| inner.to_string())
}

/// Whether a row's first cell says that units follow.
pub(super) fn says_units(cell: &str) -> bool {
    matches!(
        key(cell).as_str(),
        "unit"
            | "units"
            | "einheit"
            | "einheiten"
            | "unité"
            | "unités"
            | "unidad"
            | "unidades"
            | "unità"
            | "eenheid"
    )
}

/// A name with a number at its end: `ax_12`, `t12`, `V1`; the name, and the number.
pub(super) fn numbered(name: &str) -> Option<(&str, usize)> {
    let start = name
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    let (prefix, digits) = name.split_at(start);
    let prefix = prefix.trim_end_matches(['_', ' ', '-', '.']);
    (!prefix.is_empty()).then(|| digits.parse().ok()).flatten().map(|number| (prefix, number))
}

/// Whether a numbered column's name means a step: `t12`, `step_3`, `V1` is none.
pub(super) fn is_step_word(prefix: &str) -> bool {
    matches!(
        key(prefix).as_str(),
        "t" | "step" | "time" | "timestep" | "timepoint" | "tp" | "tick" | "att" | "zeit" | "schritt"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_meanings() {
        for name in [
            "Time",
            "timestamp",
            "Zeit",
            "Datum/Uhrzeit",
            "Date Time",
            "t_ms",
            "time_ms",
            "Time [s]",
            "Elapsed (min)",
            "X_Value",
            "ms",
            "Дата",
            "时间",
            "time (s)",
            "Zeitstempel",
            "Datum und Uhrzeit",
            "Relative Time(s)",
        ] {
            assert!(matches!(meaning(name), Meaning::Time | Meaning::MaybeTime), "{name}");
        }
        assert_eq!(meaning("T"), Meaning::MaybeTime);
        assert_eq!(meaning("Case_ID"), Meaning::Case);
        assert_eq!(meaning("Machine ID"), Meaning::MaybeCase);
        assert_eq!(meaning("Unnamed: 0"), Meaning::Index);
        assert_eq!(meaning(""), Meaning::Index);
        for name in ["pressure", "Temperature [°C]", "flow", "s", "h", "min", "Ω", "p1"] {
            assert_eq!(meaning(name), Meaning::Other, "{name}");
        }
    }

    #[test]
    fn units_are_taken_from_names() {
        for (name, bare, unit) in [
            ("pressure [bar]", "pressure", Some("bar")),
            ("flow (l/min)", "flow", Some("l/min")),
            ("T[°C]", "T", Some("°C")),
            ("Druck / bar", "Druck", Some("bar")),
            ("Druck in bar", "Druck", Some("bar")),
            ("flow (sensor 1)", "flow (sensor 1)", None),
            ("temp (1)", "temp (1)", None),
            ("x [0]", "x [0]", None),
            ("ratio [-]", "ratio", None),
            ("pressure", "pressure", None),
            ("[bar]", "[bar]", None),
        ] {
            assert_eq!(name_and_unit(name), (bare.to_string(), unit.map(String::from)), "{name}");
        }
        for unit in ["s", "bar", "l/min", "°C", "%", "m/s²", "[V]", "(A)", "µm", "yyyy-mm-dd hh:mm:ss", "-"]
        {
            assert!(is_unit(unit), "{unit}");
        }
        for word in ["pressure", "flow", "Sensor 1", "12", "", "on"] {
            assert!(!is_unit(word), "{word}");
        }
        assert_eq!(numbered("ax_12"), Some(("ax", 12)));
        assert_eq!(numbered("V1"), Some(("V", 1)));
        assert_eq!((numbered("12"), numbered("ax")), (None, None));
    }
}
