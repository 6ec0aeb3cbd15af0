//! Whom the tickets are for: a list of people to tick, within the form that orders.

use crate::{
    components::address::encode,
    domain::{
        attendee::{ATTENDEES_MAX, Attendee},
        ids::AttendeeId,
    },
    i18n::{
        attendees::{AttendeesText, document_kind, named_count},
        use_lang,
    },
};
use leptos::{ev, prelude::*};

/// The people a reader can name, and those who are named. Copies share it.
#[derive(Debug, Clone, Copy)]
pub struct People {
    /// Everybody in the reader's list; none when nobody is signed in or the list could not be read.
    listed: StoredValue<Option<Vec<Attendee>>>,
    /// Who is ticked.
    named: RwSignal<Vec<AttendeeId>>,
}

impl People {
    /// A list, with those ticked whom the address asks for.
    #[must_use]
    pub fn new(listed: Option<Vec<Attendee>>, wanted: &[AttendeeId]) -> Self {
        let ids = listed.iter().flatten().map(|person| person.id);
        let named = ids.filter(|id| wanted.contains(id)).collect();
        Self {
            listed: StoredValue::new(listed),
            named: RwSignal::new(named),
        }
    }

    /// Those who are ticked.
    #[must_use]
    pub fn named(self) -> Vec<AttendeeId> {
        self.named.get()
    }

    /// The name of an entry.
    #[must_use]
    pub fn name_of(self, id: AttendeeId) -> Option<String> {
        self.listed.with_value(|listed| {
            let mut people = listed.iter().flatten();
            let person = people.find(|person| person.id == id)?;
            Some(person.name.clone())
        })
    }

    fn is_named(self, id: AttendeeId) -> bool {
        self.named.with(|named| named.contains(&id))
    }

    fn tick(self, id: AttendeeId, is_named: bool) {
        self.named.update(|named| {
            named.retain(|other| *other != id);
            if is_named {
                named.push(id);
            }
        });
    }
}

/// The people that an address names (`?for=3.7`), each once, at most a list's worth. What is no number is left out.
#[must_use]
pub fn read_named(text: &str) -> Vec<AttendeeId> {
    let mut named = Vec::new();
    for part in text.split('.').take(ATTENDEES_MAX) {
        if let Ok(id) = part.parse::<AttendeeId>()
            && !named.contains(&id)
        {
            named.push(id);
        }
    }
    named
}

/// Writes what [`read_named`] reads.
#[must_use]
pub fn write_named(named: &[AttendeeId]) -> String {
    let ids: Vec<String> = named.iter().map(ToString::to_string).collect();
    ids.join(".")
}

/// The question, the people to tick, and the way to add somebody.
#[component]
pub fn AttendeeChoice(
    /// Who can be named.
    people: People,
    /// How many seats are chosen.
    #[prop(into)]
    seats: Signal<usize>,
    /// The address of this page with everything that is chosen, to come back to.
    #[prop(into)]
    here: Signal<String>,
) -> impl IntoView {
    let text = AttendeesText::of(use_lang());
    let add = move || format!("/account?next={}#people", encode(&here.get()));
    let listed = people.listed.get_value();
    match listed {
        None => view! { <p class="attendees notice">{text.sign_in_first}</p> }.into_any(),
        Some(listed) if listed.is_empty() => view! {
            <div class="attendees notice">
                <p>{text.add_first}</p>
                <a class="btn quiet" href=add>{text.add_now}</a>
            </div>
        }
        .into_any(),
        Some(listed) => view! {
            <fieldset class="attendees">
                <legend>{text.for_whom}</legend>
                <p class="soft small">{text.one_each} <NamedCount people seats /></p>
                <Ticks listed people form=None />
                <a class="attendees__add" href=add>{text.add_another}</a>
            </fieldset>
        }
        .into_any(),
    }
}

/// The same people for another form of the page. A browser that runs scripts keeps both alike and shows only the first;
/// without scripts this is the form's own list.
#[component]
pub fn AttendeeChoiceOfForm(
    /// Who can be named.
    people: People,
    /// The form's id.
    #[prop(into)]
    form: String,
) -> impl IntoView {
    let text = AttendeesText::of(use_lang());
    let listed = people.listed.get_value().unwrap_or_default();
    (!listed.is_empty()).then(|| {
        view! {
            <fieldset class="attendees only-no-script">
                <legend>{text.for_whom}</legend>
                <Ticks listed people form=Some(form) />
            </fieldset>
        }
    })
}

/// How many are named of how many that must be, as soon as seats are chosen.
#[component]
fn NamedCount(people: People, seats: Signal<usize>) -> impl IntoView {
    let lang = use_lang();
    let count = move || {
        let seats = seats.get();
        let named = people.named.with(Vec::len);
        (seats > 0).then(|| named_count(lang, named, seats))
    };
    view! { <span class="attendees__count num only-script" role="status">{count}</span> }
}

#[component]
fn Ticks(listed: Vec<Attendee>, people: People, form: Option<String>) -> impl IntoView {
    let ticks = listed.into_iter().map(|person| {
        view! { <Tick person people form=form.clone() /> }
    });
    view! { <ul class="attendees__list">{ticks.collect_view()}</ul> }
}

#[component]
fn Tick(person: Attendee, people: People, form: Option<String>) -> impl IntoView {
    let id = person.id;
    let document = format!(
        "{} {}",
        document_kind(use_lang(), person.document_kind),
        person.masked()
    );
    let ticked = move |event: ev::Event| people.tick(id, event_target_checked(&event));
    view! {
        <li>
            <label class="attendee">
                <input
                    type="checkbox"
                    name="attendees[]"
                    value=id.to_string()
                    form=form
                    checked=people.named.with_untracked(|named| named.contains(&id))
                    prop:checked=move || people.is_named(id)
                    on:change=ticked
                />
                <span class="attendee__name">{person.name}</span>
                <span class="soft small">{document}</span>
            </label>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_are_named_come_back_from_an_address_and_one_made_by_hand_does_no_harm() {
        let named = [AttendeeId(7), AttendeeId(3)];
        assert_eq!(read_named(&write_named(&named)), named);
        assert_eq!(read_named("7.x.7..-1.3"), named);
        assert_eq!(read_named(&"9.".repeat(1_000)), [AttendeeId(9)]);
    }
}
