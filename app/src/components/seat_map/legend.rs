//! What the seats look like, in words. It comes with the map, because only the plan tells which kinds of seats there are.

use super::render::escape;
use crate::{
    domain::plan::{Plan, SeatKind},
    i18n::{Lang, show::ShowText},
};

/// Writes a line for each state, and for each kind of seat that the hall has.
pub fn write(html: &mut String, plan: &Plan, lang: Lang) {
    let text = ShowText::of(lang);
    html.push_str("<ul class=map__legend aria-label=\"");
    escape(html, text.legend);
    html.push_str("\">");
    for (look, word) in [
        ("available", text.free),
        ("mine", text.yours),
        ("locked", text.held_by_others),
        ("sold", text.sold),
        ("blocked", text.withheld),
    ] {
        line(html, look, word);
    }
    for (kind, look) in [
        (SeatKind::Wheelchair, "wheelchair"),
        (SeatKind::Companion, "companion"),
        (SeatKind::Couple, "couple"),
    ] {
        if plan.seats.iter().any(|seat| seat.kind == kind) {
            line(html, look, text.kind(kind).unwrap_or_default());
        }
    }
    html.push_str("</ul>");
}

fn line(html: &mut String, look: &str, word: &str) {
    html.push_str("<li data-look=");
    html.push_str(look);
    html.push_str("><i aria-hidden=true></i>");
    escape(html, word);
    html.push_str("</li>");
}
