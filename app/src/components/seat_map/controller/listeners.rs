//! One function that hears every event of the map.

use super::Controller;
use leptos::prelude::{document, window};
use std::rc::Rc;
use web_sys::{
    AddEventListenerOptions, Element, Event, EventTarget,
    wasm_bindgen::{JsCast, closure::Closure},
};

const OF_MAP: [&str; 12] = [
    "change",
    "click",
    "keydown",
    "focusin",
    "pointerdown",
    "pointermove",
    "pointerup",
    "wheel",
    "touchstart",
    "touchmove",
    "touchend",
    "touchcancel",
];
const OF_PAGE: [&str; 1] = ["visibilitychange"];
const OF_BROWSER: [&str; 2] = ["online", "offline"];

/// Keeps listening until it is dropped, which ends the controller.
pub struct Listeners {
    controller: Rc<Controller>,
    /// Moving the focus while hearing a key is heard too, hence not `FnMut`.
    hear: Closure<dyn Fn(Event)>,
    page: EventTarget,
    browser: EventTarget,
}

/// Starts listening. What the map's own elements hear ends with them.
pub fn listen(root: &Element, controller: &Rc<Controller>) -> Listeners {
    let hearing = Rc::clone(controller);
    let hear = Closure::new(move |event: Event| hearing.on_event(&event));
    let listeners = Listeners {
        controller: Rc::clone(controller),
        hear,
        page: document().into(),
        browser: window().into(),
    };
    let callback = listeners.hear.as_ref().unchecked_ref();
    // Zooming with the wheel or two fingers must be able to keep the browser from zooming the whole page.
    let options = AddEventListenerOptions::new();
    options.set_passive(false);
    for name in OF_MAP {
        let _ = root.add_event_listener_with_callback_and_add_event_listener_options(
            name, callback, &options,
        );
    }
    for (target, name) in listeners.outside() {
        let _ = target.add_event_listener_with_callback(name, callback);
    }
    listeners
}

impl Listeners {
    /// The controller that hears the events.
    pub fn controller(&self) -> &Rc<Controller> {
        &self.controller
    }

    /// What is listened to beyond the map.
    fn outside(&self) -> impl Iterator<Item = (&EventTarget, &'static str)> {
        let of_page = OF_PAGE.into_iter().map(|name| (&self.page, name));
        of_page.chain(OF_BROWSER.into_iter().map(|name| (&self.browser, name)))
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        self.controller.stop_polling();
        for (target, name) in self.outside() {
            let _ = target
                .remove_event_listener_with_callback(name, self.hear.as_ref().unchecked_ref());
        }
    }
}
