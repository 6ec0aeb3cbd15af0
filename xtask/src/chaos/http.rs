//! A customer's connection to a server on this machine: forms, JSON answers, cookies, and nothing more.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

const CONNECT_MS: u64 = 1_000;
/// Longer than the server lets any request take.
const ANSWER_MS: u64 = 20_000;
const ANSWER_BYTES_MAX: u64 = 4 << 20;

/// Somebody with cookies.
#[derive(Clone, Debug, Default)]
pub struct Client {
    cookies: BTreeMap<String, String>,
}

/// What a server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
    /// The body as it came: not all bodies are text.
    pub bytes: Vec<u8>,
    cookies: Vec<(String, String)>,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

impl Client {
    /// # Errors
    /// When the server isn't there or its answer does not arrive whole.
    pub fn get(&mut self, port: u16, path: &str) -> Result<Answer> {
        self.exchange(port, &format!("GET {path}"), None)
    }

    /// Posts a form.
    ///
    /// # Errors
    /// When the server isn't there or its answer does not arrive whole; it may have done what was asked then.
    pub fn post(&mut self, port: u16, path: &str, form: &[(&str, &str)]) -> Result<Answer> {
        let pairs: Vec<String> = form
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
            .collect();
        self.exchange(port, &format!("POST {path}"), Some(&pairs.join("&")))
    }

    fn exchange(&mut self, port: u16, line: &str, form: Option<&str>) -> Result<Answer> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(CONNECT_MS))?;
        stream.set_read_timeout(Some(Duration::from_millis(ANSWER_MS)))?;
        stream.set_nodelay(true)?;
        // The older version: its answers come in one piece, and the connection ends with them.
        let mut request =
            format!("{line} HTTP/1.0\r\nHost: localhost:{port}\r\nAccept: application/json\r\n");
        if !self.cookies.is_empty() {
            let cookies: Vec<String> = self
                .cookies
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            request.push_str(&format!("Cookie: {}\r\n", cookies.join("; ")));
        }
        if let Some(form) = form {
            request.push_str(&format!(
                "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                form.len()
            ));
        }
        request.push_str("\r\n");
        request.push_str(form.unwrap_or_default());
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
        let answer = parse(&bytes)
            .ok_or_else(|| Error::new(ErrorKind::UnexpectedEof, "the answer is not whole"))?;
        self.cookies.extend(answer.cookies.iter().cloned());
        Ok(answer)
    }
}

/// Reads an answer. None when it is cut off, as by a server that died.
fn parse(answer: &[u8]) -> Option<Answer> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let body = &answer[end + 4..];
    let head = String::from_utf8_lossy(&answer[..end]);
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let mut cookies = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let length: usize = value.parse().ok()?;
            if body.len() < length {
                return None;
            }
        }
        if name.eq_ignore_ascii_case("set-cookie") {
            let pair = value.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=')?;
            cookies.push((name.to_owned(), value.to_owned()));
        }
    }
    Some(Answer {
        status,
        body: String::from_utf8_lossy(body).into_owned(),
        bytes: body.to_vec(),
        cookies,
    })
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_its_cookies() {
        let text = "HTTP/1.1 201 Created\r\nSet-Cookie: session=abc; HttpOnly\r\nContent-Length: 2\r\n\r\n{}";
        let answer = parse(text.as_bytes()).unwrap();
        assert_eq!(answer.status, 201);
        assert_eq!(answer.cookies, [("session".to_owned(), "abc".to_owned())]);
        assert!(answer.is_success() && answer.json().is_object());
    }

    #[test]
    fn an_answer_that_is_cut_off_is_none() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_body_that_is_no_text_is_kept_as_it_came() {
        let answer = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\x00\xc3").unwrap();
        assert_eq!(answer.bytes, b"\xff\x00\xc3");
    }

    #[test]
    fn a_form_is_encoded() {
        assert_eq!(encoded("seats[]"), "seats%5B%5D");
        assert_eq!(encoded("a b+c"), "a%20b%2Bc");
    }
}
