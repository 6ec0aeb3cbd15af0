//! An order as the server last gave it, kept fresh while it can still change by itself.

use super::{
    parts,
    progress::Progress,
    stage::{Stage, refund_poll_ms},
};
use crate::{
    components::{
        timer::{Timer, monotonic_ms},
        wire,
    },
    domain::{
        ids::OrderNo,
        order::OrderStatus,
        time::{Millis, Timestamp},
    },
    error::AppError,
    i18n::{Lang, order::OrderText, use_lang},
};
use leptos::{prelude::*, task::spawn_local};

/// The first question after the page was opened: what it was opened with may have come from a cache.
const FIRST_POLL_MS: u32 = 300;

/// Longer than an accepted order may take to be written or given up; the server's bound is the same.
const LOST_AFTER: Millis = Millis::seconds(65);

/// When the server's clock showed what, on the browser's clock that nobody can set.
#[derive(Clone, Copy)]
struct Anchor {
    server: Timestamp,
    monotonic_ms: i64,
}

/// An order that follows the server. Only the server's word changes it: the page counts down, but decides nothing.
#[derive(Clone, Copy)]
pub struct Live {
    /// The order.
    pub order: RwSignal<Progress>,
    /// What its page is about.
    pub stage: Memo<Stage>,
    /// Whole seconds until its deadline, upwards; zero when it has passed.
    pub left_s: RwSignal<i64>,
    /// Why the last question had no answer.
    pub trouble: RwSignal<Option<AppError>>,
    anchor: StoredValue<Anchor>,
    lang: Lang,
    /// The answer that the parts are of, without the time of day; none before the first.
    told: StoredValue<Option<String>>,
    tries: StoredValue<u32>,
    poll: Timer,
    tick: Timer,
}

impl Live {
    /// Follows an order that has just been read.
    pub fn follow(order: Progress) -> Self {
        let left = order.expires.at - order.now;
        let anchor = Anchor {
            server: order.now,
            monotonic_ms: monotonic_ms(),
        };
        let order = RwSignal::new(order);
        let live = Self {
            order,
            stage: Memo::new(move |_| order.with(Stage::at)),
            left_s: RwSignal::new(whole_seconds(left)),
            trouble: RwSignal::new(None),
            anchor: StoredValue::new(anchor),
            lang: use_lang(),
            told: StoredValue::new(None),
            tries: StoredValue::new(0),
            poll: Timer::new(),
            tick: Timer::new(),
        };
        // Effects run in the browser only.
        Effect::new(move |_| live.begin());
        live
    }

    fn begin(self) {
        let wake = move |_: leptos::ev::Event| {
            if !document().hidden() {
                self.refresh();
            }
        };
        // A page that the browser kept while its reader was at the cashier comes back as it was left.
        let shown = window_event_listener_untyped("pageshow", wake);
        let seen = window_event_listener_untyped("visibilitychange", wake);
        on_cleanup(move || {
            shown.remove();
            seen.remove();
        });
        self.count_down();
        if self.next_poll_ms().is_some() {
            self.poll.start(FIRST_POLL_MS, move || self.poll_if_seen());
        }
    }

    /// What remains until the deadline, on the server's clock.
    fn left(self) -> Millis {
        let expires = self.order.with_untracked(|order| order.expires.at);
        self.now().map_or(Millis(0), |now| expires - now)
    }

    /// The server's clock.
    fn now(self) -> Option<Timestamp> {
        let anchor = self.anchor.try_get_value()?;
        Some(anchor.server + Millis(monotonic_ms() - anchor.monotonic_ms))
    }

    /// Whether an accepted order that the server does not know can't become one any more: what is accepted is written or
    /// given up long before this.
    fn is_lost(self) -> bool {
        let placed = self.order.with_untracked(|order| order.placed.at);
        self.now().is_some_and(|now| now - placed > LOST_AFTER)
    }

