//! The page: a place to drop a file, which then shows the report of it.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::IntoResponse;
use varnorm::internal::page::{SCRIPT, STYLE, content_security_policy};

/// The description of the API.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");
const PAGE: &str = include_str!("page.html");
const DROP_STYLE: &str = include_str!("page.css");
const DROP_SCRIPT: &str = include_str!("page.js");

/// The report's own style and script, and those of the place to drop a file.
static WHOLE: LazyLock<(String, String)> = LazyLock::new(|| {
    let page = PAGE
        .replace("{{style}}", STYLE)
        .replace("{{drop_style}}", DROP_STYLE)
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{script}}", SCRIPT)
        .replace("{{drop_script}}", DROP_SCRIPT);
    (page, content_security_policy(&[SCRIPT, DROP_SCRIPT], &[STYLE, DROP_STYLE], "'self'"))
});

/// The page, with a policy that lets nothing else in.
pub(crate) async fn page() -> impl IntoResponse {
    let (page, policy) = &*WHOLE;
    let policy = format!("{policy}; frame-ancestors 'none'");
    (
        [
            (header::CONTENT_TYPE, "text/html; charset=utf-8".to_string()),
            (header::CONTENT_SECURITY_POLICY, policy),
        ],
        page.as_str(),
    )
}
