//! What happens to a show besides calls for an order: counting it anew, and what befalls Redis.

use super::{
    super::fixture::SHOW,
    model::ModelShow,
    stage::{PropertyStage, same},
    step::{Step, zone_of},
    tickets,
};
use app::domain::seat::{MapVersion, SeatState};
use proptest::test_runner::TestCaseError;
use server::redis::{
    keys::ShowKey,
    scripts::{CountedAt, Counters, LoadShow},
};

impl PropertyStage {
    /// Counts as reconciliation does, and writes what was counted.
    pub(super) fn count(
        &mut self,
        model: &mut ModelShow,
        load: &LoadShow,
        is_current: bool,
    ) -> Result<String, TestCaseError> {
        let meta = self.stage.key(ShowKey::Meta);
        let mut read = redis::cmd("HGET");
        read.arg(meta).arg("standing_version");
        let standing_version: Option<u64> = read.query(&mut self.behind).unwrap();
        let version = u64::try_from(model.changes.len()).unwrap();
        let at = CountedAt {
            map: MapVersion {
                epoch: load.meta.epoch,
                version: version + u64::from(!is_current),
            },
            standing_version: standing_version.unwrap_or(0),
        };
        let mut counters = Counters::default();
        for (seat, state) in model.seats() {
            let left = counters.zones.entry(zone_of(seat.0)).or_default();
            *left += u32::from(state == SeatState::Available);
        }
        counters.bought = tickets(model)
            .into_iter()
            .map(|(field, have)| (field, u32::try_from(have).unwrap()))
            .collect();
        let reply = self
            .runtime
            .block_on(self.stage.redis.set_counters(SHOW, at, &counters));
        same(reply, model.set_counters(is_current, &counters))
    }

    pub(super) fn befall(&mut self, model: &mut ModelShow, step: &Step) {
        let key = |key| self.stage.key(key);
        let mut writes = redis::pipe();
        match step {
            Step::LoseLock(seat) if model.state(*seat) == SeatState::Locked => {
                model.lose_lock(*seat, zone_of(seat.0));
                let change = model.changes.last().unwrap().to_be_bytes();
                writes
                    .cmd("BITFIELD")
                    .arg(key(ShowKey::Map))
                    .arg("SET")
                    .arg("u2")
                    .arg(format!("#{seat}"))
                    .arg(0);
                writes.hdel(key(ShowKey::Owners), seat.0).hincr(
                    key(ShowKey::Zones),
                    zone_of(seat.0).0,
                    1,
                );
                let lost = model.books[&zone_of(seat.0)].last().unwrap();
                writes
                    .cmd("XADD")
                    .arg(key(ShowKey::Quantities))
                    .arg("*")
                    .arg("zone")
                    .arg(zone_of(seat.0).0)
                    .arg("before")
                    .arg(lost.before)
                    .arg("change")
                    .arg(lost.change)
                    .arg("after")
                    .arg(lost.after)
                    .arg("order")
                    .arg("")
                    .arg("why")
                    .arg(&lost.why);
                writes
                    .incr(key(ShowKey::Version), 1)
                    .rpush(key(ShowKey::Changes), &change[..]);
            }
            Step::LoseRecord(order) => {
                let number = order.number();
                model.holds.remove(&number);
                model.unsent.remove(&number);
                writes
                    .hdel(key(ShowKey::Holds), number.to_string())
                    .zrem(key(ShowKey::Unsent), number.to_string());
            }
            Step::LoseShow => {
                model.meta = None;
                writes.del(key(ShowKey::Meta));
            }
            _ => return,
        }
        writes.exec(&mut self.behind).unwrap();
    }
}
