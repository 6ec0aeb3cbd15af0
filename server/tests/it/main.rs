//! The integration tests: one binary, on real services.

mod scripts;