    /// Shows what remains, and again when the next second has passed.
    fn count_down(self) {
        if self.order.is_disposed() || !self.stage.get_untracked().is_pending() {
            return;
        }
        let left = self.left();
        let seconds = whole_seconds(left);
        if self.left_s.get_untracked() != seconds {
            self.left_s.set(seconds);
        }
        if seconds > 0 {
            let to_next_second_ms = u32::try_from(left.0.rem_euclid(1000)).unwrap_or(0) + 5;
            self.tick
                .start(to_next_second_ms, move || self.count_down());
        }
    }

    /// How long to wait before the next question; none when nothing will change by itself.
    fn next_poll_ms(self) -> Option<u32> {
        let tries = self.tries.get_value();
        let stage = self.stage.get_untracked();
        let is_refunded = self.order.with_untracked(Progress::is_refund_under_way);
        stage
            .next_poll_ms(self.left(), tries)
            .or_else(|| is_refunded.then(|| refund_poll_ms(tries)))
    }

    fn poll_if_seen(self) {
        // Nobody looks: the page asks when it is seen again.
        if !document().hidden() {
            self.refresh();
        }
    }

    /// Asks the server now.
    pub fn refresh(self) {
        let order_no = self.order.with_untracked(|order| order.order_no);
        spawn_local(async move {
            let answer = self.ask(order_no).await;
            if !self.order.is_disposed() {
                self.take(answer);
            }
        });
    }

    /// How far the order has come. Where the answer is another one than before, the page says so when this returns.
    async fn ask(self, order_no: OrderNo) -> Result<Progress, AppError> {
        let (order, text) = wire::order(order_no).await?;
        let is_known = match self.told.try_get_value().flatten() {
            Some(told) => told == text,
            // The page came with what the server said just before.
            None => {
                self.order
                    .try_with_untracked(|known| known.is_as_far_as(&order))
                    == Some(true)
            }
        };
        if !is_known {
            let page = wire::this_page().await?;
            // It is another page when somebody signed out meanwhile, in another window.
            if !self.order.is_disposed() && !parts::renew(&page) {
                return Err(AppError::Unauthenticated);
            }
        }
        self.told.try_set_value(Some(text));
        Ok(order)
    }

    fn take(self, answer: Result<Progress, AppError>) {
        match answer {
            Ok(order) => {
                let before = self.stage.get_untracked();
                // An answer that was overtaken by a newer one says nothing.
                if self.order.with_untracked(|known| known.now <= order.now) {
                    self.anchor.set_value(Anchor {
                        server: order.now,
                        monotonic_ms: monotonic_ms(),
                    });
                    self.order.set(order);
                }
                self.trouble.set(None);
                let is_same = self.stage.get_untracked() == before;
                self.tries
                    .update_value(|tries| *tries = if is_same { *tries + 1 } else { 0 });
            }
            // Redis lost it, and its message may still be on the way; in the end it is told what became of it.
            Err(AppError::NotFound { .. }) if self.stage.get_untracked() == Stage::Creating => {
                self.trouble.set(None);
                self.tries.update_value(|tries| *tries += 1);
                if self.is_lost() {
                    self.order
                        .update(|order| order.status = OrderStatus::Discarded);
                    parts::tell(OrderText::of(self.lang).discarded);
                }
            }
            Err(error) => {
                self.trouble.set(Some(error));
                self.tries.update_value(|tries| *tries += 1);
            }
        }
        self.count_down();
        match self.next_poll_ms() {
            Some(delay_ms) => self.poll.start(delay_ms, move || self.poll_if_seen()),
            None => self.poll.stop(),
        }
    }
}

/// Whole seconds, upwards, so that a countdown shows zero only when nothing is left.
fn whole_seconds(left: Millis) -> i64 {
    left.0.max(0).div_euclid(1000) + i64::from(left.0.max(0) % 1000 > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_shows_zero_only_when_nothing_is_left() {
        assert_eq!(whole_seconds(Millis(1)), 1);
        assert_eq!(whole_seconds(Millis(1_000)), 1);
        assert_eq!(whole_seconds(Millis(0)), 0);
        assert_eq!(whole_seconds(Millis(-400)), 0);
    }
}
