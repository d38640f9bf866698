//! The requests: what is asked, and what is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http_body_util::BodyExt;
use serde::Deserialize;
use varnorm::calibrate::Decision;
use varnorm::data::{Columns, CsvLayout, Decimal, ReadOptions};
use varnorm::detector::Scored;
use varnorm::prepare::Gaps;
use varnorm::report::{Options as ReportOptions, Report};
use varnorm::{Dataset, Run};

use crate::connections::Place;
use crate::metrics::Metrics;
use crate::refusal::{Refusal, json_response, late};
use crate::state::Shared;
use crate::work::in_turn;
use crate::{guard, input, page};

/// Explanations that a served report may have; each takes as long as scoring a few dozen series.
const EXPLAIN: usize = 10;

/// All paths.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let guarded = Router::new()
        .route("/metrics", get(metrics))
        .route("/v1/model", get(model))
        .route("/v1/score", post(score))
        .route("/v1/report", post(report))
        .route("/v1/reload", post(reload))
        .layer(from_fn_with_state(Arc::clone(&shared), admitted));
    Router::new()
        .route("/", get(page::page))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/healthz", get(health))
        .route("/openapi.json", get(|| async { json_response(StatusCode::OK, page::OPENAPI.into()) }))
        .merge(guarded)
        .fallback(|| async {
            Refusal::new(StatusCode::NOT_FOUND, "there is no such path; see /openapi.json")
        })
        .method_not_allowed_fallback(|| async {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "the path takes another method; see /openapi.json")
        })
        .layer(from_fn_with_state(Arc::clone(&shared), counted))
        .with_state(shared)
}

/// Counts every request, and adds the headers that every answer has.
async fn counted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    // Paths that are not known are counted together: a client cannot fill the memory with names.
    let known =
        ["/", "/healthz", "/metrics", "/openapi.json", "/v1/model", "/v1/score", "/v1/report", "/v1/reload"];
    let path = known.into_iter().find(|known| *known == request.uri().path()).unwrap_or("other");
    let mut response = next.run(request).await;
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    shared.metrics.request(path, response.status().as_u16(), began.elapsed());
    response
}

async fn admitted(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match guard::admit(shared.token.as_deref(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Whether a request would be worked on.
async fn health(State(shared): State<Arc<Shared>>) -> Response {
    match shared.trouble() {
        None => "ok\n".into_response(),
        Some(trouble) => (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n")).into_response(),
    }
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let model = shared.model();
    let corpus = model.detector.corpus_series();
    let waiting = shared.waiting.load(Ordering::Relaxed);
    let free = shared.turns.available_permits();
    let mut text = shared.metrics.text(corpus, waiting, free, shared.connections.counts());
    text.extend(model.drift().map(|state| Metrics::drift(&state)));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

async fn model(State(shared): State<Arc<Shared>>) -> Response {
    json_response(StatusCode::OK, shared.model().description.clone())
}

async fn reload(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
) -> Result<Response, Refusal> {
    let deadline = Instant::now() + shared.limits.time;
    let again = Arc::clone(&shared);
    let model = in_turn(&shared, &place, deadline, move |_| {
        again.reload().map_err(|error| {
            Refusal::new(StatusCode::CONFLICT, format!("the old model stays in use: {error}"))
        })
    })
    .await?;
    Ok(json_response(StatusCode::OK, model.description.clone()))
}

/// What can be said beside the body.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    /// The name of a file that is the body.
    name: Option<String>,
    level: Option<f64>,
    decision: Option<Decision>,
    csv_layout: CsvLayout,
    /// What the program's options of the same names say about the columns of a table; lists are separated by commas.
    time: Option<String>,
    case: Option<String>,
    columns: Option<String>,
    ignore: Option<String>,
    decimal: Option<Decimal>,
    skip: usize,
    gaps: Gaps,
    /// The label of normal series, in a report.
    normal: Option<String>,
    /// How many series a report explains.
    explain: Option<usize>,
}

impl Asked {
    /// How a file is read.
    fn reading(&self) -> ReadOptions {
        let list = |words: &Option<String>| -> Vec<String> {
            words.iter().flat_map(|words| words.split(',')).map(|word| word.trim().to_string()).collect()
        };
        let columns = Columns::default()
            .with_time(self.time.clone())
            .with_case(self.case.clone())
            .with_channels(list(&self.columns))
            .with_ignore(list(&self.ignore))
            .with_decimal(self.decimal)
            .with_skip(self.skip);
        ReadOptions::default().with_csv_layout(self.csv_layout).with_columns(columns)
    }
}

/// Why a body was not taken.
enum Unread {
    TooLarge,
    Broken(String),
}

/// How often a body that is too large may be so, and still be read to its end.
const DRAINED: usize = 16;

/// A body of at most so many bytes. One that is larger is read on and forgotten: a client that is still sending would not
/// hear the answer.
async fn receive(mut body: Body, limit: usize) -> Result<Vec<u8>, Unread> {
    let (mut bytes, mut seen) = (Vec::new(), 0usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| Unread::Broken(e.to_string()))?;
        let Ok(data) = frame.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= limit {
            bytes.extend_from_slice(&data);
        } else {
            bytes = Vec::new();
            if seen > DRAINED.saturating_mul(limit.max(1 << 20)) {
                break;
            }
        }
    }
    if seen > limit { Err(Unread::TooLarge) } else { Ok(bytes) }
}

/// What was sent, read but not yet understood.
struct Sent {
    asked: Asked,
    is_json: bool,
    bytes: Vec<u8>,
    deadline: Instant,
}

impl Sent {
    /// Reads the body, within its size and time.
    async fn receive(
        shared: &Shared,
        asked: Result<Query<Asked>, QueryRejection>,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, Refusal> {
        let deadline = Instant::now() + shared.limits.time;
        let Query(asked) = asked
            .map_err(|e| Refusal::new(StatusCode::BAD_REQUEST, format!("the query: {}", e.body_text())))?;
        let limit = shared.limits.body;
        let too_large = || {
            let sentence = format!(
                "the body has more than {limit} bytes, the most the server takes; send less at a time"
            );
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, sentence)
        };
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let announced = text(header::CONTENT_LENGTH).and_then(|l| l.parse::<u64>().ok());
        // Who asks first has not begun to send.
        if announced.is_some_and(|l| l > limit as u64) && headers.contains_key(header::EXPECT) {
            return Err(too_large());
        }
        let kind = text(header::CONTENT_TYPE).and_then(|kind| kind.split(';').next());
        let is_json = kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        let unsupported = !is_json && asked.name.is_none();
        let most = if unsupported { 0 } else { limit };
        let read = tokio::time::timeout_at(deadline.into(), receive(body, most)).await.map_err(|_| late())?;
        if unsupported {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "send application/json, or a file with its name as ?name=new.csv",
            ));
        }
        let bytes = read.map_err(|problem| match problem {
            Unread::TooLarge => too_large(),
            Unread::Broken(words) => Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("the body ended early, or its chunks are malformed ({words}); send it again"),
            ),
        })?;
        Ok(Self { asked, is_json, bytes, deadline })
    }

    fn dataset(&self, shared: &Shared, run: &Run) -> Result<Dataset, Refusal> {
        let mut dataset = match (&self.asked.name, self.is_json) {
            (_, true) => input::from_json(&self.bytes, &shared.limits),
            (Some(name), _) => {
                input::from_file(name, &self.bytes, &self.asked.reading(), &shared.limits, run)
            }
            (None, _) => Err(Refusal::new(StatusCode::BAD_REQUEST, "the file has no name")),
        }?;
        self.asked.gaps.fill_dataset(&mut dataset)?;
        Ok(dataset)
    }
}

