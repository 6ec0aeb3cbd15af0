//! Doing something for many orders, a few of them at a time.

use futures::StreamExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does all of the work, at most `at_once` pieces of it at a time; what came of it, in no particular order.
///
/// # Errors
/// The first error. Nothing more is begun after one, because it would mostly fail for the same reason; what was begun is done to
/// its end all the same, so that no transaction is left in the middle.
pub(super) async fn side_by_side<T, E, W>(work: Vec<W>, at_once: usize) -> Result<Vec<T>, E>
where
    W: Future<Output = Result<T, E>>,
{
    let failed = AtomicBool::new(false);
    let (noted, goes_on) = (&failed, |_: &W| !failed.load(Ordering::Relaxed));
    let begun = work.into_iter().take_while(goes_on);
    let outcomes: Vec<_> = futures::stream::iter(begun)
        .map(|piece| async move {
            let outcome = piece.await;
            noted.fetch_or(outcome.is_err(), Ordering::Relaxed);
            outcome
        })
        .buffer_unordered(at_once)
        .collect()
        .await;
    outcomes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Does pieces of which the one that is named fails; those that began, and those that ended.
    async fn pieces(count: u32, failing: u32) -> (Result<Vec<u32>, u32>, Vec<u32>, Vec<u32>) {
        let (began, ended) = (Mutex::default(), Mutex::default());
        let note = |list: &Mutex<Vec<u32>>, piece| list.lock().expect("a list").push(piece);
        let (from, to) = (&began, &ended);
        let piece = |piece| async move {
            note(from, piece);
            // The first of them take longest.
            for _ in piece..count {
                tokio::task::yield_now().await;
            }
            note(to, piece);
            if piece == failing {
                Err(piece)
            } else {
                Ok(piece)
            }
        };
        let outcome = side_by_side((0..count).map(piece).collect(), 3).await;
        let list = |list: Mutex<Vec<u32>>| list.into_inner().expect("a list");
        (outcome, list(began), list(ended))
    }

    #[tokio::test]
    async fn all_work_is_done() {
        let (outcome, began, mut ended) = pieces(8, 8).await;
        let all: Vec<u32> = (0..8).collect();
        let mut done = outcome.expect("no piece fails");
        done.sort_unstable();
        ended.sort_unstable();
        assert_eq!((&done, &began, &ended), (&all, &all, &all));
    }

    #[tokio::test]
    async fn nothing_is_begun_after_an_error_and_what_was_begun_is_done_to_its_end() {
        let (outcome, began, mut ended) = pieces(8, 2).await;
        assert_eq!(outcome, Err(2));
        ended.sort_unstable();
        assert_eq!((began, ended), (vec![0, 1, 2], vec![0, 1, 2]));
    }
}
