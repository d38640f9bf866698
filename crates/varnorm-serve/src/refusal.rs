//! [`Refusal`]: why a request was not done, as a status and a sentence.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A status from 400 on, and the sentence that the program would print.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into() }
    }
}

impl From<varnorm::Error> for Refusal {
    /// The library's errors here are about what the client sent.
    fn from(error: varnorm::Error) -> Self {
        match error {
            varnorm::Error::Cancelled => late(),
            varnorm::Error::Limit { .. } | varnorm::Error::Memory { .. } => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string())
            }
            error => Self::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
        }
    }
}

/// The request's time is over.
pub(crate) fn late() -> Refusal {
    Refusal::new(
        StatusCode::REQUEST_TIMEOUT,
        "this takes longer than the server allows (its time limit); send fewer or shorter series",
    )
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status, json!({ "error": self.sentence }).to_string().into());
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// JSON with the headers that every answer has.
pub(crate) fn json_response(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
