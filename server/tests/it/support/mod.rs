//! What the tests of the sale stand on: a running application, halls and customers of their own.

mod app;
mod customer;
mod notice;
mod reconciling;
mod stage;

pub use app::{GATEWAY_SECRET, ShowSpec, TestApp, config};
pub use customer::{Answer, Customer};
pub use notice::{Notice, headers_for};
pub use reconciling::{all_repaired, reconcile};
pub use stage::{Stage, choose_at, submit_to};

use std::{
    future::Future,
    sync::OnceLock,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// Runs a test on the runtime that the shared application lives on.
pub fn run<T>(test: impl Future<Output = T>) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| Runtime::new().expect("a runtime"))
        .block_on(test)
}

/// Longest wait for something that must happen, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again and again until there is an answer.
pub async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "still not: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
