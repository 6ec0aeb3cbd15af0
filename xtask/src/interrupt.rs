//! Ctrl-C and SIGTERM, turned into a flag that every wait looks at.
//!
//! Nothing is stopped from inside a signal handler: a waiting step sees the flag, returns an error, and the
//! values that own running processes stop them as they are dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Starts to listen. To be called once, before the first process is started.
///
/// # Errors
/// When the handlers cannot be registered.
pub fn listen() -> Result<()> {
    let flag = REQUESTED.get_or_init(|| Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(flag))
            .context("could not listen for Ctrl-C")?;
    }
    Ok(())
}

/// Whether somebody asked this task to stop.
pub fn requested() -> bool {
    REQUESTED
        .get()
        .is_some_and(|flag| flag.load(Ordering::SeqCst))
}

/// The error of a step that was given up because somebody asked for it.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// # Errors
/// [`Interrupted`] when somebody asked this task to stop.
pub fn check() -> Result<()> {
    if requested() {
        bail!(Interrupted);
    }
    Ok(())
}
