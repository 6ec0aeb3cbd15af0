//! What the page knows about its map, shared by the map, the panel beside it and the notices above it.

use crate::domain::{
    catalogue::Zone,
    ids::{SeatIndex, ShowId},
};
use leptos::prelude::*;

/// A seat that the reader has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The seat.
    pub seat: SeatIndex,
    /// What it is called.
    pub place: String,
    /// Place of its zone among the show's.
    pub zone: usize,
}

/// A seat that was chosen and then went to somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What it is called.
    pub place: String,
    /// The free seat nearest to it.
    pub instead: Option<Chosen>,
}

/// How the map is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It follows the server.
    Live,
    /// The last question failed; the next one is on its way.
    Retrying,
    /// The browser has no network.
    Offline,
}

/// How far the map itself has come. Only a page that the server had to send without it ever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapLoad {
    /// It is there.
    Ready,
    /// It was asked for.
    Loading,
    /// It did not come.
    Failed,
}

/// What is fixed while a page is shown.
#[derive(Debug, Clone)]
pub struct MapFacts {
    /// The show.
    pub show_id: ShowId,
    /// Its zones.
    pub zones: Vec<Zone>,
    /// Most tickets a buyer may have.
    pub limit: u32,
    /// Seats that are the reader's already.
    pub mine: Vec<SeatIndex>,
    /// Seats that the address asks for.
    pub wanted: Vec<SeatIndex>,
}

/// What changes while a page is shown.
#[derive(Debug, Clone, Copy)]
pub struct MapState {
    /// The reader's choice, in the order it was made. The map's ticks follow it.
    pub chosen: RwSignal<Vec<Chosen>>,
    /// Free seats of each zone.
    pub free: RwSignal<Vec<u32>>,
    /// Seats that were lost since the choice last changed.
    pub lost: RwSignal<Vec<Lost>>,
    /// Set when the server has refused a wish: the seats that it named as taken.
    pub refused: RwSignal<Option<Vec<SeatIndex>>>,
    /// Whether a wish is on its way or was granted: then locked seats of the choice are the reader's.
    pub is_placing: RwSignal<bool>,
    /// The zone that is looked at; the others are dimmed.
    pub only: RwSignal<Option<usize>>,
    /// How the map is connected.
    pub link: RwSignal<Link>,
    /// How far the map has come.
    pub load: RwSignal<MapLoad>,
    /// What a voice says next.
    pub said: RwSignal<String>,
}

impl MapState {
    /// The state of a fresh page, which already knows that the seats at `lost` are gone.
    #[must_use]
    pub fn new(zones: &[Zone], lost: Vec<String>) -> Self {
        let lost = lost
            .into_iter()
            .map(|place| Lost {
                place,
                instead: None,
            })
            .collect();
        Self {
            chosen: RwSignal::new(Vec::new()),
            free: RwSignal::new(zones.iter().map(|zone| zone.seats_free).collect()),
            lost: RwSignal::new(lost),
            refused: RwSignal::new(None),
            is_placing: RwSignal::new(false),
            only: RwSignal::new(None),
            link: RwSignal::new(Link::Live),
            load: RwSignal::new(MapLoad::Ready),
            said: RwSignal::new(String::new()),
        }
    }

    /// Takes a seat off the choice.
    pub fn take_off(self, seat: SeatIndex) {
        self.chosen
            .update(|chosen| chosen.retain(|other| other.seat != seat));
        self.said.set(String::new());
    }

    /// Puts a seat into the choice in place of the lost one it was offered for.
    pub fn take_instead(self, offered: Chosen) {
        self.lost
            .update(|lost| lost.retain(|lost| lost.instead.as_ref() != Some(&offered)));
        self.chosen.update(|chosen| {
            if chosen.iter().all(|other| other.seat != offered.seat) {
                chosen.push(offered);
            }
        });
    }
}
