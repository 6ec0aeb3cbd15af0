//! Node numbers of servers.

use super::fixture::Stage;
use app::domain::ids::OrderNo;
use server::redis::nodes::{NodeError, NodeLease};
use std::{collections::BTreeSet, time::Duration};
use tokio::time::Instant;

async fn lease(stage: &Stage, instance: &str) -> Result<NodeLease, NodeError> {
    NodeLease::acquire(stage.redis.clone(), instance.to_owned()).await
}

#[tokio::test]
async fn every_server_has_a_number_of_its_own_until_none_is_left() {
    let stage = Stage::empty().await;
    let mut leases = Vec::new();
    for server in 0..OrderNo::NODES {
        leases.push(lease(&stage, &format!("server-{server}")).await.unwrap());
    }
    let numbers: BTreeSet<u16> = leases
        .iter()
        .map(|lease| lease.node_at(Instant::now()).unwrap())
        .collect();
    assert_eq!(numbers, (0..OrderNo::NODES).collect());
    assert!(matches!(
        lease(&stage, "one-more").await,
        Err(NodeError::AllTaken)
    ));
    leases[5].give_back().await.unwrap();
    assert_eq!(leases[5].node_at(Instant::now()), None);
    tokio::time::sleep(Duration::from_millis(5)).await;
    lease(&stage, "one-more").await.unwrap();
}

#[tokio::test]
async fn a_renewed_lease_keeps_its_number_for_its_whole_lifetime() {
    let stage = Stage::empty().await;
    let lease = lease(&stage, "server").await.unwrap();
    let node = lease.node_at(Instant::now()).unwrap();
    let key = stage.redis.keys().node(node);
    let _: () = stage.raw(&["PEXPIRE", &key, "1000"]);
    lease.renew().await.unwrap();
    assert_eq!(lease.node_at(Instant::now()), Some(node));
    let ttl: i64 = stage.raw(&["PTTL", &key]);
    assert!((50_000..=60_000).contains(&ttl), "{ttl}");
}

#[tokio::test]
async fn a_number_that_went_to_another_server_is_given_up_for_a_free_one() {
    let stage = Stage::empty().await;
    let lease = lease(&stage, "server").await.unwrap();
    let node = lease.node_at(Instant::now()).unwrap();
    let key = stage.redis.keys().node(node);
    let _: () = stage.raw(&["SET", &key, "another"]);
    lease.renew().await.unwrap();
    assert_ne!(lease.node_at(Instant::now()).unwrap(), node);
    assert_eq!(stage.raw::<String>(&["GET", &key]), "another");
}

#[tokio::test]
async fn where_all_leases_are_lost_every_server_goes_on_with_its_own_number() {
    let stage = Stage::empty().await;
    let mut leases = Vec::new();
    // So many that some begin their search at the same number.
    for server in 0..40 {
        leases.push(lease(&stage, &format!("server-{server}")).await.unwrap());
    }
    let numbers = |leases: &[NodeLease]| -> Vec<u16> {
        let now = Instant::now();
        let number = |lease: &NodeLease| lease.node_at(now).unwrap();
        leases.iter().map(number).collect()
    };
    let before = numbers(&leases);
    for node in &before {
        let _: u32 = stage.raw(&["DEL", &stage.redis.keys().node(*node)]);
    }
    for lease in leases.iter().rev() {
        lease.renew().await.unwrap();
        assert_eq!(numbers(&leases), before, "nobody takes what another uses");
    }
}

#[tokio::test]
async fn a_number_is_not_used_when_its_lease_may_have_run_out() {
    let stage = Stage::empty().await;
    let before = Instant::now();
    let lease = lease(&stage, "server").await.unwrap();
    let after = Instant::now();
    assert!(lease.node_at(before + Duration::from_secs(49)).is_some());
    assert_eq!(lease.node_at(after + Duration::from_secs(51)), None);
}
