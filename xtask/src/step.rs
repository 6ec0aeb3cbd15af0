//! What the terminal shows: one line a finished step, with its time, and a live line for what is running.
//!
//! On a terminal the live line is redrawn; in a log file (CI) a long step says every half minute that it still
//! runs, so that nobody has to guess.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;

const REDRAW_MS: u64 = 125;
const REMIND_AFTER_S: u64 = 30;
const CLEAR_LINE: &str = "\r\x1b[2K";
const NAME_COLUMNS: usize = 26;
const DETAIL_COLUMNS: usize = 48;

/// How a step ended, for the closing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed,
}

/// A finished step.
#[derive(Clone, Debug)]
pub struct Record {
    pub name: String,
    pub detail: String,
    pub took: Duration,
    pub outcome: Outcome,
}

struct Live {
    id: u64,
    name: String,
    since: Instant,
    reminded: Instant,
}

#[derive(Default)]
struct Board {
    live: Vec<Live>,
    finished: Vec<Record>,
    next_id: u64,
    /// While a program writes to the terminal itself, the live line stays away.
    silent: bool,
    closed: bool,
}

struct Shared {
    board: Mutex<Board>,
    wake: Condvar,
    /// Always locked after the board.
    sink: Mutex<Box<dyn Write + Send>>,
    terminal: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Board> {
        // A panic elsewhere must not keep the remaining steps from being shown.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, text: &str) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing sensible can be done when the terminal is gone.
        let _ = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
    }

    /// Prints a whole line above the live one.
    fn print(&self, board: &Board, line: &str) {
        let clear = if self.terminal { CLEAR_LINE } else { "" };
        self.write(&format!("{clear}{line}\n"));
        self.draw(board);
    }

    fn draw(&self, board: &Board) {
        if !self.terminal || board.silent {
            return;
        }
        let mut line = String::new();
        for (index, live) in board.live.iter().enumerate() {
            let separator = if index == 0 { "  … " } else { ", " };
            let seconds = live.since.elapsed().as_secs();
            let _ = write!(line, "{separator}{} {seconds} s", live.name);
        }
        self.write(&format!("{CLEAR_LINE}{line}"));
    }

    fn remind(&self, board: &mut Board) {
        let mut lines = Vec::new();
        for live in &mut board.live {
            if live.reminded.elapsed() >= Duration::from_secs(REMIND_AFTER_S) {
                live.reminded = Instant::now();
                lines.push(format!(
                    "  … {} {} s",
                    live.name,
                    live.since.elapsed().as_secs()
                ));
            }
        }
        for line in lines {
            self.print(board, &line);
        }
    }
}

/// The steps of one task. Cheap to clone.
#[derive(Clone)]
pub struct Progress {
    shared: Arc<Shared>,
}

impl Progress {
    /// Starts the live line. The handle ends it when dropped.
    pub fn start() -> (Self, LiveLine) {
        let stderr = std::io::stderr();
        let terminal = stderr.is_terminal();
        Self::start_on(Box::new(stderr), terminal)
    }

