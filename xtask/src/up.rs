//! `cargo xtask up`: from nothing to a running SeatFlow, and `down`, which ends it from another terminal.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::compile::{self, Profile};
use crate::interrupt;
use crate::packages::{self, Need};
use crate::ports;
use crate::secrets::Secrets;
use crate::server::{self, Server};
use crate::services::{Purpose, Running, ServiceSet, Services, SetLock, stop_left_over};
use crate::step::Progress;
use crate::workspace::Workspace;

const SET: &str = "dev";
const WATCH_MS: u64 = 100;
const DOWN_DEADLINE_S: u64 = 90;
/// The accounts that the seed creates, beside the generated password.
const ACCOUNTS: [(&str, &str); 2] = [("customer", "13800000001"), ("staff", "13800000002")];

/// Sets up, builds and serves until somebody asks it to stop.
///
/// # Errors
/// When a step fails, or a service or the server ends by itself.
pub fn up(workspace: &Workspace, port: u16, progress: &Progress) -> Result<()> {
    let begun = Instant::now();
    let folder = workspace.state().join(SET);
    let _lock = SetLock::take(&folder, &server::address(port))?;
    stop_left_over(&folder.join("pids"))?;
    if !ports::is_free(port) {
        bail!(
            "port {port} is taken by another program. Free it, or choose another: cargo xtask up --port {}",
            port.checked_add(1).unwrap_or(3000)
        );
    }
    packages::ensure(workspace, &needs(), progress)?;
    let set = ServiceSet::new(workspace, SET, Purpose::Keep, packages::database_flavour()?);
    let secrets = Secrets::load(workspace)?;
    let mut services = Services::start(workspace, &set, &secrets, progress)?;
    compile::all(workspace, Profile::Dev, progress)?;

    let server = Server::new(workspace, &set, &services.endpoints, &secrets, port);
    server.run(&["migrate"], progress)?;
    server.run(&["seed"], progress)?;
    let mut running = server.serve(progress)?;

    progress.say(&announcement(
        &server.address(),
        &secrets.demo_password(),
        begun.elapsed(),
    ));
    let watched = watch(&mut running, &mut services);
    progress.say("");
    progress.run("stop server", || {
        drop(running);
        Ok(((), String::new()))
    })?;
    services.stop(progress);
    watched
}

/// Ends the task that `up` runs in, and whatever it may have left.
///
/// # Errors
/// When something doesn't end.
pub fn down(workspace: &Workspace, progress: &Progress) -> Result<()> {
    let folder = workspace.state().join(SET);
    let mut stopped = Vec::new();
    if SetLock::is_taken(&folder)? {
        progress.run("stop SeatFlow", || {
            let task = SetLock::holder(&folder)
                .context("a task runs in this folder, but does not say which process it is")?;
            task.signal(Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(DOWN_DEADLINE_S);
            while SetLock::is_taken(&folder)? {
                if Instant::now() > deadline {
                    bail!(
                        "process {} does not end within {DOWN_DEADLINE_S} s",
                        task.pid()
                    );
                }
                std::thread::sleep(Duration::from_millis(WATCH_MS));
            }
            Ok(((), format!("process {}", task.pid())))
        })?;
        stopped.push("SeatFlow".to_owned());
    }
    stopped.extend(stop_left_over(&folder.join("pids"))?);
    if stopped.is_empty() {
        progress.say("Nothing is running from this folder.");
    } else {
        progress.say(&format!(
            "Stopped: {}. The data stays in {}.",
            stopped.join(", "),
            workspace.shown(&folder)
        ));
    }
    Ok(())
}

/// What is needed, less what the environment names.
pub fn needs() -> Vec<Need> {
    let mut needs = vec![Need::Build];
    needs.extend((!packages::is_given("DATABASE_URL")).then_some(Need::Database));
    needs.extend((!packages::is_given("REDIS_URL")).then_some(Need::Redis));
    needs.extend((!packages::is_given("KAFKA_BROKERS")).then_some(Need::Kafka));
    needs
}

fn announcement(address: &str, password: &str, took: Duration) -> String {
    let mut text = format!(
        "\nSeatFlow is ready: {address}    ({:.1} s)\n",
        took.as_secs_f64()
    );
    for (role, phone) in ACCOUNTS {
        text.push_str(&format!(
            "  {role:<9} phone {phone}   password {password}\n"
        ));
    }
    text.push_str("Ctrl-C stops it.");
    text
}

/// Waits until somebody asks to stop, which is the good end, or something ends by itself, which isn't.
fn watch(server: &mut Running, services: &mut Services) -> Result<()> {
    loop {
        if interrupt::requested() {
            return Ok(());
        }
        if let Some(status) = server.ended() {
            bail!(server.complaint(&format!("ended by itself ({status})")));
        }
        if let Some(complaint) = services.first_ended() {
            bail!(complaint);
        }
        std::thread::sleep(Duration::from_millis(WATCH_MS));
    }
}
