//! The page of one show: its seats, and the form that holds them.
//!
//! The form works without JavaScript: the seats are its checkboxes, a refusal comes back in the page's address.

use crate::{
    api::{self, orders::MySeats, orders::Place},
    components::{
        attendee_choice::{People, read_named, write_named},
        choose_for_me::BEST_FORM,
        header::encode,
        posted_error::posted_error,
        problem::Problem,
        seat_map::{
            MapFacts, MapState, Notices, Panel, SeatMap, read_choice, server_clock, write_choice,
        },
        standing_zones::standing_form,
        submission_key::new_key,
        venue_time::VenueTimeText,
    },
    domain::{
        catalogue::{SaleState, ShowPage as ShowFacts},
        hold::Refusal,
        ids::{SeatIndex, ShowId, ZoneId},
        standing::ZoneKind,
        time::Timestamp,
    },
    error::{AppError, Thing},
    i18n::{show, show::ShowText, time, use_lang},
};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_params_map, use_query_map},
};

/// One show with its seat map.
#[component]
pub fn ShowPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get_str("id")?.parse::<ShowId>().ok()));
    let query = use_query_map();
    let wanted = move || {
        query.with_untracked(|query| read_choice(query.get_str("seats").unwrap_or_default()))
    };
    let facts = Resource::new_blocking(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::catalogue::show(id).await,
                None => Err(AppError::NotFound { what: Thing::Show }),
            }
        },
    );
    let mine = Resource::new_blocking(
        move || id.get(),
        |id| async move {
            match id {
                Some(id) => api::orders::mine(id).await.unwrap_or_default(),
                None => MySeats::default(),
            }
        },
    );
    // Whom tickets can be for, where the show wants to know.
    let listed = Resource::new_blocking(
        move || id.get(),
        move |_| async move {
            match facts.await {
                Ok(show) if show.attendees_required => api::attendees::attendees().await.ok(),
                _ => None,
            }
        },
    );
    let named =
        move || query.with_untracked(|query| read_named(query.get_str("for").unwrap_or_default()));
    let lost = Resource::new_blocking(
        move || (id.get(), wanted()),
        move |(id, wanted)| async move {
            match id.filter(|_| !wanted.is_empty()) {
                Some(id) => server_part::lost_places(id, wanted).await,
                None => Vec::new(),
            }
        },
    );
    let place = ServerAction::<Place>::new();
    let error = posted_error(place);
    view! {
        <Suspense fallback=ShowSkeleton>
            {move || Suspend::new(async move {
                let show = match facts.await {
                    Ok(show) => show,
                    Err(error) => return view! { <Problem error /> }.into_any(),
                };
                let own = mine.await;
                if show.sale.is_over() {
                    return view! { <Over show mine=own error /> }.into_any();
                }
                let lost = lost.await;
                let html = server_part::map_html(&show, &own, wanted()).await;
                let people = People::new(listed.await, &named());
                view! { <Shown show mine=own wanted=wanted() lost html people place error /> }.into_any()
            })}
        </Suspense>
    }
}

/// The page of a show that is not sold any more: without a map, whose seats nobody could have.
#[component]
fn Over(show: ShowFacts, mine: MySeats, error: Signal<Option<AppError>>) -> impl IntoView {
    let state = MapState::new(&show.zones, Vec::new());
    let now = server_clock(&show);
    let people = People::new(None, &[]);
    let show = StoredValue::new(show);
    view! {
        <div class="show">
            <Heading show />
            <Notices show state mine people error now />
        </div>
    }
}

