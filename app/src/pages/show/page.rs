//! The page around the island: which show, what is free, and what the address asks for.

use super::{MapHtml, Scene, Shown};
use crate::{
    api::{attendees, catalogue, orders, orders::MySeats},
    components::{
        attendee_choice::{People, read_named},
        handed::Handed,
        offer::Offer,
        posted::Posted,
        problem::Problem,
        seat_map::{
            MapState, Notices, read_choice,
            render::{self, Own},
        },
        venue_time::VenueTimeText,
    },
    domain::{
        attendee::Attendee,
        catalogue::ShowPage as ShowFacts,
        ids::{SeatIndex, ShowId},
    },
    error::{AppError, Thing},
    i18n::{show, time, use_lang},
    ports::Ports,
};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};

/// What is read of a show before its page is written.
type Facts = (ShowFacts, MySeats, Vec<String>, Option<Vec<Attendee>>);

/// One show with its seat map.
#[component]
pub fn ShowPage() -> impl IntoView {
    let id = use_params_map().with_untracked(|params| params.get_str("id")?.parse().ok());
    let (wanted, named) = use_query_map().with_untracked(|query| {
        (
            read_choice(query.get_str("seats").unwrap_or_default()),
            read_named(query.get_str("for").unwrap_or_default()),
        )
    });
    let posted = Posted::of_page();
    let source = wanted.clone();
    let facts = Resource::new_blocking(|| (), move |()| facts(id, source.clone()));
    let page = move || {
        let (wanted, named, posted) = (wanted.clone(), named.clone(), posted.clone());
        Suspend::new(async move {
            let (show, mine, lost, people) = match facts.await {
                Ok(facts) => facts,
                Err(error) => return view! { <Problem error /> }.into_any(),
            };
            if show.sale.is_over() {
                return view! { <Over show mine posted /> }.into_any();
            }
            let html = map_html(&show, &mine, wanted.clone()).await;
            let html = MapHtml { html };
            let scene = Handed(Scene {
                offer: Offer::of(&show),
                mine,
                wanted,
                lost,
                people,
                named,
                posted,
            });
            view! {
                <div class="show">
                    <Heading show />
                    <Shown scene html />
                </div>
            }
            .into_any()
        })
    };
    view! { <Suspense>{page}</Suspense> }
}

/// A show that is not sold any more: without a map, whose seats nobody could have.
#[component]
fn Over(show: ShowFacts, mine: MySeats, posted: Option<Posted>) -> impl IntoView {
    let offer = Offer::of(&show);
    let (state, now) = (MapState::new(&offer.zones, Vec::new()), offer.now);
    let people = People::new(None, &[]);
    let error = posted.map(|posted| posted.error);
    let offer = StoredValue::new(offer);
    view! {
        <div class="show">
            <Heading show />
            <Notices
                show=offer
                state
                mine
                people
                error=Signal::stored(error)
                now=Signal::stored(now)
            />
        </div>
    }
}

/// Where and when, the title, and the facts.
#[component]
fn Heading(show: ShowFacts) -> impl IntoView {
    let lang = use_lang();
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

async fn facts(id: Option<ShowId>, wanted: Vec<SeatIndex>) -> Result<Facts, AppError> {
    let id = id.ok_or(AppError::NotFound { what: Thing::Show })?;
    let show = catalogue::show(id).await?;
    let mine = orders::mine(id).await.unwrap_or_default();
    let lost = match wanted.is_empty() {
        true => Vec::new(),
        false => lost_places(id, wanted, &mine).await,
    };
    // Whom tickets can be for, where the show wants to know.
    let people = match show.attendees_required {
        true => attendees::attendees().await.ok(),
        false => None,
    };
    Ok((show, mine, lost, people))
}

/// The map; empty when it can't be had, which the browser then tries again.
async fn map_html(show: &ShowFacts, mine: &MySeats, wanted: Vec<SeatIndex>) -> String {
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
async fn lost_places(id: ShowId, wanted: Vec<SeatIndex>, mine: &MySeats) -> Vec<String> {
    let (ports, lang) = (expect_context::<Ports>(), use_lang());
    let own = Own {
        chosen: wanted,
        held: mine.seats.clone(),
    };
    match ports.catalogue.show_map(id).await {
        Ok(map) => render::places(&map, lang, &render::lost(&map, &own)),
        Err(_) => Vec::new(),
    }
}
