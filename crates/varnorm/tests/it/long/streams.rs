//! Streams: chunks of any size, gaps and missing values, to the same bits as all at once.

use std::sync::Arc;

use varnorm::Run;
use varnorm::long::{
    Event, LongDetector, LongSettings, PointScore, Pushed, Recording, Stream, Window, WindowScore,
};

use super::log;

/// All that a stream has said.
#[derive(Default)]
pub struct Heard {
    pub settled: Vec<f64>,
    pub causal: Vec<f64>,
    pub windows: Vec<WindowScore>,
    pub events: Vec<Event>,
    pub alarms: usize,
}

impl Heard {
    pub fn take(&mut self, pushed: Pushed) {
        assert_eq!(pushed.settled_from, self.settled.len() as u64);
        assert!(pushed.causal.is_empty() || pushed.first_row == self.causal.len() as u64);
        self.settled.extend(pushed.settled);
        self.causal.extend(pushed.causal);
        self.windows.extend(pushed.windows);
        self.events.extend(pushed.events);
        self.alarms += pushed.alarms.len();
    }

    pub fn assert_same(&self, other: &Self, what: &str) {
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&self.settled), bits(&other.settled), "settled, {what}");
        assert_eq!(bits(&self.causal), bits(&other.causal), "causal, {what}");
        assert_eq!(self.windows, other.windows, "windows, {what}");
        assert_eq!(self.events, other.events, "events, {what}");
        assert_eq!(self.alarms, other.alarms, "alarms, {what}");
    }
}

/// A model, and rows with something novel, a gap and a missing value.
pub fn case(channels: usize, stride: usize) -> (Arc<LongDetector>, Vec<f64>, Vec<usize>) {
    let train = log(2600, channels, 8);
    let mut settings =
        LongSettings::default().with_window(Window::Steps(24)).with_stride(stride).with_most_windows(150);
    // Two channels have both members.
    settings.kernel = match channels {
        1 => Some("rocket:features=168".parse().unwrap()),
        2 => None,
        _ => Some("flat_linear".parse().unwrap()),
    };
    let recording = Recording::new(&train, channels).unwrap();
    let detector = LongDetector::fit(&recording, &settings, &Run::sequential()).unwrap();
    assert!(detector.promise(PointScore::Settled).is_some());
    let mut rows = log(900, channels, 9);
    rows[channels * 300..channels * 330].iter_mut().for_each(|v| *v = 9.0);
    rows[channels * 610..channels * 614].iter_mut().for_each(|v| *v *= 3.0);
    rows[channels * 450] = f64::NAN;
    (Arc::new(detector), rows, vec![620, 630])
}

pub fn whole(detector: &LongDetector, rows: &[f64], breaks: &[usize], score: PointScore) -> Heard {
    let recording = Recording::new(rows, detector.channels()).unwrap().with_breaks(breaks).unwrap();
    let mut heard = Heard::default();
    detector.scan(&recording, score, &Run::sequential(), |pushed| heard.take(pushed)).unwrap();
    heard
}

#[test]
fn online_is_batch_bit_for_bit_in_any_chunks() {
    for (channels, stride) in [(1, 1), (2, 3), (3, 1), (3, 5)] {
        let (detector, rows, breaks) = case(channels, stride);
        for score in [PointScore::Settled, PointScore::Causal] {
            let expected = whole(&detector, &rows, &breaks, score);
            assert_eq!(expected.settled.len(), 900);
            assert!(expected.events.len() >= 2, "{}", expected.events.len());
            assert!(expected.alarms == expected.events.len());
            for chunk in [1, 7, 100, 1000] {
                let (mut stream, mut heard) = (Stream::new(detector.clone(), score), Heard::default());
                let mut at = 0;
                while at < 900 {
                    if breaks.contains(&at) {
                        heard.take(stream.gap().unwrap());
                    }
                    let next = breaks.iter().copied().find(|b| *b > at).unwrap_or(900);
                    let end = next.min(at + chunk);
                    heard
                        .take(stream.push(&rows[at * channels..end * channels], &Run::sequential()).unwrap());
                    at = end;
                }
                heard.take(stream.finish().unwrap());
                heard.assert_same(
                    &expected,
                    &format!("{channels} channels, stride {stride}, chunks of {chunk}"),
                );
            }
        }
    }
}

