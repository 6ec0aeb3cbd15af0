//! The load: customers who choose, order, pay, are declined, give up, forget and pay too late, over HTTP as browsers do.
//!
//! A customer writes down every order number and every answer, which is what the auditor goes by. A lost answer is asked
//! for again, as a browser's button is pressed again: with the same key, so that it can't become a second order.

mod asked;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value;

use super::audit::Told;
use super::http::{Answer, Client};
use super::random::Random;
use super::sale::Sale;
use super::wish::Wish;
use crate::interrupt;

const PASSWORD: &str = "chaos-buyer-1";
/// How long a customer goes on trying while nobody answers.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a customer watches an order that is on its way.
const WATCH: Duration = Duration::from_secs(8);
const RETRY_MS: u64 = 150;
const POLL_MS: u64 = 60;
const PAUSE_MS: (u64, u64) = (60, 260);

/// An order as its buyer knows it.
#[derive(Clone, Debug)]
pub struct Memory {
    pub told: Told,
    pub placed: Instant,
    /// The buyer has seen that the order was written.
    pub was_written: bool,
    pub tickets: usize,
    /// Number of the order's first ticket.
    first_ticket: u64,
    /// Where the order's payments were to be paid: port and path.
    cashiers: Vec<(u16, String)>,
}

/// A customer with an account.
#[derive(Clone, Debug)]
pub struct Buyer {
    client: Client,
    random: Random,
    /// What this customer was told in the sale that is on.
    pub orders: Vec<Memory>,
}

