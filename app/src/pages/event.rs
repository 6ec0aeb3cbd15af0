//! One event: what it is, and when it is on.

use crate::{
    api::catalogue::event,
    components::{
        page_data::{by_param, loaded},
        poster::Poster,
        show_chip::ShowChip,
    },
    domain::{
        catalogue::{self, EventSummary, ShowSummary},
        ids::EventId,
    },
    error::{AppError, Thing},
    i18n::{Lang, catalogue::CatalogueText, time, use_lang, zone::zone_name},
};
use leptos::prelude::*;
use leptos_meta::Title;

/// One event with its coming shows.
#[component]
pub fn EventPage() -> impl IntoView {
    let page = by_param("id", |id| {
        Box::pin(async move {
            match id.and_then(|id| id.parse::<EventId>().ok()) {
                Some(id) => event(id).await,
                None => Err(AppError::NotFound { what: Thing::Event }),
            }
        })
    });
    loaded(page, |page| view! { <Event page=page /> }.into_any())
}

#[component]
fn Event(page: catalogue::EventPage) -> impl IntoView {
    let lang = use_lang();
    let text = CatalogueText::of(lang);
    let catalogue::EventPage {
        event,
        description,
        shows,
    } = page;
    let title = event.title.get(lang).to_owned();
    let days = by_day(shows);
    let is_empty = days.is_empty();
    view! {
        <Title text=title.clone() />
        <div class="wrap event">
            <Poster src=event.poster.clone() eager=true />
            <div class="event__words stack">
                <div>
                    <p class="soft">{text.kind(event.kind)}</p>
                    <h1>{title}</h1>
                    <p class="event__summary">{event.summary.get(lang).to_owned()}</p>
                </div>
                <EventFacts event=event />
                <p>{description.get(lang).to_owned()}</p>
            </div>
            <section class="event__shows stack">
                <h2>{text.shows}</h2>
                {is_empty.then(|| view! { <p class="soft">{text.no_shows}</p> })}
                {days.into_iter().map(|day| view! { <Day shows=day /> }).collect::<Vec<_>>()}
            </section>
        </div>
    }
}

#[component]
fn EventFacts(event: EventSummary) -> impl IntoView {
    let lang = use_lang();
    let text = CatalogueText::of(lang);
    view! {
        <dl class="facts">
            <dt>{text.by(event.kind)}</dt>
            <dd>{event.by.get(lang).to_owned()}</dd>
            <dt>{text.duration}</dt>
            <dd>{time::minutes(lang, event.duration_min)}</dd>
            <dt>{text.language}</dt>
            <dd>{event.language.get(lang).to_owned()}</dd>
        </dl>
    }
}

/// The shows of one day at one venue.
#[component]
fn Day(
    /// At least one show; all on the same date at the same venue.
    shows: Vec<ShowSummary>,
) -> impl IntoView {
    let lang = use_lang();
    let with_hall = shows.windows(2).any(|pair| pair[0].hall != pair[1].hall);
    let first = shows.first().map(|show| {
        let mut place = show.venue.get(lang).to_owned();
        if !with_hall {
            place.push_str(match lang {
                Lang::En => ", ",
                Lang::ZhCn => " ",
            });
            place.push_str(show.hall.get(lang));
        }
        (
            time::date(lang, &show.starts.civil()),
            place,
            zone_name(lang, &show.starts),
        )
    });
    first.map(|(date, place, zone)| {
        view! {
            <div class="day">
                <h3>{date}</h3>
                <p class="soft small">{place} " · " {zone}</p>
                <ul class="chips">
                    {shows
                        .into_iter()
                        .map(|show| view! { <li><ShowChip show=show with_hall=with_hall /></li> })
                        .collect::<Vec<_>>()}
                </ul>
            </div>
        }
    })
}

/// Shows in groups of one date and venue, in the order of each group's first show.
fn by_day(shows: Vec<ShowSummary>) -> Vec<Vec<ShowSummary>> {
    let mut days: Vec<Vec<ShowSummary>> = Vec::new();
    for show in shows {
        let date = show.starts.civil().iso_date();
        let same = |day: &&mut Vec<ShowSummary>| {
            day.first().is_some_and(|first| {
                first.starts.civil().iso_date() == date && first.venue == show.venue
            })
        };
        match days.iter_mut().find(same) {
            Some(day) => day.push(show),
            None => days.push(vec![show]),
        }
    }
    days
}
