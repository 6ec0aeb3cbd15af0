//! A private Apache Kafka: one node that is broker and controller (KRaft), run from the jars that Maven resolved.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Purpose, Service, ServiceSet};
use crate::command::{find_program, run_logged};
use crate::packages::kafka_jars;
use crate::ports::Ports;
use crate::secrets::random_bytes;
use crate::workspace::Workspace;

const DEADLINE_S: u64 = 60;
const ANSWER_MS: u64 = 500;
/// The broker's last line of a start.
const STARTED: &str = "Kafka Server started";

pub(super) struct Kafka {
    jars: PathBuf,
    folder: PathBuf,
    purpose: Purpose,
    ports: Ports,
}

impl Kafka {
    pub(super) fn new(workspace: &Workspace, set: &ServiceSet, ports: Ports) -> Self {
        Self {
            jars: kafka_jars(workspace),
            folder: set.folder.join("kafka"),
            purpose: set.purpose,
            ports,
        }
    }

    pub(super) fn brokers(&self) -> String {
        format!("127.0.0.1:{}", self.ports.kafka)
    }

    fn settings_file(&self) -> PathBuf {
        self.folder.join("server.properties")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn java(&self, heap_mb: u16) -> Result<Command> {
        let mut command = Command::new(find_program("java").context("java is not installed")?);
        command
            .arg(format!("-Xmx{heap_mb}m"))
            .args([
                "-XX:+UseSerialGC",
                "-Dorg.slf4j.simpleLogger.showDateTime=true",
            ])
            .arg("-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS")
            .arg("-cp")
            .arg(self.jars.join("*"));
        if self.purpose == Purpose::Test {
            // A test's broker lives for minutes: the second compiler would cost more than it gives.
            command.arg("-XX:TieredStopAtLevel=1");
        }
        Ok(command)
    }

    fn format(&self, logs: &Path) -> Result<()> {
        let mut command = self.java(256)?;
        command
            .args([
                "kafka.tools.StorageTool",
                "format",
                "-t",
                &cluster_id()?,
                "-c",
            ])
            .arg(self.settings_file());
        run_logged(&mut command, &logs.join("kafka-format.log"))
    }
}

impl Service for Kafka {
    fn name(&self) -> String {
        "Kafka".to_owned()
    }

    fn id(&self) -> &'static str {
        "kafka"
    }

    fn marker(&self) -> &'static str {
        "kafka.Kafka"
    }

    fn address(&self) -> String {
        self.brokers()
    }

    fn prepare(&self, logs: &Path) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("could not create {}", self.folder.display()))?;
        // Written at each start, since the ports may have changed.
        fs::write(
            self.settings_file(),
            server_properties(&self.data(), self.ports),
        )
        .context("could not write Kafka's settings")?;
        if !self.data().join("meta.properties").exists() {
            self.format(logs)?;
        }
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let mut command = self.java(512)?;
        command.arg("kafka.Kafka").arg(self.settings_file());
        Ok(command)
    }

    fn is_ready(&self, log: &Path) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.ports.kafka));
        // The port opens before the broker has joined its own cluster; the line comes after.
        TcpStream::connect_timeout(&address, Duration::from_millis(ANSWER_MS)).is_ok()
            && fs::read_to_string(log).is_ok_and(|text| text.contains(STARTED))
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(DEADLINE_S)
    }
}

/// A random cluster id: 16 bytes in URL-safe base64 without padding, 22 characters, never beginning with a dash.
fn cluster_id() -> Result<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bytes = random_bytes(16)?;
    // The first letter is one of A to Z: a leading dash would be taken for an option.
    bytes[0] %= 26 * 4;
    let mut id = String::new();
    for chunk in bytes.chunks(3) {
        let joined = chunk
            .iter()
            .fold(0_u32, |joined, byte| joined << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for position in 0..=chunk.len() {
            let letter = (joined >> (18 - 6 * position)) & 63;
            id.push(char::from(LETTERS[usize::try_from(letter)?]));
        }
    }
    Ok(id)
}

fn server_properties(data: &Path, ports: Ports) -> String {
    let Ports {
        kafka,
        kafka_controller,
        ..
    } = ports;
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{kafka_controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{kafka},CONTROLLER://127.0.0.1:{kafka_controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{kafka}\n\
         controller.listener.names=CONTROLLER\n\
         inter.broker.listener.name=PLAINTEXT\n\
         listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
         log.dirs={}\n\
         auto.create.topics.enable=false\n\
         num.partitions=12\n\
         offsets.topic.replication.factor=1\n\
         offsets.topic.num.partitions=12\n\
         transaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\n\
         transaction.state.log.num.partitions=4\n\
         share.coordinator.state.topic.replication.factor=1\n\
         share.coordinator.state.topic.min.isr=1\n\
         group.initial.rebalance.delay.ms=0\n",
        data.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_id_has_22_letters_and_never_begins_with_a_dash() {
        for _ in 0..200 {
            let id = cluster_id().unwrap();
            assert_eq!(id.len(), 22, "{id}");
            assert!(
                id.starts_with(|first: char| first.is_ascii_uppercase()),
                "{id}"
            );
        }
    }

    #[test]
    fn the_settings_advertise_the_port_that_clients_use() {
        let ports = Ports {
            database: 1,
            redis: 2,
            kafka: 3,
            kafka_controller: 4,
        };
        let text = server_properties(Path::new("/data"), ports);
        assert!(
            text.contains("\nadvertised.listeners=PLAINTEXT://127.0.0.1:3\n"),
            "{text}"
        );
        assert!(
            text.contains("\ncontroller.quorum.voters=1@127.0.0.1:4\n"),
            "{text}"
        );
        assert!(
            text.contains("\nauto.create.topics.enable=false\n"),
            "{text}"
        );
    }
}
