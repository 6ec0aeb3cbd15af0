//! A service is stopped under load and started again, or servers die in the middle of a sale; the sale has to go on by itself.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::judge::Outcome;
use super::sale::{Habits, Sale};
use super::stack::{Stack, lead_to};
use crate::interrupt;
use crate::services::{Running, Services};

/// How long customers buy before anything happens.
const LOAD_BEFORE: Duration = Duration::from_secs(5);
/// How long customers go on buying once the sale goes on.
const LOAD_AFTER: Duration = Duration::from_secs(6);
/// A service that is back has the sale going again within this.
const RECOVERY_MAX: Duration = Duration::from_secs(45);
/// So many tickets paid for after the outage are a sale that goes on.
const TICKETS_AGAIN: usize = 8;
const SHOWS: usize = 3;
/// The sale of a system that lost orders when its servers were killed: tickets, deadline, kills.
const TICKETS: usize = 650;
/// Paid for beyond that, since a payment that comes too late is given back.
const RESERVE: usize = 20;
const TICKETS_DEADLINE: Duration = Duration::from_secs(300);
const TICKETS_SHOWS: usize = 8;
const WATCH_MS: u64 = 50;

/// What stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Kafka,
    Redis,
    Mysql,
}

impl Service {
    pub fn word(self) -> &'static str {
        match self {
            Self::Kafka => "kafka",
            Self::Redis => "redis",
            Self::Mysql => "mysql",
        }
    }

    /// How long it is away unless told otherwise.
    pub fn seconds(self) -> u64 {
        match self {
            Self::Kafka => 60,
            Self::Redis | Self::Mysql => 3,
        }
    }
}

/// How a scenario went.
#[derive(Clone, Debug)]
pub struct Story {
    pub name: String,
    pub took: Duration,
    /// What was measured on the way, in words.
    pub remark: String,
    pub outcome: Outcome,
}

/// Stops a service for a while and starts it again, Redis with nothing in it, while one and the same server sells.
///
/// # Errors
/// When a service or server can't be started or asked. Faults are in the outcome.
pub fn service(
    stack: &mut Stack<'_>,
    services: &mut Services,
    service: Service,
    away: Duration,
) -> Result<Story> {
    let begun = Instant::now();
    let word = service.word();
    let mut running = stack.start(word, &[])?;
    let shows = stack.fresh_shows(SHOWS)?;
    let sale = Sale::new(stack.port, &shows, Habits::MIXED);
    let (back, recovery) = stack.sell(&sale, |_| {
        sell_on(&mut running, LOAD_BEFORE)?;
        services.halt(word)?;
        sell_on(&mut running, away)?;
        services.resume(word)?;
        let back = Instant::now();
        let recovery = wait_for_tickets(&mut running, &sale, TICKETS_AGAIN, RECOVERY_MAX)?;
        sell_on(&mut running, LOAD_AFTER)?;
        Ok((back, recovery))
    })?;
    if service == Service::Redis {
        // What Redis alone knew is gone with it; an order that was written is not.
        stack.forgive(|order| !order.was_written && order.placed < back);
    }
    let mut outcome = stack.judge(&mut running)?;
    let remark = match recovery {
        Some(after) => format!(
            "away {} s, sold again after {:.1} s",
            away.as_secs(),
            after.as_secs_f64()
        ),
        None => {
            let fault = format!("the sale did not go on within {} s", RECOVERY_MAX.as_secs());
            outcome.faults.push(fault);
            format!("away {} s", away.as_secs())
        }
    };
    Ok(Story {
        name: word.to_owned(),
        took: begun.elapsed(),
        remark,
        outcome,
    })
}

