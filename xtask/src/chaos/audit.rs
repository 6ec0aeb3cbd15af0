//! The auditor: what the customers were told, against what became of it. It knows nothing of how the load was made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// An order number that a customer was given, and what the customer was told since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub order_no: String,
    /// The cashier took the customer's money before the customer's eyes.
    pub saw_success: bool,
    /// Of how many of the order's payments the bank says, when all is quiet, that it has taken the money.
    pub captures: usize,
    /// Giving the order up was acknowledged.
    pub given_up: bool,
    /// Of how many tickets the customer was told that they go back.
    pub returning: usize,
    /// Redis was emptied while the order may have been on its way, so it may be gone.
    pub may_be_lost: bool,
}

/// An order as its buyer finds it when all is quiet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub status: String,
    pub show: u64,
    /// Numbered seats of the tickets that are still the order's; places without a number are not listed.
    pub seats: Vec<u64>,
    /// Tickets that are still the order's.
    pub tickets: usize,
    /// Tickets whose money is back.
    pub returned: usize,
    /// How far the newest payment's refund has come.
    pub refund: Option<String>,
    /// From its placing to its deadline, in milliseconds.
    pub lasts_ms: u64,
    /// It ran out before its deadline.
    pub ran_out_early: bool,
    /// Whether it stands in the buyer's list of orders.
    pub is_listed: bool,
}

impl Found {
    /// Reads the answer of `orders/order`.
    pub fn read(order: &Value, is_listed: bool) -> Self {
        let items = order["items"].as_array().map_or(&[][..], Vec::as_slice);
        let (returned, items): (Vec<&Value>, Vec<&Value>) =
            items.iter().partition(|item| item["refund"] == "succeeded");
        Self {
            returned: returned.len(),
            status: order["status"].as_str().unwrap_or_default().to_owned(),
            show: number(&order["show_id"]),
            seats: items
                .iter()
                .filter(|item| !item["seat"].is_null())
                .map(|item| number(&item["seat"]))
                .collect(),
            tickets: items.len(),
            refund: order["payment"]["refund"].as_str().map(str::to_owned),
            lasts_ms: moment(&order["expires"]).saturating_sub(moment(&order["placed"])),
            ran_out_early: ran_out_at(order).is_some_and(|at| at < moment(&order["expires"])),
            is_listed,
        }
    }

    fn is_paid(&self) -> bool {
        matches!(self.status.as_str(), "paid" | "ticketed")
    }

    fn is_refunded(&self) -> bool {
        self.refund.as_deref() == Some("succeeded")
    }
}

/// A number, whether JSON has it as a number or as a string.
fn number(value: &Value) -> u64 {
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or(u64::MAX)
}

/// A moment at the venue, in milliseconds since 1970 UTC.
fn moment(value: &Value) -> u64 {
    value["at"].as_u64().unwrap_or(0)
}

/// When the order was cancelled because nobody had paid it in time; none when it was not.
fn ran_out_at(order: &Value) -> Option<u64> {
    let entries = order["timeline"].as_array()?;
    let is_timeout = |entry: &&Value| {
        entry["what"]["what"] == "cancelled" && entry["what"]["reason"] == "timeout"
    };
    entries
        .iter()
        .find(is_timeout)
        .map(|entry| moment(&entry["at"]))
}

/// What all that came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub orders: usize,
    pub paid: usize,
    pub tickets: usize,
    pub refunded: usize,
    pub discarded: usize,
    pub lost: usize,
}

