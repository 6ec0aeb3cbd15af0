//! The parts of an order's page that the server writes, anew whenever the order has changed.

use serde::{Deserialize, Serialize};

/// Names the parts, in the order of the page; elements say by `data-part` which one is in them.
pub const NAMES: [&str; 6] = ["steps", STORY, "facts", "refunds", "next", "told"];
/// What the order's stage is, in words that are said aloud.
pub const STORY: &str = "story";

/// The HTML of the parts. It crosses to the browser as the page itself and not once more beside it, so the island in the browser
/// is given empty ones and leaves those of the page alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The HTML of each, in the order of their names.
    #[serde(skip)]
    pub html: [String; 6],
}

/// Puts other words in the place of the story.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn tell(words: &str) {
    if let Some(story) = part_of(&leptos::prelude::document(), STORY) {
        story.set_inner_html(&format!("<h1>{words}</h1>"));
    }
}

/// The server tells its story once.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub fn tell(_words: &str) {}

/// Puts the parts of a newer page, given as its whole HTML, in the place of those that say something else, and its title too. Says
/// whether it is such a page.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn renew(page: &str) -> bool {
    use web_sys::{DomParser, SupportedType};
    let here = leptos::prelude::document();
    let parsed =
        DomParser::new().and_then(|parser| parser.parse_from_string(page, SupportedType::TextHtml));
    let Ok(newer) = parsed else { return false };
    for name in NAMES {
        let (Some(old), Some(new)) = (part_of(&here, name), part_of(&newer, name)) else {
            return false;
        };
        let new = new.inner_html();
        if old.inner_html() != new {
            old.set_inner_html(&new);
        }
    }
    here.set_title(&newer.title());
    true
}

/// The server writes a newer page by itself.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub fn renew(_page: &str) -> bool {
    false
}

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
fn part_of(page: &web_sys::Document, name: &str) -> Option<web_sys::Element> {
    page.query_selector(&format!("[data-part={name}]"))
        .ok()
        .flatten()
}
