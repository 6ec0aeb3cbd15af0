//! Sends callbacks until they are acknowledged.

use super::{
    CALLBACK_TIMEOUT, Gateway,
    error::GatewayError,
    signature::{SIGNATURE_HEADER, SIGNATURE_TOLERANCE},
    store::deliveries::{self, Delivery, Next},
    wire::Callback,
};
use app::domain::time::{Millis, Timestamp};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Pauses after the first, second, … attempt that was not acknowledged.
const FIRST_PAUSES: [Millis; 5] = [
    Millis::seconds(1),
    Millis::seconds(2),
    Millis::seconds(5),
    Millis::seconds(15),
    Millis::seconds(60),
];
/// Every pause after those.
const LATER_PAUSE: Millis = Millis::minutes(5);
/// How long after it was first due a callback is still sent.
const GIVE_UP_AFTER: Millis = Millis::minutes(24 * 60);
/// How long an attempt belongs to the server that took it: the request's timeout with room for the store.
const LEASE: Millis = Millis::seconds(30);
/// How many requests are under way at once.
const IN_FLIGHT_MAX: usize = 32;
/// How long the worker sleeps at most, so that it sees what another server queued and a clock that was moved.
const IDLE_MAX: Millis = Millis::seconds(1);
/// How much a stale signature's time lies in the past.
const STALE_BY: Millis = Millis(2 * SIGNATURE_TOLERANCE.0);

/// Works until `stop` is cancelled.
pub(super) async fn run(gateway: &Gateway, stop: CancellationToken) {
    let mut in_flight = JoinSet::new();
    while !stop.is_cancelled() {
        let pause = match work(gateway, &mut in_flight).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::error!(error = ?error, "the gateway's worker failed and goes on");
                Duration::from_millis(IDLE_MAX.0.unsigned_abs())
            }
        };
        let full = in_flight.len() >= IN_FLIGHT_MAX;
        tokio::select! {
            () = stop.cancelled() => break,
            () = gateway.inner.nudge.notified(), if !full => {}
            _ = in_flight.join_next(), if !in_flight.is_empty() => {}
            () = tokio::time::sleep(pause), if !full => {}
        }
    }
    while in_flight.join_next().await.is_some() {}
}

/// Starts what is due and says how long nothing else will be.
async fn work(gateway: &Gateway, in_flight: &mut JoinSet<()>) -> Result<Duration, GatewayError> {
    while in_flight.try_join_next().is_some() {}
    if deliveries::next_due(gateway.pool())
        .await?
        .is_some_and(|due| due <= gateway.now())
    {
        let done = gateway.do_what_is_due().await;
        let free = IN_FLIGHT_MAX.saturating_sub(in_flight.len());
        for delivery in claim_due(gateway, free).await? {
            let gateway = gateway.clone();
            in_flight.spawn(async move { attempt(&gateway, delivery).await });
        }
        done?;
    }
    let next = deliveries::next_due(gateway.pool()).await?;
    let wait = next
        .map_or(IDLE_MAX, |due| due - gateway.now())
        .min(IDLE_MAX);
    Ok(Duration::from_millis(u64::try_from(wait.0).unwrap_or(0)))
}

/// Does everything that is due at this moment, one wave after another, and waits for the answers.
pub(super) async fn deliver_all_due(gateway: &Gateway) -> Result<(), GatewayError> {
    gateway.do_what_is_due().await?;
    loop {
        let wave = claim_due(gateway, IN_FLIGHT_MAX).await?;
        if wave.is_empty() {
            return Ok(());
        }
        futures::future::join_all(wave.into_iter().map(|delivery| attempt(gateway, delivery)))
            .await;
    }
}

async fn claim_due(gateway: &Gateway, limit: usize) -> Result<Vec<Delivery>, GatewayError> {
    let limit = u32::try_from(limit).unwrap_or(0);
    let now = gateway.now();
    let mut claimed = Vec::new();
    for delivery in deliveries::due(gateway.pool(), now, limit).await? {
        if deliveries::claim(gateway.pool(), &delivery, now + LEASE).await? {
            claimed.push(delivery);
        }
    }
    Ok(claimed)
}