/// An error about a series or a channel, with their names where they have some.
fn named(dataset: &Dataset) -> impl Fn(varnorm::Error) -> Refusal {
    |error| {
        let names = dataset.names_in(&error);
        let mut refusal = Refusal::from(error);
        refusal.sentence.extend(names.map(|names| format!(" ({names})")));
        refusal
    }
}

async fn score(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let sent = Sent::receive(&shared, asked, &headers, body).await?;
    let inner = Arc::clone(&shared);
    let answer = in_turn(&shared, &place, sent.deadline, move |run| {
        let model = inner.model();
        let dataset = model.detector.admit(sent.dataset(&inner, run)?)?;
        let settings = model.detector.settings();
        let level = sent.asked.level.unwrap_or(settings.level);
        let decision = sent.asked.decision.unwrap_or(settings.decision);
        let findings =
            model.detector.score_at(&dataset.series, level, decision, run).map_err(named(&dataset))?;
        inner.metrics.scored(findings.len(), findings.flagged());
        model.watch(findings.scores());
        serde_json::to_vec(&Scored::new(&model.detector, &dataset, findings))
            .map_err(|e| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))
    })
    .await?;
    Ok(json_response(StatusCode::OK, answer))
}

async fn report(
    State(shared): State<Arc<Shared>>,
    Extension(place): Extension<Place>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let sent = Sent::receive(&shared, asked, &headers, body).await?;
    let inner = Arc::clone(&shared);
    let html = in_turn(&shared, &place, sent.deadline, move |run| {
        let model = inner.model();
        let dataset = model.detector.admit(sent.dataset(&inner, run)?)?;
        let options = ReportOptions::default()
            .with_level(sent.asked.level)
            .with_decision(sent.asked.decision)
            .with_normal(sent.asked.normal.clone())
            .with_explain(sent.asked.explain.unwrap_or(EXPLAIN).min(EXPLAIN));
        let report = Report::new(&model.detector, &dataset, &options, run).map_err(named(&dataset))?;
        inner.metrics.scored(report.scored.findings.len(), report.scored.flagged());
        model.watch(report.scored.findings.iter().map(|one| one.finding.score));
        Ok(report.to_html())
    })
    .await?;
    Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response())
}