/// Compares, and names every fault in a line.
pub fn audit(told: &[Told], found: &BTreeMap<String, Found>) -> (Totals, Vec<String>) {
    let mut totals = Totals {
        orders: told.len(),
        ..Totals::default()
    };
    let mut faults = Vec::new();
    let mut numbers = BTreeSet::new();
    let mut sold = BTreeMap::new();
    for told in told {
        let order_no = &told.order_no;
        if !numbers.insert(order_no) {
            faults.push(format!("order {order_no} was given to two submissions"));
        }
        let Some(order) = found.get(order_no) else {
            totals.lost += 1;
            if !told.may_be_lost {
                faults.push(format!("order {order_no} is gone: its buyer can't find it"));
            }
            if told.captures > 0 {
                faults.push(format!("order {order_no} was paid and is gone"));
            }
            continue;
        };
        faults.extend(faults_of(told, order));
        totals.paid += usize::from(order.is_paid());
        totals.refunded += usize::from(order.is_refunded());
        totals.discarded += usize::from(order.status == "discarded");
        if order.is_paid() {
            totals.tickets += order.tickets;
            for seat in &order.seats {
                if let Some(other) = sold.insert((order.show, *seat), order_no) {
                    faults.push(format!(
                        "seat {seat} of show {} is sold twice: orders {other} and {order_no}",
                        order.show
                    ));
                }
            }
        }
    }
    (totals, faults)
}

fn faults_of(told: &Told, order: &Found) -> Vec<String> {
    let Told { order_no, .. } = told;
    let status = &order.status;
    let mut faults = Vec::new();
    if !matches!(
        status.as_str(),
        "paid" | "ticketed" | "cancelled" | "refunded" | "discarded"
    ) {
        faults.push(format!("order {order_no} never came to an end: {status}"));
    }
    if order.ran_out_early {
        faults.push(format!("order {order_no} ran out before its deadline"));
    }
    if told.captures > 0 && !order.is_paid() && !order.is_refunded() {
        faults.push(format!(
            "order {order_no} was paid and is {status}, and its money was not given back ({})",
            order.refund.as_deref().unwrap_or("no refund")
        ));
    }
    if order.returned < told.returning {
        faults.push(format!(
            "of order {order_no} {} tickets were to go back, and {} did",
            told.returning, order.returned
        ));
    }
    // Of two payments for one order the second goes back, and of one payment what belongs to returned tickets.
    if told.captures == 1 && order.is_paid() && order.is_refunded() && order.returned == 0 {
        faults.push(format!(
            "order {order_no} is {status}, and its money was given back"
        ));
    }
    if told.saw_success && told.captures == 0 {
        faults.push(format!(
            "order {order_no} was paid before its buyer's eyes, and the bank knows nothing of it"
        ));
    }
    if order.is_paid() && told.captures == 0 {
        faults.push(format!(
            "order {order_no} is {status}, and nobody paid for it"
        ));
    }
    if told.given_up && status != "cancelled" {
        faults.push(format!("order {order_no} was given up and is {status}"));
    }
    // A page may still tell of an order that is lost; there is no row that a list could have.
    let is_told_as_lost = told.may_be_lost && status == "discarded";
    if !order.is_listed && !is_told_as_lost {
        faults.push(format!("order {order_no} is not in its buyer's list"));
    }
    faults
}

/// What the server itself has to say: the invariants that are violated, from `seatflow verify --json`.
pub fn violations(evidence: &Value) -> Vec<String> {
    let Some(invariants) = evidence["invariants"]
        .as_array()
        .filter(|all| !all.is_empty())
    else {
        return vec!["verify: no evidence".to_owned()];
    };
    invariants
        .iter()
        .filter(|invariant| invariant["violations"] != 0)
        .map(|invariant| {
            format!(
                "verify: {} {}",
                invariant["violations"],
                invariant["name"].as_str().unwrap_or("of something")
            )
        })
        .collect()
}

/// What is still under way, from the same evidence; nothing when all is quiet.
pub fn under_way(evidence: &Value) -> Vec<String> {
    let Some(parts) = evidence["under_way"].as_array() else {
        return vec!["no evidence".to_owned()];
    };
    parts
        .iter()
        .filter(|part| part["count"] != 0)
        .map(|part| {
            format!(
                "{} {}",
                part["count"],
                part["name"].as_str().unwrap_or("things")
            )
        })
        .collect()
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
