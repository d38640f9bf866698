//! A detector within a service: `cargo run -p varnorm --example service`.
//!
//! Workers share one detector and take requests from a channel; a client that hangs up cancels its own request.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use varnorm::calibrate::Decision;
use varnorm::data::basic_motions;
use varnorm::{Error, Findings, Result, Run, SeriesSet, Settings};

const WORKERS: usize = 2;

/// Series to score, how to run (it holds the flag that cancels), and where the answer goes.
struct Request {
    series: SeriesSet,
    run: Run,
    answer: Sender<Result<Findings>>,
}

/// The answers to two requests, the second of them cancelled.
pub fn answers() -> Result<[Result<Findings>; 2]> {
    let motions = basic_motions()?;
    let normal = motions.train.select(&motions.train.with_label("Standing")?);
    // Ten normal series can give no p-value below 1/11.
    let settings = Settings::one_view().with_level(0.1).with_decision(Decision::Each);
    let detector = Arc::new(settings.fit(&normal.series, &Run::with_threads(0)?)?);
    let (requests, queue) = channel::<Request>();
    let queue = Arc::new(Mutex::new(queue));
    let work = || {
        let (detector, queue) = (Arc::clone(&detector), Arc::clone(&queue));
        thread::spawn(move || {
            // Until there is nobody left who could ask.
            while let Some(request) = queue.lock().ok().and_then(|queue| queue.recv().ok()) {
                let found = detector.score(&request.series, &request.run);
                // Nobody waits for the answer of a client that has gone.
                request.answer.send(found).ok();
            }
        })
    };
    let workers: Vec<_> = (0..WORKERS).map(|_| work()).collect();
    let ask = |cancelled: bool| {
        // One thread each, as there are several workers.
        let (run, (answer, answered)) = (Run::sequential(), channel());
        run.cancel_flag().store(cancelled, Ordering::Relaxed);
        requests.send(Request { series: motions.test.series.clone(), run, answer }).ok();
        answered
    };
    let waiting = [ask(false), ask(true)];
    let answers = waiting.map(|answered| answered.recv().unwrap_or(Err(Error::Cancelled)));
    drop(requests);
    workers.into_iter().for_each(|worker| drop(worker.join()));
    Ok(answers)
}

/// Prints the answers.
pub fn main() -> Result<()> {
    for (request, answer) in answers()?.into_iter().enumerate() {
        match answer {
            Ok(found) => println!("request {request}: {} of {} series flagged", found.flagged(), found.len()),
            Err(error) => println!("request {request}: {error}"),
        }
    }
    Ok(())
}
