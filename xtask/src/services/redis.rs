//! A private Redis.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Purpose, Service, ServiceSet};
use crate::command::find_program;

const DEADLINE_S: u64 = 30;
const ANSWER_MS: u64 = 500;

pub(super) struct Redis {
    folder: PathBuf,
    purpose: Purpose,
    port: u16,
}

impl Redis {
    pub(super) fn new(set: &ServiceSet, port: u16) -> Self {
        Self {
            folder: set.folder.join("redis"),
            purpose: set.purpose,
            port,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn ping(&self) -> std::io::Result<bool> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let timeout = Duration::from_millis(ANSWER_MS);
        let mut stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer)?;
        // While it loads its data it answers -LOADING.
        Ok(&answer == b"+PONG\r\n")
    }
}

impl Service for Redis {
    fn name(&self) -> String {
        "Redis".to_owned()
    }

    fn id(&self) -> &'static str {
        "redis"
    }

    fn marker(&self) -> &'static str {
        "redis-server"
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn prepare(&self, _logs: &Path) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("could not create {}", self.folder.display()))
    }

    fn command(&self) -> Result<Command> {
        let program = find_program("redis-server").context("redis-server is not installed")?;
        let mut command = Command::new(program);
        command
            .args(["--bind", "127.0.0.1", "--port", &self.port.to_string()])
            .arg("--dir")
            .arg(&self.folder)
            .args(["--daemonize", "no", "--save", ""])
            // Seats that are sold must not be thrown out to make room: better an error.
            .args(["--maxmemory-policy", "noeviction"]);
        match self.purpose {
            Purpose::Keep => command.args(["--appendonly", "yes", "--appendfsync", "everysec"]),
            Purpose::Test => command.args(["--appendonly", "no"]),
        };
        Ok(command)
    }

    fn is_ready(&self, _log: &Path) -> bool {
        self.ping().unwrap_or(false)
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(DEADLINE_S)
    }
}
