//! Asking the server what has changed: every second while the page is seen, more slowly after failures, not at all while it
//! is hidden or the browser has no network.

use super::{Controller, dom};
use crate::{
    components::seat_map::{map_state::Link, zones},
    domain::{
        ids::{SeatIndex, ZoneId},
        seat::{MapUpdate, SeatChange, SeatState},
        standing::STANDING_HEADER,
    },
};
use gloo_timers::{callback::Timeout, future::TimeoutFuture};
use leptos::prelude::*;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortSignal, RequestInit, Response,
    wasm_bindgen::{JsCast, JsValue},
};

/// Between two questions, in milliseconds.
const PAUSE_MS: u32 = 1_000;
/// At most this much is added at random, so that the crowd of a popular show does not ask in step, in milliseconds.
const JITTER_MS: f64 = 250.0;
/// The longest pause after failures, in milliseconds.
const PAUSE_MS_MAX: u32 = 10_000;
/// An answer that takes longer will not come, in milliseconds.
const ANSWER_MS_MAX: u32 = 8_000;
/// Changes that are shown in one frame; a sale that was away from view for long may bring thousands.
const CHANGES_AT_ONCE: usize = 100;
/// Between two lots of changes, in milliseconds.
const FRAME_MS: u32 = 16;

/// When to ask next.
#[derive(Default)]
pub struct Poller {
    timer: RefCell<Option<Timeout>>,
    /// Whether a question is on its way.
    is_asking: Cell<bool>,
    failures: Cell<u32>,
    is_stopped: Cell<bool>,
}

impl Controller {
    /// Asks now, unless nobody would see the answer.
    pub(super) fn poll_now(self: &Rc<Self>) {
        let poller = &self.poller;
        drop(poller.timer.take());
        if poller.is_stopped.get() || poller.is_asking.get() || document().hidden() {
            return;
        }
        if !window().navigator().on_line() {
            self.show_link(Link::Offline);
            return;
        }
        poller.is_asking.set(true);
        let asking = Rc::clone(self);
        leptos::task::spawn_local(async move { asking.ask().await });
    }

    /// Ends the asking for good.
    pub(super) fn stop_polling(&self) {
        self.poller.is_stopped.set(true);
        drop(self.poller.timer.take());
    }

    /// The page was hidden or shown again, or the network went or came.
    pub(super) fn on_connection(self: &Rc<Self>) {
        self.poll_now();
    }

    async fn ask(self: Rc<Self>) {
        let since = self.seats.borrow().at.to_query();
        let answer = fetch(&format!(
            "/shows/{}/seats?since={since}",
            self.facts.show_id
        ))
        .await;
        let standing = answer.as_ref().map(standing_of).unwrap_or_default();
        let update = match answer {
            Some(response) => body(&response)
                .await
                .and_then(|body| MapUpdate::decode(&body).ok()),
            None => None,
        };
        let poller = &self.poller;
        if poller.is_stopped.get() {
            return;
        }
        let pause = if let Some(update) = update {
            poller.failures.set(0);
            self.show_link(Link::Live);
            self.show_standing(&standing);
            self.apply(update).await;
            PAUSE_MS
        } else {
            let failures = poller.failures.get().saturating_add(1);
            poller.failures.set(failures);
            self.show_link(if window().navigator().on_line() {
                Link::Retrying
            } else {
                Link::Offline
            });
            PAUSE_MS
                .saturating_mul(1 << failures.min(4))
                .min(PAUSE_MS_MAX)
        };
        poller.is_asking.set(false);
        if poller.is_stopped.get() {
            return;
        }
        let next = Rc::clone(&self);
        poller
            .timer
            .replace(Some(Timeout::new(pause + jitter(), move || {
                next.poll_now()
            })));
    }

    /// Shows what standing zones have left, where that has changed.
    fn show_standing(&self, left: &[(ZoneId, u32)]) {
        let mut free = self.state.free.get_untracked();
        let before = free.clone();
        zones::put_standing(&mut free, &self.facts.zones, |zone| {
            let said = left.iter().find(|(id, _)| *id == zone.id);
            said.map(|(_, left)| *left)
        });
        if free != before {
            self.state.free.set(free);
        }
    }

    fn show_link(&self, link: Link) {
        if self.state.link.get_untracked() != link {
            self.state.link.set(link);
        }
    }

    /// Brings the page up to date: only what changed is touched, and never so much at once that the page stands still.
    async fn apply(&self, update: MapUpdate) {
        let changes = self.take_in(update);
        for (place, some) in changes.chunks(CHANGES_AT_ONCE).enumerate() {
            if place > 0 {
                TimeoutFuture::new(FRAME_MS).await;
                if self.poller.is_stopped.get() {
                    return;
                }
            }
            self.apply_some(some);
        }
        // What is taken while a wish is on its way may be taken for its reader; the wish's answer tells.
        if !changes.is_empty() && !self.state.is_placing.get_untracked() {
            self.lose_taken(&[]);
        }
    }

    fn apply_some(&self, changes: &[(SeatChange, SeatState)]) {
        let mut free = self.state.free.get_untracked();
        for &(SeatChange { seat, state }, before) in changes {
            let zone = dom::seat(seat).and_then(|input| dom::zone_of(&input));
            // A seat without a zone is not for sale, and drawn so, whatever its state.
            if zone.is_some() {
                zones::count_change(&mut free, zone, before, state);
                self.show_seat(seat, state);
            }
        }
        self.state.free.set(free);
    }

    /// Changes the known states and gives the seats that really changed, each with its state before.
    fn take_in(&self, update: MapUpdate) -> Vec<(SeatChange, SeatState)> {
        let mut known = self.seats.borrow_mut();
        let at = update.at();
        let changes = match update {
            MapUpdate::Changes { changes, .. } => changes,
            MapUpdate::Whole(map) => {
                let all = (0..known.seats).map(SeatIndex);
                all.map(|seat| SeatChange {
                    seat,
                    state: map.state(seat),
                })
                .collect()
            }
        };
        let mut real = Vec::new();
        for change in changes {
            let before = known.state(change.seat);
            if before != change.state && change.seat.0 < known.seats {
                known.set(change.seat, change.state);
                real.push((change, before));
            }
        }
        known.at = at;
        real
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and JITTER_MS"
)]
fn jitter() -> u32 {
    (js_sys::Math::random() * JITTER_MS) as u32
}

/// Asks this site; nothing when there is no good answer.
pub async fn fetch(path: &str) -> Option<Response> {
    let options = RequestInit::new();
    options.set_signal(Some(&AbortSignal::timeout_with_u32(ANSWER_MS_MAX)));
    let answer = JsFuture::from(window().fetch_with_str_and_init(path, &options)).await;
    answer
        .ok()?
        .dyn_into::<Response>()
        .ok()
        .filter(Response::ok)
}

/// What an answer says of standing zones; nothing when the show has none.
fn standing_of(response: &Response) -> Vec<(ZoneId, u32)> {
    let said = response.headers().get(STANDING_HEADER).ok().flatten();
    zones::read_standing(&said.unwrap_or_default())
}

async fn body(response: &Response) -> Option<Vec<u8>> {
    let buffer: JsValue = JsFuture::from(response.array_buffer().ok()?).await.ok()?;
    Some(js_sys::Uint8Array::new(&buffer).to_vec())
}
