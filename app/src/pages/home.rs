//! The first page: what is on in one city on one day.

use crate::{
    api::catalogue::home,
    components::{
        address::encode,
        page_data::{by_query, loaded},
        poster::Poster,
        show_chip::ShowChip,
    },
    domain::catalogue::{self, EventListing, SaleState},
    i18n::{
        Lang,
        catalogue::{CatalogueText, introduction, shows_in},
        time, use_lang,
        zone::zone_name,
    },
};
use leptos::prelude::*;
use leptos_meta::Title;

/// What is on. `?city=` and `?date=` choose; both are plain links.
#[component]
pub fn HomePage() -> impl IntoView {
    let page = by_query(["city", "date"], |[city, date]| Box::pin(home(city, date)));
    loaded(page, |page| view! { <WhatIsOn page=page /> }.into_any())
}

#[component]
fn WhatIsOn(page: catalogue::HomePage) -> impl IntoView {
    let text = CatalogueText::of(use_lang());
    let today = page
        .days
        .first()
        .map(|day| day.civil().iso_date())
        .unwrap_or_default();
    let pick = page.events.first().cloned();
    let is_on = page.city.is_some();
    view! {
        <Title text="" />
        <div class="wrap">
            <h1 class="sr-only">{text.title}</h1>
            {pick.map(|pick| view! { <Pick pick=pick today=today /> })}
            {if is_on {
                view! { <Listing page=page /> }.into_any()
            } else {
                view! {
                    <div class="empty">
                        <h2>{text.nothing_anywhere}</h2>
                        <p class="soft">{text.nothing_anywhere_hint}</p>
                    </div>
                }
                    .into_any()
            }}
        </div>
    }
}

/// The first event of the day, large.
#[component]
fn Pick(
    /// The event and its shows of the day.
    pick: EventListing,
    /// Today at the venue, `2026-11-29`.
    today: String,
) -> impl IntoView {
    let lang = use_lang();
    let text = CatalogueText::of(lang);
    let EventListing { event, shows } = pick;
    let event_path = format!("/events/{}", event.id);
    let open = shows.iter().find(|show| show.sale == SaleState::OnSale);
    let intro = open
        .or(shows.first())
        .map(|show| introduction(lang, &show.starts.civil(), &today));
    let (next_path, next_word) = match open {
        Some(show) => (format!("/shows/{}", show.id), text.choose_seats),
        None => (event_path.clone(), text.see_shows),
    };
    view! {
        <section class="pick">
            <div class="pick__words">
                <p class="soft">{intro}</p>
                <h2 class="pick__title"><a href=event_path>{event.title.get(lang).to_owned()}</a></h2>
                <p class="soft">
                    {event.summary.get(lang).to_owned()} <br />
                    {time::minutes(lang, event.duration_min)} " · " {event.language.get(lang).to_owned()}
                </p>
                <a class="btn primary" href=next_path>{next_word}</a>
            </div>
            <Poster src=event.poster eager=true />
        </section>
    }
}

/// A city's events on one day, with the ways to other cities and days.
#[component]
fn Listing(page: catalogue::HomePage) -> impl IntoView {
    let lang = use_lang();
    let text = CatalogueText::of(lang);
    let clock = page.days.first().map(|day| zone_name(lang, day));
    let name = page
        .city
        .as_ref()
        .map(|city| city.name.get(lang).to_owned())
        .unwrap_or_default();
    let rows: Vec<_> = page
        .events
        .iter()
        .cloned()
        .map(|listing| view! { <Row listing=listing /> })
        .collect();
    let is_empty = rows.is_empty();
    view! {
        <section>
            <div class="listing__head">
                <h2>{shows_in(lang, &name)}</h2>
                <p class="soft small">{text.times_at_venue} {clock.map(|clock| format!(" · {clock}"))}</p>
            </div>
            <Cities page=page.clone() />
            <Days page=page />
            {rows}
            {is_empty.then(|| view! {
                <div class="empty">
                    <h3>{text.nothing_on}</h3>
                    <p class="soft">{text.nothing_on_hint}</p>
                </div>
            })}
        </section>
    }
}

#[component]
fn Cities(page: catalogue::HomePage) -> impl IntoView {
    let lang = use_lang();
    let current = page.city.map(|city| city.key);
    if page.cities.len() < 2 {
        return ().into_any();
    }
    let link = |city: catalogue::City| {
        let is_current = (current.as_ref() == Some(&city.key)).then_some("true");
        let href = format!("/?city={}", encode(&city.key));
        view! {
            <li><a href=href aria-current=is_current>{city.name.get(lang).to_owned()}</a></li>
        }
    };
    view! {
        <nav aria-label=CatalogueText::of(lang).city>
            <ul class="cities">{page.cities.into_iter().map(link).collect::<Vec<_>>()}</ul>
        </nav>
    }
    .into_any()
}

#[component]
fn Days(page: catalogue::HomePage) -> impl IntoView {
    let lang = use_lang();
    let text = CatalogueText::of(lang);
    let city = page.city.map(|city| encode(&city.key)).unwrap_or_default();
    let link = |(place, day): (usize, crate::domain::time::VenueTime)| {
        let civil = day.civil();
        let date = civil.iso_date();
        let is_current = (date == page.date).then_some("date");
        let name = if place == 0 {
            text.today
        } else {
            time::weekday(lang, &civil)
        };
        view! {
            <a href=format!("/?city={city}&date={date}") aria-current=is_current>
                <span aria-hidden="true">{name}</span>
                <b aria-hidden="true">{civil.day}</b>
                <span class="sr-only">{time::date(lang, &civil)}</span>
            </a>
        }
    };
    view! {
        <nav class="days" aria-label=text.day>
            {page.days.into_iter().enumerate().map(link).collect::<Vec<_>>()}
        </nav>
    }
}

/// One event: poster, facts, and its shows of the day.
#[component]
fn Row(listing: EventListing) -> impl IntoView {
    let lang = use_lang();
    let EventListing { event, shows } = listing;
    let mut venues: Vec<&str> = Vec::new();
    let mut halls: Vec<&str> = Vec::new();
    for show in &shows {
        push_new(&mut venues, show.venue.get(lang));
        push_new(&mut halls, show.hall.get(lang));
    }
    let with_hall = halls.len() > 1;
    let between = match lang {
        Lang::En => ", ",
        Lang::ZhCn => "、",
    };
    let facts = [
        CatalogueText::of(lang).kind(event.kind),
        &time::minutes(lang, event.duration_min),
        &venues.join(between),
    ]
    .join(" · ");
    view! {
        <article class="row">
            <Poster src=event.poster />
            <div class="row__words">
                <h3><a href=format!("/events/{}", event.id)>{event.title.get(lang).to_owned()}</a></h3>
                <p class="soft">{facts}</p>
            </div>
            <ul class="chips">
                {shows
                    .into_iter()
                    .map(|show| view! { <li><ShowChip show=show with_hall=with_hall /></li> })
                    .collect::<Vec<_>>()}
            </ul>
        </article>
    }
}

fn push_new<'a>(names: &mut Vec<&'a str>, name: &'a str) {
    if !names.contains(&name) {
        names.push(name);
    }
}