/// The page once everything is known.
#[component]
fn Shown(
    show: ShowFacts,
    mine: MySeats,
    wanted: Vec<SeatIndex>,
    lost: Vec<String>,
    html: String,
    people: People,
    place: ServerAction<Place>,
    error: Signal<Option<AppError>>,
) -> impl IntoView {
    let text = ShowText::of(use_lang());
    let state = MapState::new(&show.zones, lost);
    let now = server_clock(&show);
    let sale = show.sale;
    let is_open = Signal::derive(move || is_open(sale, now.get()));
    let facts = MapFacts {
        show_id: show.id,
        zones: show.zones.clone(),
        limit: show.limit,
        mine: mine.seats.clone(),
        wanted: wanted.clone(),
    };
    let here = here(show.id, state, people, wanted);
    let key = RwSignal::new(new_key());
    let show_id = show.id;
    let standing: Vec<ZoneId> = show
        .zones
        .iter()
        .filter(|zone| zone.kind == ZoneKind::Standing)
        .map(|zone| zone.id)
        .collect();
    follow_answers(place, state, key, here);
    let show = StoredValue::new(show);
    view! {
        <div class="show">
            <Heading show />
            <Notices show state mine people error now />
            <ActionForm action=place attr:class="show__form" attr:autocomplete="off">
                <input type="hidden" name="show_id" value=show_id.to_string() />
                <input type="hidden" name="idempotency_key" value=key.get_untracked() prop:value=key />
                <fieldset class="show__map" aria-label=text.seat_map>
                    <SeatMap html facts state />
                </fieldset>
                <Panel show state people here is_open is_pending=place.pending() />
            </ActionForm>
            // The panel's controls for buying without choosing belong to this form.
            <ActionForm action=place attr:id=BEST_FORM attr:autocomplete="off">
                <input type="hidden" name="show_id" value=show_id.to_string() />
                <input type="hidden" name="idempotency_key" value=key.get_untracked() prop:value=key />
            </ActionForm>
            // And those of a standing zone to one of these.
            {standing
                .into_iter()
                .map(|zone| {
                    view! {
                        <ActionForm action=place attr:id=standing_form(zone) attr:autocomplete="off">
                            <input type="hidden" name="show_id" value=show_id.to_string() />
                            <input type="hidden" name="zone" value=zone.to_string() />
                            <input type="hidden" name="idempotency_key" value=key.get_untracked() prop:value=key />
                        </ActionForm>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// Where and when, the title, and the facts.
#[component]
fn Heading(show: StoredValue<ShowFacts>) -> impl IntoView {
    let lang = use_lang();
    let show = show.get_value();
    let (hall, venue, city) = (
        show.hall.get(lang),
        show.venue.get(lang),
        show.city.get(lang),
    );
    let places = if hall == venue {
        vec![venue, city]
    } else {
        vec![hall, venue, city]
    };
    let title = show.event.title.get(lang).to_owned();
    let language = show.event.language.get(lang).to_owned();
    view! {
        <Title text=title.clone() />
        <header class="show__head">
            <p class="soft small">{show::when_and_where(lang, &show.starts, show.now, &places)}</p>
            <h1>
                <a href=format!("/events/{}", show.event.id)>{title}</a>
            </h1>
            <p class="show__facts">
                <VenueTimeText time=show.starts.clone() />
                <span>{time::minutes(lang, show.event.duration_min)}</span>
                {(!language.is_empty()).then(|| view! { <span>{language}</span> })}
            </p>
        </header>
    }
}

/// What stands in the page's place while a browser that came here without loading it waits.
#[component]
fn ShowSkeleton() -> impl IntoView {
    let text = ShowText::of(use_lang());
    view! {
        <div class="show" aria-busy="true">
            <div class="show__head">
                <p class="skeleton loading__line" aria-hidden="true"></p>
                <p class="skeleton loading__title" aria-hidden="true"></p>
                <p class="skeleton loading__line" aria-hidden="true"></p>
            </div>
            <div class="show__form">
                <div class="show__map">
                    <div class="map map--waiting skeleton"></div>
                </div>
                <div class="panel card">
                    <p class="loading__word soft" role="status">{text.loading_map}</p>
                    <p class="loading__out">
                        <a href="" rel="external">{text.try_again}</a>
                    </p>
                </div>
            </div>
        </div>
    }
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
fn follow_answers(
    place: ServerAction<Place>,
    state: MapState,
    key: RwSignal<String>,
    here: Signal<String>,
) {
    let navigate = use_navigate();
    Effect::new(move |_| {
        let is_pending = place.pending().get();
        let answer = place.value().get();
        state
            .is_placing
            .set(is_pending || matches!(answer, Some(Ok(_))));
        if is_pending {
            return;
        }
        match answer {
            Some(Err(AppError::Unauthenticated)) => {
                let back = encode(&here.get_untracked());
                navigate(&format!("/login?next={back}"), NavigateOptions::default());
            }
            Some(Err(AppError::Refused { refusal })) => {
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

/// What only the server can do, and the browser finds in the page.
#[cfg(feature = "ssr")]
mod server_part {
    use super::{MySeats, SeatIndex, ShowFacts, ShowId};
    use crate::{
        components::seat_map::render::{self, Own},
        i18n::use_lang,
        ports::Ports,
    };
    use leptos::prelude::expect_context;

    /// The map; empty when it can't be had, which the browser then tries again.
    pub async fn map_html(show: &ShowFacts, mine: &MySeats, wanted: Vec<SeatIndex>) -> String {
        let (ports, lang) = (expect_context::<Ports>(), use_lang());
        let own = Own {
            chosen: wanted,
            held: mine.seats.clone(),
        };
        match ports.catalogue.show_map(show.id).await {
            Ok(map) => render::seats_html(&map, show, lang, &own),
            Err(_) => String::new(),
        }
    }

    /// The names of seats that were asked for and are not to be had.
    pub async fn lost_places(id: ShowId, wanted: Vec<SeatIndex>) -> Vec<String> {
        let (ports, lang) = (expect_context::<Ports>(), use_lang());
        let held = crate::api::orders::mine(id).await.unwrap_or_default().seats;
        match ports.catalogue.show_map(id).await {
            Ok(map) => render::places(
                &map,
                lang,
                &render::lost(
                    &map,
                    &Own {
                        chosen: wanted,
                        held,
                    },
                ),
            ),
            Err(_) => Vec::new(),
        }
    }
}

#[cfg(not(feature = "ssr"))]
mod server_part {
    use super::{MySeats, SeatIndex, ShowFacts, ShowId};

    pub async fn map_html(_show: &ShowFacts, _mine: &MySeats, _wanted: Vec<SeatIndex>) -> String {
        String::new()
    }

    pub async fn lost_places(_id: ShowId, _wanted: Vec<SeatIndex>) -> Vec<String> {
        Vec::new()
    }
}
