//! Loading a show that Redis does not have, or pieces of its standing zones: one loader at a time in all servers, and nobody
//! waits for long.
//!
//! A show is loaded with all its pieces, so a piece that is missing afterwards is lost. When Redis had the show and lost it,
//! orders may be on their way that only Kafka knows. Loading then waits until the consumers of `order.create` have written
//! or discarded what was in the topic when the loss was noticed; otherwise their places would be offered again, and the
//! claim would have to disappoint one of two customers. The wait is bounded: after it the claims decide, as they do for
//! messages that reach Kafka later.

use super::{Failure, Ticketing};
use crate::{
    fault::{self, Point},
    kafka::{
        BoxError, Topic,
        offsets::{GroupProgress, ProgressError},
    },
    kafka_config,
    mysql::DbError,
    redis::{keys::Piece, scripts::LoadReply},
};
use app::domain::{ids::ShowId, time::Millis};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout, timeout_at},
};

/// The consumer group that writes orders.
pub const CREATE_GROUP: &str = "create";
/// How long a caller waits for a show that is being read before it is told to come back; it would not be faster.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a show that another server loads is looked at, and the consumers' progress.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How much longer than the draining another server's loading may take.
const ELSEWHERE_GRACE: Duration = Duration::from_secs(10);

/// How far a loading has come.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// It takes as long as reading the show.
    Reading,
    /// It waits for orders that are on their way, perhaps for seconds.
    Draining,
    Done(LoadReply),
    Failed {
        is_busy: bool,
    },
}

/// The shows that this server is loading.
#[derive(Default)]
pub(crate) struct Loads {
    under_way: Mutex<HashMap<ShowId, watch::Receiver<Phase>>>,
}

impl Loads {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<ShowId, watch::Receiver<Phase>>) -> T) -> T {
        work(
            &mut self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Takes a loading off the list however it ends.
struct UnderWay<'a> {
    loads: &'a Loads,
    show: ShowId,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.loads.with(|shows| shows.remove(&self.show));
    }
}

impl Ticketing {
    /// Loads a show into Redis if it is not there, with the pieces of its standing zones; many callers cause one loading.
    ///
    /// # Errors
    /// [`Failure::Rebuilding`] when it takes longer than a moment: the loading goes on, and the caller comes back. Otherwise
    /// when a store fails or the show does not exist.
    pub async fn load_show(&self, show: ShowId) -> Result<LoadReply, Failure> {
        let until = Instant::now() + PATIENCE;
        let mut phases = self.start_loading(show);
        loop {
            let phase = *phases.borrow_and_update();
            if let Some(outcome) = ended(phase) {
                return outcome;
            }
            if matches!(phase, Phase::Draining) {
                return Err(Failure::Rebuilding);
            }
            match timeout_at(until, phases.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(Failure::Broken("the loading of a show broke off")),
                Err(_) => return Err(Failure::Rebuilding),
            }
        }
    }

    /// Loads a show as [`Ticketing::load_show`] does, and waits until that is over, however long the draining takes.
    ///
    /// # Errors
    /// When a store fails or the show does not exist.
    pub async fn load_show_patiently(&self, show: ShowId) -> Result<LoadReply, Failure> {
        let mut phases = self.start_loading(show);
        loop {
            let phase = *phases.borrow_and_update();
            if let Some(outcome) = ended(phase) {
                return outcome;
            }
            if phases.changed().await.is_err() {
                return Err(Failure::Broken("the loading of a show broke off"));
            }
        }
    }

    /// Starts loading a show, or finds the loading that is under way. It goes on whatever becomes of its callers.
    fn start_loading(&self, show: ShowId) -> watch::Receiver<Phase> {
        self.inner.loads.with(|shows| {
            if let Some(phases) = shows.get(&show) {
                return phases.clone();
            }
            let (phase, phases) = watch::channel(Phase::Reading);
            shows.insert(show, phases.clone());
            let ticketing = self.clone();
            tokio::spawn(async move {
                let under_way = UnderWay {
                    loads: &ticketing.inner.loads,
                    show,
                };
                let outcome = ticketing.load_alone(show, &phase).await;
                drop(under_way);
                phase.send_replace(match outcome {
                    Ok(reply) => Phase::Done(reply),
                    Err(error) => {
                        tracing::warn!(show_id = show.0, %error, cause = ?error, "show not loaded");
                        Phase::Failed {
                            is_busy: error.is_busy(),
                        }
                    }
                });
            });
            phases
        })
    }

