//! What customers find when they are asked after a sale.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Buyer, PATIENCE, RETRY_MS, is_busy, text};
use crate::chaos::audit::Told;
use crate::chaos::http::Answer;
use crate::interrupt;

/// How the cashier's page marks a payment whose money was taken.
const TAKEN: &str = r#"class="stamp succeeded""#;

impl Buyer {
    /// One of the customer's orders; none when there is no such order.
    ///
    /// # Errors
    /// When nobody answers, or not with an order.
    pub fn order(&mut self, port: u16, order_no: &str) -> Result<Option<Value>> {
        let answer = self.patiently(port, &format!("/api/orders/order?order_no={order_no}"))?;
        match answer.status {
            200 => Ok(Some(answer.json())),
            404 => Ok(None),
            status => bail!("order {order_no} can't be read: {status} {}", answer.body),
        }
    }

    /// Numbers of all the customer's orders.
    ///
    /// # Errors
    /// As [`Buyer::order`].
    pub fn listed(&mut self, port: u16) -> Result<Vec<String>> {
        let mut numbers = Vec::new();
        let mut path = "/api/orders/list".to_owned();
        loop {
            let answer = self.patiently(port, &path)?;
            if answer.status != 200 {
                bail!(
                    "a list of orders can't be read: {} {}",
                    answer.status,
                    answer.body
                );
            }
            let page = answer.json();
            let orders = page["orders"].as_array().context("a list of orders")?;
            numbers.extend(orders.iter().filter_map(|order| text(&order["order_no"])));
            match text(&page["next_before"]) {
                Some(before) => path = format!("/api/orders/list?before={before}"),
                None => return Ok(numbers),
            }
        }
    }

    /// What the customer was told in the sale, and of which payments the bank says now that it has taken the money.
    ///
    /// # Errors
    /// As [`Buyer::order`].
    pub fn told(&mut self) -> Result<Vec<Told>> {
        let mut all = Vec::new();
        for memory in self.orders.clone() {
            let mut told = memory.told;
            for (port, path) in &memory.cashiers {
                let page = self.patiently(*port, path)?;
                told.captures += usize::from(page.body.contains(TAKEN));
            }
            all.push(told);
        }
        Ok(all)
    }

    fn patiently(&mut self, port: u16, path: &str) -> Result<Answer> {
        let begun = Instant::now();
        loop {
            interrupt::check()?;
            match self.client.get(port, path) {
                Ok(answer) if !is_busy(&answer) => return Ok(answer),
                Ok(answer) if begun.elapsed() > PATIENCE => return Ok(answer),
                Err(error) if begun.elapsed() > PATIENCE => {
                    return Err(error).context("nobody answers");
                }
                _ => std::thread::sleep(Duration::from_millis(RETRY_MS)),
            }
        }
    }
}
