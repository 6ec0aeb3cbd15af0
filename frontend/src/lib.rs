//! The browser's entry point, and nothing else.

// What the browser runs are the islands of the pages, which the page's script finds by their names.
use app as _;

/// Called by the page's script once the wasm module is loaded, before it takes over the page's islands.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
