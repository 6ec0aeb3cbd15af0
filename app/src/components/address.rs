//! Addresses of this site: what they may carry, and where the browser is led.

/// A path as the value of a query's field: everything that could end the value is percent-encoded.
#[must_use]
pub fn encode(path: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(path.len() + 16);
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(HEX[usize::from(byte >> 4)]));
            encoded.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    encoded
}

/// The address that leads to `here` in the language `tag`: the server remembers the choice and leads back.
#[must_use]
pub fn in_language(tag: &str, here: &str) -> String {
    format!("/language?to={tag}&next={}", encode(here))
}

/// Leads the browser to another page; says whether it goes.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn go_to(address: &str) -> bool {
    leptos::prelude::window()
        .location()
        .set_href(address)
        .is_ok()
}

/// The server leads nobody anywhere while it writes a page.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub fn go_to(_address: &str) -> bool {
    false
}

/// The path of the page that is shown.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn path() -> String {
    leptos::prelude::window()
        .location()
        .pathname()
        .unwrap_or_default()
}

/// Gives the page that is shown another address, so that it comes back as it is: after a reload, from the history, and in
/// the other language, whose link stands in the page's head.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn replace(address: &str) {
    use leptos::prelude::{document, window};
    let replaced = window().history().map(|history| {
        history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(address))
    });
    if !matches!(replaced, Ok(Ok(()))) {
        // A browser that refuses, after very many changes, keeps the address of before.
        return;
    }
    if let Ok(Some(link)) = document().query_selector(".top a[hreflang]")
        && let Some(tag) = link.get_attribute("hreflang")
    {
        // Fails only for an invalid attribute name, and this one is valid.
        let _ = link.set_attribute("href", &in_language(&tag, address));
    }
}

/// Loads the page again when the browser comes back to it and has kept it as it was left.
#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub fn reload_when_kept() {
    use leptos::prelude::{Effect, on_cleanup, window, window_event_listener_untyped};
    use wasm_bindgen::JsCast;
    Effect::new(|_| {
        let shown = window_event_listener_untyped("pageshow", |event| {
            let event: web_sys::PageTransitionEvent = event.unchecked_into();
            if event.persisted() {
                // A browser that refuses shows the page as it was left.
                let _ = window().location().reload();
            }
        });
        on_cleanup(move || shown.remove());
    });
}

/// The server writes every page anew.
#[cfg(not(all(feature = "hydrate", not(feature = "ssr"))))]
pub fn reload_when_kept() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_as_the_value_of_a_querys_field() {
        assert_eq!(
            encode("/shows/7?seats=1.2&x=%"),
            "/shows/7%3Fseats%3D1.2%26x%3D%25"
        );
        assert_eq!(encode("/订"), "/%E8%AE%A2");
    }

    #[test]
    fn the_way_to_the_other_language_leads_back_to_the_whole_address() {
        assert_eq!(
            in_language("zh-CN", "/shows/7?seats=1.2"),
            "/language?to=zh-CN&next=/shows/7%3Fseats%3D1.2"
        );
    }
}
