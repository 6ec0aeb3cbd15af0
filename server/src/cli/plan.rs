//! `seatflow plan check FILE…`: says whether seating plans can be imported, and names every fault with its place.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use app::domain::plan::{PLAN_BYTES_MAX, Plan, PlanFault, PlanFaultKind};

/// Prints a line for each sound file and one for each fault of the others, as editors and `grep` know them
/// (`FILE:LINE:COLUMN what`). Exit code 1 if there was any fault or a file could not be read.
#[must_use]
pub fn check(files: &[PathBuf]) -> ExitCode {
    match report(files, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever reads the output may have seen enough (`| head`); the verdict is then not known.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Reads a seating plan from a file: its text, which is what is stored, and the plan.
///
/// # Errors
/// The lines to show: why the file can't be read, or each fault with its place.
pub fn read(file: &Path) -> Result<(String, Plan), Vec<String>> {
    let shown = file.display();
    let json =
        read_text(file).map_err(|error| vec![format!("{shown}: cannot be read: {error}")])?;
    let json = json.map_err(|fault| vec![format!("{shown}:{fault}")])?;
    match Plan::parse(&json) {
        Ok(plan) => Ok((json, plan)),
        Err(faults) => Err(faults
            .iter()
            .map(|fault| format!("{shown}:{fault}"))
            .collect()),
    }
}

fn report(files: &[PathBuf], out: &mut impl Write) -> io::Result<bool> {
    let mut all_sound = true;
    for file in files {
        match read(file) {
            Ok((_, plan)) => writeln!(out, "{}: ok, {}", file.display(), summary(&plan))?,
            Err(lines) => {
                all_sound = false;
                for line in lines {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(all_sound)
}

fn summary(plan: &Plan) -> String {
    let seats = counted(plan.seats.len(), "seat", "seats");
    let zones = counted(plan.sections().len(), "zone", "zones");
    let categories = counted(plan.categories.len(), "category", "categories");
    format!("{seats}, {zones}, {categories}")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The text of a file, or the fault that keeps it from being text. Reads no more than a plan may have.
fn read_text(file: &Path) -> io::Result<Result<String, PlanFault>> {
    let at_start = |kind| PlanFault {
        line: 1,
        column: 1,
        path: String::new(),
        kind,
    };
    let bytes = fs::metadata(file)?.len();
    let bytes_max = u64::try_from(PLAN_BYTES_MAX).unwrap_or(u64::MAX);
    if bytes > bytes_max {
        return Ok(Err(at_start(PlanFaultKind::TooLarge { bytes })));
    }
    let mut content = Vec::new();
    // One byte more than allowed, so that a pipe without a length is refused as well.
    File::open(file)?
        .take(bytes_max + 1)
        .read_to_end(&mut content)?;
    Ok(String::from_utf8(content).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line_start = sound
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let line = sound.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&sound[line_start..])
            .chars()
            .count()
            + 1;
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let message = "the file is not UTF-8; save it as UTF-8".to_owned();
        let kind = PlanFaultKind::NotJson { message };
        PlanFault {
            line: place(line),
            column: place(column),
            ..at_start(kind)
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is removed with the test.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(name: &str, content: &[u8]) -> TestFile {
            let path = std::env::temp_dir().join(format!("seatflow-{}-{name}", std::process::id()));
            fs::write(&path, content).expect("the temporary folder can be written");
            TestFile(path)
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let removed = fs::remove_file(&self.0);
            debug_assert!(removed.is_ok(), "a test's own file can be removed");
        }
    }

    fn reported(files: &[PathBuf]) -> (bool, String) {
        let mut out = Vec::new();
        let sound = report(files, &mut out).expect("a vector takes all");
        (sound, String::from_utf8(out).expect("messages are text"))
    }

    fn samples() -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/plans");
        let entries = fs::read_dir(folder).expect("there are sample plans");
        entries
            .map(|entry| entry.expect("a sample plan can be listed").path())
            .collect()
    }

    const SMALLEST: &str = r#"{"name": "H", "categories": [{"name": "S"}], "zones": [{"position": {"x": 0, "y": 0}, "rows": [
{"row_number": "A", "seats": [{"seat_guid": "a", "seat_number": "1", "position": {"x": 0, "y": 0}, "category": "S"}]}]}]}"#;

    #[test]
    fn every_sample_plan_is_sound() {
        let (sound, out) = reported(&samples());
        assert!(sound, "{out}");
        assert!(out.lines().count() >= 6, "{out}");
    }

    #[test]
    fn no_two_seats_of_a_sample_plan_overlap() {
        for file in samples() {
            let (_, plan) = read(&file).expect("a sound plan");
            for (index, a) in plan.seats.iter().enumerate() {
                for b in &plan.seats[index + 1..] {
                    let distance = (a.x - b.x).hypot(a.y - b.y);
                    assert!(
                        distance >= a.radius + b.radius,
                        "{}: {} and {}",
                        file.display(),
                        a.guid,
                        b.guid
                    );
                }
            }
        }
    }

    #[test]
    fn a_sound_file_is_one_line_with_its_counts() {
        let file = TestFile::new("sound.json", SMALLEST.as_bytes());
        let (sound, out) = reported(std::slice::from_ref(&file.0));
        assert!(sound);
        assert_eq!(
            out,
            format!("{}: ok, 1 seat, 1 zone, 1 category\n", file.0.display())
        );
    }

    #[test]
    fn each_fault_is_a_line_with_file_and_place_and_sound_files_are_still_checked() {
        let faulty = TestFile::new(
            "faulty.json",
            SMALLEST.replace("\"S\"}]}]}]", "\"T\"}]}]}]").as_bytes(),
        );
        let good = TestFile::new("good.json", SMALLEST.as_bytes());
        let (sound, out) = reported(&[faulty.0.clone(), good.0.clone()]);
        assert!(!sound);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 2, "{out}");
        let start = format!(
            "{}:2:112 zones[0].rows[0].seats[0].category: \"T\" is not",
            faulty.0.display()
        );
        assert!(lines[0].starts_with(&start), "{out}");
        assert!(
            lines[1].ends_with("ok, 1 seat, 1 zone, 1 category"),
            "{out}"
        );
    }

    #[test]
    fn a_file_that_is_missing_no_text_or_too_large_is_said_so() {
        let (sound, out) = reported(&[PathBuf::from("/nowhere/plan.json")]);
        assert!(
            !sound && out.starts_with("/nowhere/plan.json: cannot be read: "),
            "{out}"
        );
        let latin = TestFile::new("latin.json", b"{\n \"name\": \"Th\xe9\xe2tre\"}");
        let (sound, out) = reported(std::slice::from_ref(&latin.0));
        assert!(
            !sound && out.contains(":2:13 not JSON: the file is not UTF-8"),
            "{out}"
        );
        let large = TestFile::new("large.json", &vec![b' '; PLAN_BYTES_MAX + 1]);
        let (sound, out) = reported(std::slice::from_ref(&large.0));
        assert!(
            !sound && out.contains(":1:1 the file has 8388609 bytes"),
            "{out}"
        );
    }
}