    fn start_on(sink: Box<dyn Write + Send>, terminal: bool) -> (Self, LiveLine) {
        let shared = Arc::new(Shared {
            board: Mutex::new(Board::default()),
            wake: Condvar::new(),
            sink: Mutex::new(sink),
            terminal,
        });
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || keep_drawing(&for_thread));
        let progress = Self { shared };
        let line = LiveLine {
            progress: progress.clone(),
            thread: Some(thread),
        };
        (progress, line)
    }

    /// Begins a step that is shown until it is done, or dropped, which means failed.
    pub fn begin(&self, name: &str) -> Step {
        let mut board = self.shared.lock();
        let id = board.next_id;
        board.next_id += 1;
        let now = Instant::now();
        board.live.push(Live {
            id,
            name: name.to_owned(),
            since: now,
            reminded: now,
        });
        self.shared.draw(&board);
        Step {
            progress: self.clone(),
            id,
        }
    }

    /// Runs `work` as one step; what it returns beside its value is shown as the step's detail.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn run<T>(&self, name: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
        let step = self.begin(name);
        let (value, detail) = work()?;
        step.done(&detail);
        Ok(value)
    }

    /// Prints a line of text, whole, above the live line.
    pub fn say(&self, text: &str) {
        let board = self.shared.lock();
        self.shared.print(&board, text);
    }

    /// Leaves the terminal to a program for the time of `work`.
    pub fn silently<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut board = self.shared.lock();
            board.silent = true;
            if self.shared.terminal {
                self.shared.write(CLEAR_LINE);
            }
        }
        let value = work();
        self.shared.lock().silent = false;
        value
    }

    /// The steps that have ended, in that order.
    pub fn finished(&self) -> Vec<Record> {
        self.shared.lock().finished.clone()
    }

    fn end(&self, id: u64, outcome: Outcome, detail: &str) {
        let mut board = self.shared.lock();
        let Some(position) = board.live.iter().position(|live| live.id == id) else {
            return;
        };
        let live = board.live.remove(position);
        let record = Record {
            name: live.name,
            detail: detail.to_owned(),
            took: live.since.elapsed(),
            outcome,
        };
        self.shared.print(&board, &line_of(&record));
        board.finished.push(record);
    }
}

/// Ends the live line when dropped.
pub struct LiveLine {
    progress: Progress,
    thread: Option<JoinHandle<()>>,
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.progress.shared.lock().closed = true;
        self.progress.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn keep_drawing(shared: &Shared) {
    let mut board = shared.lock();
    while !board.closed {
        let waited = shared
            .wake
            .wait_timeout(board, Duration::from_millis(REDRAW_MS));
        board = waited.unwrap_or_else(PoisonError::into_inner).0;
        if board.silent || board.live.is_empty() {
            continue;
        }
        if shared.terminal {
            shared.draw(&board);
        } else {
            shared.remind(&mut board);
        }
    }
}

/// A step that is under way. Dropped without [`Step::done`] it counts as failed.
pub struct Step {
    progress: Progress,
    id: u64,
}

impl Step {
    pub fn done(self, detail: &str) {
        self.progress.end(self.id, Outcome::Done, detail);
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        // After `done` the step is no longer on the board, and this finds nothing.
        self.progress.end(self.id, Outcome::Failed, "");
    }
}

/// One finished step as a line: mark, name, detail, seconds.
pub fn line_of(record: &Record) -> String {
    let mark = match record.outcome {
        Outcome::Done => "✓",
        Outcome::Failed => "✗",
    };
    format!(
        "  {mark} {:<NAME_COLUMNS$} {:<DETAIL_COLUMNS$} {:>7.1} s",
        record.name,
        shortened(&record.detail),
        record.took.as_secs_f64(),
    )
}

/// A detail may be a program's last words: one line of them, in plain characters.
fn shortened(detail: &str) -> String {
    let line = detail.lines().next().unwrap_or_default();
    let plain = line.chars().filter(|character| !character.is_control());
    let mut short: String = plain.clone().take(DETAIL_COLUMNS).collect();
    if plain.count() > DETAIL_COLUMNS {
        short.pop();
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_dropped_counts_as_failed() {
        let (progress, _line) = Progress::start_on(Box::new(std::io::sink()), false);
        drop(progress.begin("one"));
        progress.begin("two").done("ready");
        let outcomes: Vec<_> = progress
            .finished()
            .iter()
            .map(|step| step.outcome)
            .collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Done]);
    }

    #[test]
    fn a_line_has_name_detail_and_seconds() {
        let line = line_of(&Record {
            name: "server".to_owned(),
            detail: "debug".to_owned(),
            took: Duration::from_millis(2_340),
            outcome: Outcome::Done,
        });
        assert!(line.starts_with("  ✓ server "), "{line}");
        assert!(
            line.contains(" debug ") && line.ends_with(" 2.3 s"),
            "{line}"
        );
    }

    #[test]
    fn a_long_detail_is_cut_to_its_column() {
        assert_eq!(shortened("short\nsecond line"), "short");
        let cut = shortened(&"x".repeat(DETAIL_COLUMNS + 1));
        assert_eq!(cut.chars().count(), DETAIL_COLUMNS);
        assert!(cut.ends_with('…'));
    }
}
