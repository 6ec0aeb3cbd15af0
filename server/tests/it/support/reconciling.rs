//! A round of reconciliation, which must say what it did: each repair is noted once, counted once, and shown to staff.

use super::eventually;
use app::domain::ids::{OrderNo, ShowId};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use server::{
    cli,
    mysql::dead_letters::RepairNote,
    ticketing::{
        Ticketing,
        reconcile::{Class, Round},
    },
};
use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    pin::pin,
};

/// More notes than any test leaves.
const NOTES_MAX: u32 = 1_000;

/// What a repair is told by: of which class, in which show, with which order, what was wrong.
type Told = (String, ShowId, Option<OrderNo>, String);

/// One round on stores of the test's own. What it repaired must be in the notes, in the figures and in what
/// `seatflow repairs` prints, once each, and nothing else may be there.
pub async fn reconcile(ticketing: &Ticketing) -> Round {
    let before = notes(ticketing).await;
    let recorder = PrometheusBuilder::new().build_recorder();
    // A running server may be at a round of its own.
    let round = eventually("nobody else leads", || async {
        ticketing.reconcile().await.expect("stores")
    });
    let round = counted_by(&recorder, round).await;
    let after = notes(ticketing).await;
    assert_eq!(after[..before.len()], before[..], "a note is never changed");
    let noted = &after[before.len()..];
    assert_eq!(noted.len(), round.repaired, "a note for each repair");
    are_findings(noted, &round);
    assert_eq!(
        repairs_counted(&recorder.handle().render()),
        by_class(noted),
        "each repair is counted under its class"
    );
    is_printed(ticketing, noted).await;
    round
}

/// One round that must put right all that it finds; the classes of what it found.
pub async fn all_repaired(ticketing: &Ticketing) -> Vec<Class> {
    let round = reconcile(ticketing).await;
    assert_eq!(round.repaired, round.findings.len(), "{:?}", round.findings);
    round.findings.iter().map(|finding| finding.class).collect()
}

async fn notes(ticketing: &Ticketing) -> Vec<RepairNote> {
    ticketing.db().repairs(NOTES_MAX).await.expect("notes")
}

/// Counts what this work counts, and nothing of what other tests do meanwhile in the same process.
async fn counted_by<T>(recorder: &PrometheusRecorder, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| metrics::with_local_recorder(recorder, || work.as_mut().poll(context))).await
}

/// Each note tells of one finding of the round, and no two of the same.
fn are_findings(noted: &[RepairNote], round: &Round) {
    let findings = round.findings.iter().map(|finding| {
        let class = finding.class.word().to_owned();
        (
            class,
            finding.show,
            finding.order_no,
            finding.detail.clone(),
        )
    });
    let mut findings: Vec<Told> = findings.collect();
    for note in noted {
        let told = (
            note.class.clone(),
            note.show,
            note.order_no,
            note.detail.clone(),
        );
        let at = findings.iter().position(|finding| *finding == told);
        let at = at.unwrap_or_else(|| panic!("nothing was found that {note:?} tells of"));
        findings.swap_remove(at);
    }
}

fn by_class(noted: &[RepairNote]) -> BTreeMap<String, u64> {
    let mut by_class = BTreeMap::new();
    for note in noted {
        *by_class.entry(note.class.clone()).or_default() += 1;
    }
    by_class
}

/// The figures `seatflow_repairs_total` of a page that Prometheus would read.
fn repairs_counted(page: &str) -> BTreeMap<String, u64> {
    let figure = |line: &str| {
        let rest = line.strip_prefix(r#"seatflow_repairs_total{class=""#)?;
        let (class, count) = rest.split_once(r#""} "#)?;
        Some((class.to_owned(), count.parse().expect("a whole number")))
    };
    page.lines().filter_map(figure).collect()
}

/// Staff who ask for the newest repairs read of them.
async fn is_printed(ticketing: &Ticketing, noted: &[RepairNote]) {
    let most = u32::try_from(noted.len()).expect("a small number");
    let printed = cli::dead_letters::repairs(ticketing, most).await;
    let printed = printed.expect("repairs");
    assert_eq!(printed.lines().count(), noted.len() + 1, "{printed}");
    for (line, note) in printed.lines().zip(noted) {
        let is_told = line.contains(&note.class) && line.contains(&note.detail);
        assert!(is_told, "{note:?} is not told in: {line}");
    }
    assert!(
        printed.ends_with(&format!("{} repair(s).", noted.len())),
        "{printed}"
    );
}