#[test]
fn an_event_says_where_when_and_which_channel() {
    let (train, run) = (log(3000, 4, 1), Run::sequential());
    let recording = Recording::new(&train, 4).unwrap();
    let settings = LongSettings::default().with_most_windows(200);
    let detector = LongDetector::fit(&recording, &settings, &run).unwrap();
    let mut rows = log(1000, 4, 2);
    (500..520).for_each(|t| rows[t * 4 + 2] += 8.0);
    let events = detector.events(&Recording::new(&rows, 4).unwrap(), PointScore::Settled, &run).unwrap();
    let event = events.iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
    // The second member has windows of 64 steps.
    assert!((436..=500).contains(&event.from) && (519..=584).contains(&event.to), "{event:?}");
    assert!((480..=540).contains(&event.peak) && event.duration() == event.to - event.from + 1);
    assert!(event.channels[2] > 0.9 && (event.channels.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{event:?}");
    let blocks = detector.normal_block_maxima(PointScore::Settled).len();
    assert_eq!(event.p_value, Some(1.0 / (blocks as f64 + 1.0)));
    assert!(event.nearest < detector.windows());
}

/// A stream that is saved to bytes and read again, with the model from its own file.
fn resumed(stream: &Stream, detector: &LongDetector) -> Stream {
    let model = LongDetector::from_bytes(&detector.to_bytes().unwrap()).unwrap();
    let (stream, note) = Stream::from_bytes(&stream.to_bytes("noted").unwrap(), model.into()).unwrap();
    assert_eq!(note, "noted");
    stream
}

#[test]
fn saved_and_resumed_anywhere_it_is_the_same_stream() {
    for (channels, stride) in [(1, 4), (2, 5), (3, 1)] {
        let (detector, rows, breaks) = case(channels, stride);
        for score in [PointScore::Settled, PointScore::Causal] {
            let expected = whole(&detector, &rows, &breaks, score);
            let (mut stream, mut heard) = (Stream::new(detector.clone(), score), Heard::default());
            let mut state = 77u64;
            let mut at = 0;
            while at < 900 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if breaks.contains(&at) {
                    heard.take(stream.gap().unwrap());
                }
                let next = breaks.iter().copied().find(|b| *b > at).unwrap_or(900);
                let end = next.min(at + 1 + (state >> 33) as usize % 40);
                heard.take(stream.push(&rows[at * channels..end * channels], &Run::sequential()).unwrap());
                stream = resumed(&stream, &detector);
                at = end;
            }
            heard.take(stream.finish().unwrap());
            heard.assert_same(&expected, &format!("{channels} channels, {score:?}"));
        }
    }
}

#[test]
fn a_damaged_model_or_state_is_refused_with_a_sentence() {
    let (detector, rows, _) = case(3, 1);
    let model = detector.to_bytes().unwrap();
    assert!(LongDetector::is_in(&model));
    let mut stream = Stream::new(detector.clone(), PointScore::Settled);
    stream.push(&rows[..3 * 310], &Run::sequential()).unwrap();
    let state = stream.to_bytes("").unwrap();
    for cut in [0, 7, 100, model.len() / 2, model.len() - 1] {
        assert!(LongDetector::from_bytes(&model[..cut]).is_err(), "{cut}");
    }
    for at in (0..model.len()).step_by(model.len() / 61) {
        let mut flipped = model.clone();
        flipped[at] ^= 4;
        assert!(LongDetector::from_bytes(&flipped).is_err(), "{at}");
    }
    for at in (0..state.len()).step_by(state.len() / 61) {
        let mut flipped = state.clone();
        flipped[at] ^= 4;
        assert!(Stream::from_bytes(&flipped, detector.clone()).is_err(), "{at}");
        assert!(Stream::from_bytes(&state[..at], detector.clone()).is_err(), "{at}");
    }
    let problem = LongDetector::from_bytes(&state).unwrap_err();
    assert!(problem.contains("the state of a stream"), "{problem}");
    let problem = varnorm::Detector::from_bytes(&model).unwrap_err();
    assert!(problem.contains("a model of one long recording, not of many series"), "{problem}");
    let (other, ..) = case(3, 2);
    let problem = Stream::from_bytes(&state, other).unwrap_err();
    assert!(problem.contains("another model"), "{problem}");
}

#[test]
fn names_and_times_travel_with_the_model() {
    let (detector, ..) = case(3, 1);
    let named = (*detector).clone().with_channel_names(["a", "b", "c"].map(String::from).to_vec()).unwrap();
    let named = named.with_times(|row| format!("t{row}"), Some((2.0, true))).with_rows(|row| row + 100);
    let again = LongDetector::from_bytes(&named.to_bytes().unwrap()).unwrap();
    assert_eq!(
        (again.channel_name(1).as_str(), again.step(), again.time_step()),
        ("b", Some(2.0), Some(2.0))
    );
    assert_eq!(again.window_time(5), named.window_time(5));
    assert_eq!(again.window_row(5), detector.window_row(5) + 100);
    assert!((*detector).clone().with_channel_names(vec!["a".into()]).is_err());
}
