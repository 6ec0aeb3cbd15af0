//! Texts and numbers as HTML.

use std::fmt::Write;

/// Text as a part of HTML, in an element or in a quoted attribute.
pub fn escape(html: &mut String, text: &str) {
    let mut written = 0;
    for (at, byte) in text.bytes().enumerate() {
        let entity = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        html.push_str(&text[written..at]);
        html.push_str(entity);
        written = at + 1;
    }
    html.push_str(&text[written..]);
}

/// A number with at most two decimals and no zeros at its end.
pub fn number(html: &mut String, value: f64) {
    let start = html.len();
    // Writing to a string does not fail.
    let _ = write!(html, "{value:.2}");
    let kept = html[start..]
        .trim_end_matches('0')
        .trim_end_matches('.')
        .len();
    html.truncate(start + kept);
}