    /// Loads a show once no other server is at it, unless that other one has done it.
    async fn load_alone(
        &self,
        show: ShowId,
        phase: &watch::Sender<Phase>,
    ) -> Result<LoadReply, Failure> {
        let patience = self.drain_max() + ELSEWHERE_GRACE;
        let began = Instant::now();
        loop {
            let lead = self.inner.db.try_lead(&format!("load.{show}")).await?;
            if let Some(epoch) = self.present_epoch(show).await? {
                if let Some(lead) = lead {
                    lead.give_up().await;
                }
                // Whoever unloaded it may have taken it off the list after it was loaded again.
                self.inner.redis.note_loaded(show).await?;
                return Ok(LoadReply::AlreadyPresent { epoch });
            }
            if let Some(lead) = lead {
                let outcome = self.drain_and_load(show, phase).await;
                lead.give_up().await;
                return outcome;
            }
            if began.elapsed() > patience {
                return Err(Failure::Rebuilding);
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// The epoch of a show that Redis has, with all its pieces.
    async fn present_epoch(&self, show: ShowId) -> Result<Option<u32>, Failure> {
        let Some(meta) = self.inner.redis.show_meta(show).await? else {
            return Ok(None);
        };
        let pieces = self.inner.db.pieces_of_shows(&[show]).await?;
        let pieces: Vec<Piece> = pieces.into_values().flatten().collect();
        let places = self.inner.redis.places(&pieces).await?;
        Ok(places.iter().all(Option::is_some).then_some(meta.epoch))
    }

    async fn drain_and_load(
        &self,
        show: ShowId,
        phase: &watch::Sender<Phase>,
    ) -> Result<LoadReply, Failure> {
        // A show that Redis never had has no orders on their way.
        if self.inner.db.last_epoch(show).await? > 0 {
            self.drain(show, phase).await;
        }
        fault::point(Point::RebuildBeforeRead);
        self.read_and_load(show).await
    }

    /// Waits until the orders that were accepted when this began are written or discarded, as far as anybody knows them, and
    /// never longer than the bound.
    async fn drain(&self, show: ShowId, phase: &watch::Sender<Phase>) {
        let began = Instant::now();
        let drained = timeout(self.drain_max(), self.await_orders(show, phase)).await;
        let result = match drained {
            Ok(Ok(())) => "drained",
            Ok(Err(error)) => {
                tracing::warn!(show_id = show.0, %error, cause = ?error, "orders on their way are not waited for");
                "unreachable"
            }
            Err(_) => "timed_out",
        };
        let took = began.elapsed();
        metrics::counter!("seatflow_drains_total", "result" => result).increment(1);
        metrics::histogram!("seatflow_drain_ms").record(took.as_secs_f64() * 1_000.0);
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if result == "timed_out" {
            tracing::warn!(
                show_id = show.0,
                duration_ms,
                "orders are still on their way: claims decide between them and new buyers"
            );
        } else {
            tracing::info!(
                show_id = show.0,
                result,
                duration_ms,
                "looked for orders on their way"
            );
        }
    }

    async fn await_orders(
        &self,
        show: ShowId,
        phase: &watch::Sender<Phase>,
    ) -> Result<(), BoxError> {
        // Where only a piece is lost, Redis still knows which orders Kafka does not have; the relay sends them.
        let accepted_before = self.now() + Millis(1);
        let redis = &self.inner.redis;
        while !redis.unsent(show, accepted_before, 1).await?.is_empty() {
            phase.send_replace(Phase::Draining);
            sleep(LOOK_EVERY).await;
        }
        let kafka = kafka_config(&self.inner.config);
        let Ok(progress) = GroupProgress::new(&kafka, Topic::OrderCreate, CREATE_GROUP) else {
            return Err(ProgressError::GivenUp.into());
        };
        let ends = progress.ends().await?;
        while !progress.has_passed(&ends).await? {
            phase.send_replace(Phase::Draining);
            sleep(LOOK_EVERY).await;
        }
        phase.send_replace(Phase::Reading);
        Ok(())
    }

    fn drain_max(&self) -> Duration {
        let max_ms = self.inner.config.limits.drain_max.0;
        Duration::from_millis(u64::try_from(max_ms).unwrap_or(0))
    }
}

/// The outcome of a loading that is over.
fn ended(phase: Phase) -> Option<Result<LoadReply, Failure>> {
    match phase {
        Phase::Reading | Phase::Draining => None,
        Phase::Done(reply) => Some(Ok(reply)),
        Phase::Failed { is_busy: true } => Some(Err(Failure::Db(DbError::Busy))),
        Phase::Failed { is_busy: false } => {
            Some(Err(Failure::Broken("the show could not be loaded")))
        }
    }
}
