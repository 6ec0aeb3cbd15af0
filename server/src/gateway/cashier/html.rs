//! Text into HTML.

use std::fmt;

/// A text that is written with the characters escaped that mean something in HTML, in content and in quoted attributes.
pub(super) struct Text<'a>(pub &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let text = Text(r#"<b a="1" b='2'>&amp; 两张票</b>"#).to_string();
        assert_eq!(
            text,
            "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp; 两张票&lt;/b&gt;"
        );
    }
}
