//! Folders of plans.

use std::path::Path;

use crate::domain::plan::{Plan, PlanFault};

/// The plans of the sample catalogue.
pub(super) const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/plans");
/// Invented halls, each with an oddity of real ones.
pub(super) const ODD_HALLS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/domain/best_available/tests/plans"
);

/// Each plan file of a folder with its name, read or refused, by name.
pub(super) fn plans_of(folder: &str) -> Vec<(String, Result<Plan, Vec<PlanFault>>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut paths: Vec<_> = paths.filter(|path| is_plan(path)).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has no plan");
    let read = |path: &Path| {
        let file = path.file_name().expect("a file has a name");
        let json = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (file.to_string_lossy().into_owned(), Plan::parse(&json))
    };
    paths.iter().map(|path| read(path)).collect()
}

fn is_plan(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "json")
}

/// The text of the file that lies beside a plan and has another ending.
pub(super) fn beside(folder: &str, file: &str, ending: &str) -> String {
    let path = Path::new(folder).join(file).with_extension(ending);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