/// Sends a callback once and notes what came of it.
async fn attempt(gateway: &Gateway, delivery: Delivery) {
    let answer = send(gateway, &delivery).await;
    let now = gateway.now();
    let next = if answer == "200" {
        Next::Acknowledged
    } else {
        after_failure(&delivery, now)
    };
    let attempt = delivery.attempts + 1;
    let callback_id = &delivery.callback_id;
    match next {
        Next::Acknowledged => tracing::info!(callback_id, attempt, "gateway callback acknowledged"),
        Next::At(_) => tracing::info!(
            callback_id,
            attempt,
            answer,
            "gateway callback will be repeated"
        ),
        Next::GaveUp => tracing::error!(callback_id, attempt, answer, "gateway callback given up"),
    }
    if let Err(error) = deliveries::record(gateway.pool(), delivery.id, &answer, next, now).await {
        // The lease runs out and the callback is sent again: the merchant must bear repetitions anyhow.
        tracing::error!(callback_id, error = ?error, "gateway callback's answer was not recorded");
    }
}

/// When a callback is sent again that was not acknowledged by `now`.
fn after_failure(delivery: &Delivery, now: Timestamp) -> Next {
    let made = usize::try_from(delivery.attempts).unwrap_or(usize::MAX);
    let at = now + FIRST_PAUSES.get(made).copied().unwrap_or(LATER_PAUSE);
    if at - Timestamp(delivery.first_due_at) > GIVE_UP_AFTER {
        Next::GaveUp
    } else {
        Next::At(at)
    }
}

/// Posts a callback with the faults it is to have; answers with the status, or with why there is none.
async fn send(gateway: &Gateway, delivery: &Delivery) -> String {
    let faulty = delivery.attempts < delivery.faulty_attempts;
    let body = if faulty && delivery.wrong_amount {
        with_other_amount(&delivery.body)
    } else {
        delivery.body.clone()
    };
    let signed_at = if faulty && delivery.stale_timestamp {
        gateway.now() - STALE_BY
    } else {
        gateway.now()
    };
    let keys = &gateway.inner.config.keys;
    let signature = if faulty && delivery.wrong_signature {
        keys.sign(b"another body", signed_at)
    } else {
        keys.sign(body.as_bytes(), signed_at)
    };
    let sent = gateway
        .inner
        .http
        .post(&delivery.url)
        .timeout(CALLBACK_TIMEOUT)
        .header(reqwest::header::CONTENT_TYPE, "application/json")
        .header(SIGNATURE_HEADER, signature)
        .body(body)
        .send()
        .await;
    match sent {
        Ok(response) => response.status().as_str().to_owned(),
        Err(error) if error.is_timeout() => "timeout".to_owned(),
        Err(_) => "unreachable".to_owned(),
    }
}

/// The same notice with one smallest unit more.
fn with_other_amount(body: &str) -> String {
    serde_json::from_str::<Callback>(body)
        .and_then(|callback| {
            let amount_minor = callback.amount_minor.saturating_add(1);
            serde_json::to_string(&Callback {
                amount_minor,
                ..callback
            })
        })
        .unwrap_or_else(|_| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(attempts: u32) -> Delivery {
        Delivery {
            id: 1,
            callback_id: "cb_1".to_owned(),
            url: String::new(),
            body: String::new(),
            wrong_signature: false,
            stale_timestamp: false,
            wrong_amount: false,
            faulty_attempts: 1,
            attempts,
            next_at: 0,
            first_due_at: 0,
        }
    }

    #[test]
    fn pauses_grow_and_then_stay() {
        let pauses: Vec<_> = (0..8)
            .map(|attempts| after_failure(&delivery(attempts), Timestamp(0)))
            .collect();
        let seconds = [1, 2, 5, 15, 60, 300, 300, 300];
        assert_eq!(
            pauses,
            seconds.map(|pause| Next::At(Timestamp(pause * 1000)))
        );
    }

    #[test]
    fn a_day_after_it_was_due_a_callback_is_given_up() {
        let last = Millis(GIVE_UP_AFTER.0 - LATER_PAUSE.0);
        assert_eq!(
            after_failure(&delivery(290), Timestamp(last.0)),
            Next::At(Timestamp(GIVE_UP_AFTER.0))
        );
        assert_eq!(
            after_failure(&delivery(290), Timestamp(last.0 + 1)),
            Next::GaveUp
        );
    }
}
