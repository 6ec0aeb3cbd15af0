//! The verdict on a sale: everything has to come right within the deadline, by the server's own evidence, by what customers were
//! told, and by what staff were told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::audit::{self, Found, Totals};
use super::http::Client;
use super::promises::{Offer, Promises, seat_states};
use super::stack::Stack;
use crate::interrupt::{self, Interrupted};
use crate::services::Running;

/// Every lock becomes an order or is free, and every payment is settled, within this.
const QUIET_DEADLINE_S: u64 = 90;
const ASK_MS: u64 = 700;

/// How a sale came out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub totals: Totals,
    /// From the end of the load until nothing was under way.
    pub quiet_after: Duration,
    pub faults: Vec<String>,
}

impl Stack<'_> {
    /// Waits until everything has come right, and says what has not within the deadline: what is still under way, what the
    /// server's own evidence names, and what the auditor finds in what the customers were told.
    ///
    /// # Errors
    /// When the server can't be asked. Faults are no errors.
    pub fn judge(&mut self, running: &mut Running) -> Result<Outcome> {
        let begun = Instant::now();
        loop {
            interrupt::check()?;
            if let Some(status) = running.ended() {
                bail!(running.complaint(&format!("ended by itself ({status})")));
            }
            let is_late = begun.elapsed() > Duration::from_secs(QUIET_DEADLINE_S);
            match self.look(is_late) {
                Ok(outcome) if outcome.faults.is_empty() || is_late => {
                    return Ok(Outcome {
                        quiet_after: begun.elapsed(),
                        ..outcome
                    });
                }
                Err(error) if is_late || error.is::<Interrupted>() => return Err(error),
                Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(ASK_MS)),
            }
        }
    }

    /// One look at everything. Customers are asked once nothing is under way; the bank may have something to say after
    /// that, which the auditor sees as money that did not go where it should.
    fn look(&mut self, is_late: bool) -> Result<Outcome> {
        let evidence = self.evidence()?;
        let mut faults = audit::violations(&evidence);
        let under_way = audit::under_way(&evidence);
        let is_quiet = under_way.is_empty();
        let late = |left| format!("still under way after {QUIET_DEADLINE_S} s: {left}");
        faults.extend(under_way.into_iter().map(late));
        let mut totals = Totals::default();
        if is_quiet || is_late {
            let (told, found) = self.ask_customers()?;
            let (counted, found_faults) = audit::audit(&told, &found);
            totals = counted;
            faults.extend(found_faults);
            for promises in self.promises.iter().filter(|all| !all.is_empty()) {
                faults.extend(promises.audit(&self.offer_of(promises)?, &found));
            }
            if self.has_letters {
                faults.extend(self.look_after_letters(&found)?);
            }
        }
        Ok(Outcome {
            totals,
            faults,
            ..Outcome::default()
        })
    }

    fn ask_customers(&mut self) -> Result<(Vec<audit::Told>, BTreeMap<String, Found>)> {
        let port = self.port;
        let mut told = Vec::new();
        let mut found = BTreeMap::new();
        for buyer in &mut self.buyers {
            let listed: BTreeSet<String> = buyer.listed(port)?.into_iter().collect();
            for about in buyer.told()? {
                let order_no = about.order_no.clone();
                if let Some(order) = buyer.order(port, &order_no)? {
                    let is_listed = listed.contains(&order_no);
                    found.insert(order_no, Found::read(&order, is_listed));
                }
                told.push(about);
            }
        }
        Ok((told, found))
    }

    /// The show that staff worked on, as everybody finds it.
    fn offer_of(&self, promises: &Promises) -> Result<Offer> {
        let mut client = Client::default();
        let show = promises.show;
        let map = client.get(self.port, &format!("/shows/{show}/seats"))?;
        let page = client.get(self.port, &format!("/api/catalogue/show?id={show}"))?;
        let page = page.json();
        let zones = page["zones"].as_array().context("a show with zones")?;
        let standing = zones.iter().find(|zone| zone["id"] == promises.zone);
        let withdrawal = if promises.withdrawn {
            let asked = ["show", "withdrawal", &show.to_string()].map(str::to_owned);
            self.ask("withdrawal", &asked, &[])?.1
        } else {
            String::new()
        };
        Ok(Offer {
            seats: seat_states(&map.bytes).context("a seat map")?,
            limit: page["limit"].as_u64().context("a limit")?,
            places: standing
                .and_then(|zone| zone["seats_total"].as_u64())
                .context("a standing zone")?,
            withdrawal,
        })
    }
}
