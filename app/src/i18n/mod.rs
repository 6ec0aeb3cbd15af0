//! Words of the pages.
