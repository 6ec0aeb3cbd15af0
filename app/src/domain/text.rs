//! Languages, and texts that exist in each of them.

use serde::{Deserialize, Serialize};

/// A language the pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Lang {
    /// English.
    #[default]
    #[serde(rename = "en")]
    En,
    /// Simplified Chinese as written in mainland China.
    #[serde(rename = "zh-CN")]
    ZhCn,
}

impl Lang {
    /// The BCP 47 tag, as in `<html lang>` and the language cookie.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhCn => "zh-CN",
        }
    }

    /// The language that a tag names; any Chinese is Simplified Chinese here.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
        match primary.as_str() {
            "en" => Some(Self::En),
            "zh" => Some(Self::ZhCn),
            _ => None,
        }
    }

    /// The first language of an `Accept-Language` header that the pages exist in, by descending quality.
    #[must_use]
    pub fn from_accept_language(header: &str) -> Option<Self> {
        let mut best: Option<(f32, Self)> = None;
        for part in header.split(',').take(20) {
            let mut pieces = part.split(';');
            let Some(lang) = pieces.next().and_then(Self::from_tag) else {
                continue;
            };
            let quality = pieces
                .find_map(|piece| piece.trim().strip_prefix("q=")?.parse::<f32>().ok())
                .unwrap_or(1.0);
            if quality > 0.0 && best.is_none_or(|(known, _)| quality > known) {
                best = Some((quality, lang));
            }
        }
        best.map(|(_, lang)| lang)
    }
}

/// A text in every language of the pages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalText {
    /// English.
    pub en: String,
    /// Simplified Chinese.
    #[serde(rename = "zh-CN")]
    pub zh_cn: String,
}

impl LocalText {
    /// The text in one language.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::ZhCn => &self.zh_cn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browsers_preferred_language_wins_by_quality() {
        let from = Lang::from_accept_language;
        assert_eq!(from("zh-CN,zh;q=0.9,en;q=0.8"), Some(Lang::ZhCn));
        assert_eq!(from("de, en;q=0.3, zh;q=0.7"), Some(Lang::ZhCn));
        assert_eq!(from("en-GB"), Some(Lang::En));
        assert_eq!(from("zh;q=0, en;q=0.1"), Some(Lang::En));
        assert_eq!(from("fr;q=1, de"), None);
    }
}
