//! The browser's entry point: takes over the page that the server rendered, and nothing else.

// The pages' views are nested types, and the release build lays them out here.
#![recursion_limit = "512"]

/// Called by the page's script once the wasm module is loaded.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_body(app::App);
    mark_hydrated();
}

/// Sets `html[data-hydrated]`, which browser tests wait for and styles may use.
fn mark_hydrated() {
    let root = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.document_element());
    if let Some(root) = root {
        // Fails only for an invalid attribute name, and this one is valid.
        let _ = root.set_attribute("data-hydrated", "");
    }
}
