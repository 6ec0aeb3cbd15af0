//! The page of one show: its seats, and the form that holds them.
//!
//! The form works without JavaScript: the seats are its checkboxes, a refusal comes back in the page's address.

#[cfg(feature = "ssr")]
mod page;

#[cfg(feature = "ssr")]
pub use page::ShowPage;

use super::mark_hydrated;
use crate::{
    api::orders::{MySeats, Place},
    components::{
        address::{encode, go_to, reload_when_kept},
        attendee_choice::{People, write_named},
        choose_for_me::BEST_FORM,
        handed::Handed,
        offer::Offer,
        post::{Post, PostForm},
        posted::Posted,
        seat_map::{MapFacts, MapState, Notices, Panel, SeatMap, server_clock, write_choice},
        standing_zones::standing_form,
        submission_key::new_key,
    },
    domain::{
        attendee::Attendee,
        catalogue::{SaleState, Zone},
        hold::Refusal,
        ids::{AttendeeId, SeatIndex, ShowId, ZoneId},
        standing::ZoneKind,
        time::Timestamp,
    },
    error::AppError,
    i18n::{provide_lang, show::ShowText, use_lang},
};
use leptos::{prelude::*, server_fn::ServerFn};
use serde::{Deserialize, Serialize};

/// The map as the server wrote it. It crosses to the browser as part of the page and not once more beside it, so there it is
/// empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MapHtml {
    #[serde(skip)]
    html: String,
}

/// What the server hands to the island.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scene {
    /// What is on offer.
    offer: Offer,
    /// The reader's own seats.
    mine: MySeats,
    /// Seats that the address asks for.
    wanted: Vec<SeatIndex>,
    /// Names of those among them that are not to be had.
    lost: Vec<String>,
    /// Everybody in the reader's list; none when nobody is signed in or the show does not ask.
    people: Option<Vec<Attendee>>,
    /// Those of them whom the address names.
    named: Vec<AttendeeId>,
    /// What the address says of a form of the page.
    posted: Option<Posted>,
}

/// Everything of a show that changes while it is looked at.
#[island]
pub fn Shown(
    /// What the page begins with.
    scene: Handed<Scene>,
    /// The map.
    html: MapHtml,
) -> impl IntoView {
    let Scene {
        offer: show,
        mine,
        wanted,
        lost,
        people,
        named,
        posted,
    } = scene.0;
    provide_lang();
    provide_context(posted);
    let text = ShowText::of(use_lang());
    let people = People::new(people, &named);
    let place = Post::to(Place::PATH);
    let state = MapState::new(&show.zones, lost);
    let now = server_clock(&show);
    let sale = show.sale;
    let is_open = Signal::derive(move || is_open(sale, now.get()));
    let facts = facts(&show, &mine, &wanted);
    let here = here(show.id, state, people, wanted);
    let key = RwSignal::new(new_key());
    let forms = view! { <OtherForms zones=show.zones.clone() show_id=show.id place key /> };
    let show_id = show.id;
    follow_answers(place, state, key, here);
    reload_when_kept();
    mark_hydrated();
    let show = StoredValue::new(show);
    view! {
        <Notices show state mine people error=place.error now />
        <PostForm post=place class="show__form" autocomplete="off">
            <Wish show_id key />
            <fieldset class="show__map" aria-label=text.seat_map>
                <SeatMap html=html.html facts state />
            </fieldset>
            <Panel show state people here is_open is_pending=place.pending />
        </PostForm>
        {forms}
    }
}

/// What the map is told of the show.
fn facts(show: &Offer, mine: &MySeats, wanted: &[SeatIndex]) -> MapFacts {
    MapFacts {
        show_id: show.id,
        zones: show.zones.clone(),
        limit: show.limit,
        mine: mine.seats.clone(),
        wanted: wanted.to_vec(),
    }
}

/// Which show, and the name of the next submission.
#[component]
fn Wish(show_id: ShowId, key: RwSignal<String>) -> impl IntoView {
    view! {
        <input type="hidden" name="show_id" value=show_id.to_string() />
        <input type="hidden" name="idempotency_key" value=key.get_untracked() prop:value=key />
    }
}

/// The forms that controls of the panel belong to: one for buying without choosing, and one for each standing zone.
#[component]
fn OtherForms(
    zones: Vec<Zone>,
    show_id: ShowId,
    place: Post,
    key: RwSignal<String>,
) -> impl IntoView {
    let standing = zones
        .into_iter()
        .filter(|zone| zone.kind == ZoneKind::Standing)
        .map(|zone| (standing_form(zone.id), Some(zone.id)));
    let form = |(id, zone): (String, Option<ZoneId>)| {
        view! {
            <PostForm post=place id autocomplete="off">
                <Wish show_id key />
                {zone.map(|zone| view! { <input type="hidden" name="zone" value=zone.to_string() /> })}
            </PostForm>
        }
    };
    let best = (BEST_FORM.to_owned(), None);
    std::iter::once(best)
        .chain(standing)
        .map(form)
        .collect_view()
}

/// Whether wishes can be sent: a sold out show may get seats back, and the server decides in any case.
fn is_open(sale: SaleState, now: Timestamp) -> bool {
    match sale {
        SaleState::OnSale | SaleState::SoldOut => true,
        SaleState::NotYet { opens_at } => now >= opens_at,
        SaleState::Ended | SaleState::Withdrawn => false,
    }
}

/// What follows from a wish's answer: somebody who must sign in is led there and back, what is taken leaves the choice, and
/// the next wish gets a name of its own.
///
/// After any failure but a refusal nobody knows whether the wish was granted. It keeps its name then, so that sending it
/// again can't place a second order.
fn follow_answers(place: Post, state: MapState, key: RwSignal<String>, here: Signal<String>) {
    Effect::new(move |is_begun: Option<()>| {
        let is_pending = place.pending.get();
        let error = place.error.get();
        let is_granted = place.answer.with(Option::is_some);
        state.is_placing.set(is_pending || is_granted);
        // The error that a page begins with is of a wish that was sent from another one.
        if is_pending || is_begun.is_none() {
            return;
        }
        match error {
            Some(AppError::Unauthenticated) => {
                let back = encode(&here.get_untracked());
                go_to(&format!("/login?next={back}"));
            }
            Some(AppError::Refused { refusal }) => {
                key.set(new_key());
                state.refused.set(Some(match refusal {
                    Refusal::SeatsTaken { seats } => seats,
                    _ => Vec::new(),
                }));
            }
            _ => {}
        }
    });
}

/// The page's address with everything that is chosen, to come back to. Before the browser has taken over the map, that is
/// what the address asked for.
fn here(
    show_id: ShowId,
    state: MapState,
    people: People,
    wanted: Vec<SeatIndex>,
) -> Signal<String> {
    Signal::derive(move || {
        let chosen: Vec<SeatIndex> = state
            .chosen
            .with(|chosen| chosen.iter().map(|seat| seat.seat).collect());
        let seats = if chosen.is_empty() { &wanted } else { &chosen };
        let mut address = format!(
            "/shows/{show_id}?seats={}",
            write_choice(seats.iter().copied())
        );
        let named = people.named();
        if !named.is_empty() {
            address.push_str("&for=");
            address.push_str(&write_named(&named));
        }
        address
    })
}
