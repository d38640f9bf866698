//! Who may ask: the token, and requests that a page of somebody else's makes a browser send.

use axum::http::{HeaderMap, StatusCode, header};
use subtle::ConstantTimeEq;

use crate::refusal::Refusal;

/// Refuses what has not the token; without one, what does not come from this machine's own pages.
pub(crate) fn admit(token: Option<&str>, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    // A browser names the page that asks: another site's is told by its origin.
    if let Some(origin) = text(header::ORIGIN) {
        let asked = origin.split_once("://").map_or(origin, |(_, rest)| rest);
        if asked != host {
            return Err(Refusal::new(StatusCode::FORBIDDEN, "pages of other sites may not ask this server"));
        }
    }
    match token {
        Some(token) => {
            let sent = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
            match sent {
                Some(sent) if same(sent.as_bytes(), token.as_bytes()) => Ok(()),
                _ => Err(Refusal::new(
                    StatusCode::UNAUTHORIZED,
                    "this server wants its token, as the header Authorization: Bearer TOKEN",
                )),
            }
        }
        // A name that somebody made to point at this machine must not be enough.
        None if is_local(host) => Ok(()),
        None => Err(Refusal::new(StatusCode::FORBIDDEN, "ask this server as localhost or by its address")),
    }
}

/// Whether a host, with or without a port, is this machine; nothing may stand around them.
fn is_local(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => (name, port),
        None => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    let digits = |port: &str| port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    if !port.is_empty() && !port.strip_prefix(':').is_some_and(digits) {
        return false;
    }
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Takes a time that depends on the lengths alone, so that nobody can guess a token letter by letter.
fn same(sent: &[u8], token: &[u8]) -> bool {
    sent.ct_eq(token).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn tokens_are_compared_whole() {
        for (sent, fits) in
            [("abcd", true), ("abce", false), ("abc", false), ("abcdabcd", false), ("", false)]
        {
            assert_eq!(same(sent.as_bytes(), b"abcd"), fits, "{sent}");
        }
    }

    #[test]
    fn names_that_point_here_and_pages_of_others_are_refused() {
        for (host, fits) in [
            ("localhost:8377", true),
            ("127.0.0.1", true),
            ("[::1]:80", true),
            ("localhost:", true),
            ("evil.example:8377", false),
            ("[::1].evil", false),
            ("[::1]evil:80", false),
            ("[::1", false),
            ("localhost:80.evil", false),
            ("localhost:80:80", false),
            ("127.0.0.1.evil", false),
            ("127.0.0.1@evil", false),
            ("localhost ", false),
            ("", false),
        ] {
            assert_eq!(admit(None, &headers(&[("host", host)])).is_ok(), fits, "{host}");
        }
        let host = ("host", "localhost:1");
        assert!(admit(None, &headers(&[host, ("origin", "http://localhost:1")])).is_ok());
        assert!(admit(None, &headers(&[host, ("origin", "http://evil.example")])).is_err());
        assert!(admit(None, &headers(&[host, ("origin", "null")])).is_err());
        let token = Some("0123456789abcdef");
        let with = |value| admit(token, &headers(&[("host", "any.example"), ("authorization", value)]));
        assert!(with("Bearer 0123456789abcdef").is_ok());
        assert_eq!(with("Bearer 0123456789abcdeg").unwrap_err().status, StatusCode::UNAUTHORIZED);
        assert!(with("Basic 0123456789abcdef").is_err());
    }
}