/// Sells 650 tickets within five minutes and kills the server twice on the way.
///
/// # Errors
/// When a server can't be started or asked. Faults are in the outcome.
pub fn killed_twice(stack: &mut Stack<'_>) -> Result<Story> {
    let begun = Instant::now();
    let mut running = stack.start("twice", &[])?;
    let shows = stack.fresh_shows(TICKETS_SHOWS)?;
    let sale = Sale::new(stack.port, &shows, Habits::KEEN);
    let sold = stack.sell(&sale, |stack| {
        for kill in 1..=2 {
            wait_for_tickets(&mut running, &sale, TICKETS / 3, TICKETS_DEADLINE)?;
            running.kill();
            running = stack.start(&format!("twice-{kill}"), &[])?;
        }
        let left = (TICKETS + RESERVE).saturating_sub(sale.tickets.load(Ordering::SeqCst));
        wait_for_tickets(&mut running, &sale, left, TICKETS_DEADLINE)
    })?;
    let selling = begun.elapsed();
    let mut outcome = stack.judge(&mut running)?;
    if sold.is_none() || outcome.totals.tickets < TICKETS || selling > TICKETS_DEADLINE {
        let fault = format!(
            "{TICKETS} tickets were not sold within {} s",
            TICKETS_DEADLINE.as_secs()
        );
        outcome.faults.push(fault);
    }
    Ok(Story {
        name: "twice".to_owned(),
        took: begun.elapsed(),
        remark: format!(
            "{} tickets in {} s, 2 kills",
            outcome.totals.tickets,
            selling.as_secs()
        ),
        outcome,
    })
}

/// Two servers share the work; one is killed, the other goes on.
///
/// # Errors
/// When a server can't be started or asked. Faults are in the outcome.
pub fn two_servers(stack: &mut Stack<'_>) -> Result<Story> {
    let begun = Instant::now();
    let mut running = stack.start("servers", &[])?;
    let (mut beside, port) = stack.start_beside("servers")?;
    let shows = stack.fresh_shows(SHOWS)?;
    let sale = Sale::new(stack.port, &shows, Habits::MIXED);
    lead_to(&sale, &[stack.port, port]);
    let own_port = stack.port;
    let recovery = stack.sell(&sale, |_| {
        sell_on(&mut beside, LOAD_BEFORE + LOAD_AFTER)?;
        beside.kill();
        // A balancer takes a moment to notice; until then customers meet a closed door every other time.
        sell_on(&mut running, Duration::from_secs(2))?;
        lead_to(&sale, &[own_port]);
        let recovery = wait_for_tickets(&mut running, &sale, TICKETS_AGAIN, RECOVERY_MAX)?;
        sell_on(&mut running, LOAD_AFTER)?;
        Ok(recovery)
    })?;
    let mut outcome = stack.judge(&mut running)?;
    if recovery.is_none() {
        outcome
            .faults
            .push("the other server did not go on".to_owned());
    }
    let after = recovery.unwrap_or_default().as_secs_f64();
    Ok(Story {
        name: "servers".to_owned(),
        took: begun.elapsed(),
        remark: format!("one of two killed, {TICKETS_AGAIN} tickets later after {after:.1} s"),
        outcome,
    })
}

/// Lets the sale go on for a while; the server must live.
fn sell_on(running: &mut Running, time: Duration) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        alive(running)?;
        std::thread::sleep(Duration::from_millis(WATCH_MS));
    }
    Ok(())
}

/// Waits until customers have paid for so many more tickets; how long that took, or none after `patience`.
fn wait_for_tickets(
    running: &mut Running,
    sale: &Sale<'_>,
    more: usize,
    patience: Duration,
) -> Result<Option<Duration>> {
    let begun = Instant::now();
    let enough = sale.tickets.load(Ordering::SeqCst) + more;
    while begun.elapsed() < patience {
        alive(running)?;
        if sale.tickets.load(Ordering::SeqCst) >= enough {
            return Ok(Some(begun.elapsed()));
        }
        std::thread::sleep(Duration::from_millis(WATCH_MS));
    }
    Ok(None)
}

fn alive(running: &mut Running) -> Result<()> {
    interrupt::check()?;
    match running.ended() {
        None => Ok(()),
        Some(status) => bail!(running.complaint(&format!("ended by itself ({status})"))),
    }
}