impl Buyer {
    /// Registers a customer.
    ///
    /// # Errors
    /// When the server refuses, or nobody answers for long.
    pub fn register(port: u16, phone: &str, seed: u64) -> Result<Self> {
        let mut client = Client::default();
        let form = [("phone", phone), ("password", PASSWORD)];
        let begun = Instant::now();
        loop {
            interrupt::check()?;
            match client.post(port, "/api/accounts/register", &form) {
                Ok(answer) if answer.is_success() => break,
                // Sign-in has its own bound on hashing.
                Ok(answer) if !is_busy(&answer) => {
                    bail!(
                        "a customer could not register: {} {}",
                        answer.status,
                        answer.body
                    )
                }
                _ if begun.elapsed() > PATIENCE => {
                    bail!("a customer could not register: no answer")
                }
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
        Ok(Self {
            client,
            random: Random::new(seed),
            orders: Vec::new(),
        })
    }

    /// Buys until the sale is over.
    pub fn buy(&mut self, sale: &Sale<'_>) {
        while !sale.is_over() {
            if let Some(index) = self.place(sale) {
                self.decide(sale, index);
            }
            let pause = PAUSE_MS.0 + self.random.below(PAUSE_MS.1 - PAUSE_MS.0);
            std::thread::sleep(Duration::from_millis(pause));
        }
    }

    /// Places an order; its place in [`Buyer::orders`], or none when it was refused or nobody answered.
    fn place(&mut self, sale: &Sale<'_>) -> Option<usize> {
        let wish = Wish::draw(&mut self.random, sale);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let port = sale.port(&mut self.random);
            match self.client.post(port, "/api/orders/place", &wish.form()) {
                Ok(answer) if answer.is_success() => {
                    sale.note_held(wish.show, wish.seats);
                    return self.remember(&text(&answer.json()["order_no"])?);
                }
                Ok(answer) if !is_busy(&answer) => return None,
                // The answer may have been lost after the seats were held: asked again with the same key.
                _ if sale.is_over() && begun.elapsed() > WATCH => return None,
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
        None
    }

    /// A submission that the server took for a repetition leads to an order that is known.
    fn remember(&mut self, order_no: &str) -> Option<usize> {
        if self
            .orders
            .iter()
            .any(|order| order.told.order_no == order_no)
        {
            return None;
        }
        self.orders.push(Memory {
            told: Told {
                order_no: order_no.to_owned(),
                ..Told::default()
            },
            placed: Instant::now(),
            was_written: false,
            tickets: 0,
            first_ticket: 0,
            cashiers: Vec::new(),
        });
        Some(self.orders.len() - 1)
    }

    fn decide(&mut self, sale: &Sale<'_>, index: usize) {
        if !self.watch(sale, index) {
            return;
        }
        let habits = sale.habits;
        let mut draw = self.random.below(100);
        let mut is_within = |share: u64| {
            let within = draw < share;
            draw = draw.wrapping_sub(share);
            within
        };
        if is_within(habits.pay) {
            // Some banks do not give money back when they are asked first.
            let refunds = ["accept", "accept", "accept", "refuse", "fail"];
            let answer = refunds[usize::try_from(self.random.below(5)).unwrap_or(0)];
            let choice = [("outcome", "succeed"), ("refund_answer", answer)];
            self.pay(sale, index, &choice);
            self.perhaps_give_back(sale, index);
        } else if is_within(habits.pay_after_a_decline) {
            self.at_cashier(sale, index, &[("outcome", "fail")]);
            self.pay(sale, index, &[("outcome", "succeed")]);
        } else if is_within(habits.pay_too_late) {
            self.pay(
                sale,
                index,
                &[("outcome", "succeed"), ("after_close", "on")],
            );
        } else if is_within(habits.give_up) {
            // Some have been at the cashier, which takes their money once the payment is closed.
            if self.random.below(2) == 0 {
                self.pay(
                    sale,
                    index,
                    &[("outcome", "succeed"), ("after_close", "on")],
                );
            }
            self.give_up(sale, index);
        }
    }

    /// Waits until the order is written; false when it came to something else, or not within reasonable time.
    fn watch(&mut self, sale: &Sale<'_>, index: usize) -> bool {
        let path = format!(
            "/api/orders/order?order_no={}",
            self.orders[index].told.order_no
        );
        let begun = Instant::now();
        while begun.elapsed() < WATCH && !sale.is_over() {
            let port = sale.port(&mut self.random);
            if let Ok(answer) = self.client.get(port, &path)
                && answer.is_success()
            {
                let order = answer.json();
                match order["status"].as_str().unwrap_or_default() {
                    "creating" => {}
                    "pending" => {
                        let tickets = order["items"].as_array().map_or(0, Vec::len);
                        let first = order["items"][0]["item_no"].as_u64();
                        self.orders[index].first_ticket = first.unwrap_or_default();
                        self.orders[index].was_written = true;
                        sale.note_pending(&self.orders[index].told.order_no);
                        self.orders[index].tickets = tickets;
                        return true;
                    }
                    _ => return false,
                }
            }
            std::thread::sleep(Duration::from_millis(POLL_MS));
        }
        false
    }

    fn pay(&mut self, sale: &Sale<'_>, index: usize, choice: &[(&str, &str)]) {
        if self.at_cashier(sale, index, choice) {
            let order = &mut self.orders[index];
            order.told.saw_success = true;
            sale.tickets.fetch_add(order.tickets, Ordering::SeqCst);
        }
    }

    /// Goes to the cashier and presses a button; true when the gateway has taken the decision.
    fn at_cashier(&mut self, sale: &Sale<'_>, index: usize, choice: &[(&str, &str)]) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < WATCH && !sale.is_over() {
            let Some((port, path)) = self.cashier(sale, index) else {
                return false;
            };
            match self.client.post(port, &path, choice) {
                Ok(answer) if answer.status == 303 => return true,
                // Closed, or declined a moment ago: the next attempt gets a cashier of its own.
                Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
        false
    }

    /// Where the cashier is; none when the order can't be paid any more.
    fn cashier(&mut self, sale: &Sale<'_>, index: usize) -> Option<(u16, String)> {
        let order_no = self.orders[index].told.order_no.clone();
        let begun = Instant::now();
        while begun.elapsed() < WATCH && !sale.is_over() {
            let port = sale.port(&mut self.random);
            let form = [("order_no", order_no.as_str())];
            match self.client.post(port, "/api/payments/start", &form) {
                Ok(answer) if answer.is_success() => {
                    let cashier = address(answer.json().as_str()?)?;
                    let known = &mut self.orders[index].cashiers;
                    if !known.contains(&cashier) {
                        known.push(cashier.clone());
                    }
                    return Some(cashier);
                }
                Ok(answer) if !is_busy(&answer) => return None,
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
        None
    }

    /// Some of those who have paid give tickets back, one or all.
    fn perhaps_give_back(&mut self, sale: &Sale<'_>, index: usize) {
        let changes_mind = self.random.below(100) < sale.habits.give_back;
        if !changes_mind || !self.orders[index].told.saw_success {
            return;
        }
        let order_no = self.orders[index].told.order_no.clone();
        let key = format!("chaos-{:016x}", self.random.next());
        let which = if self.random.below(2) == 0 {
            ("whole", "true".to_owned())
        } else {
            ("items[]", self.orders[index].first_ticket.to_string())
        };
        let form = [
            ("order_no", order_no.as_str()),
            ("idempotency_key", key.as_str()),
            (which.0, which.1.as_str()),
        ];
        let begun = Instant::now();
        while begun.elapsed() < WATCH && !sale.is_over() {
            let port = sale.port(&mut self.random);
            match self.client.post(port, "/api/orders/refund", &form) {
                Ok(answer) if answer.is_success() => {
                    let refund = answer.json();
                    self.orders[index].told.returning =
                        refund["items"].as_array().map_or(0, Vec::len);
                    return;
                }
                // The order is not paid as long as the bank's notice has not come.
                Ok(answer) if answer.json()["kind"] == "refund_closed" => return,
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
    }

    fn give_up(&mut self, sale: &Sale<'_>, index: usize) {
        let order_no = self.orders[index].told.order_no.clone();
        let begun = Instant::now();
        while begun.elapsed() < WATCH && !sale.is_over() {
            let port = sale.port(&mut self.random);
            let form = [("order_no", order_no.as_str())];
            match self.client.post(port, "/api/orders/cancel", &form) {
                Ok(answer) if answer.is_success() => {
                    self.orders[index].told.given_up = true;
                    return;
                }
                Ok(answer) if !is_busy(&answer) => return,
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
    }
}

/// Whether asking again later may help.
fn is_busy(answer: &Answer) -> bool {
    answer.status >= 500 || answer.status == 429
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Port and path of an address on this machine.
fn address(url: &str) -> Option<(u16, String)> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/')?;
    let port = host.rsplit_once(':')?.1.parse().ok()?;
    Some((port, format!("/{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cashiers_address_is_taken_apart() {
        let expected = Some((3000, "/gateway/cashier/a?lang=en".to_owned()));
        assert_eq!(
            address("http://localhost:3000/gateway/cashier/a?lang=en"),
            expected
        );
        assert_eq!(address("https://example.org/"), None);
    }
}
