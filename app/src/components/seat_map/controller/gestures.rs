//! The map's size and place in its window: buttons, wheel, two fingers, and dragging with the mouse. One finger scrolls by
//! itself.

use super::{Controller, dom};
use web_sys::{
    Element, Event, HtmlElement, PointerEvent, TouchEvent, WheelEvent, wasm_bindgen::JsCast,
};

/// One press of a button changes the map's scale by this factor.
const STEP: f64 = 1.3;
/// The largest seat, in CSS pixels.
const SEAT_PX_MAX: f64 = 72.0;
/// How much a unit of the wheel's turn changes the logarithm of the scale.
const WHEEL_RATE: f64 = 0.002;

/// What the reader's hands are doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gesture {
    None,
    /// Dragging with the mouse, from where pointer and window were.
    Drag {
        x: i32,
        y: i32,
        left: i32,
        top: i32,
    },
    /// Two fingers, from how far they were apart and how large the map was.
    Pinch {
        apart: f64,
        scale: f64,
    },
}

impl Controller {
    pub(super) fn on_click(&self, event: &Event) {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        let button = target.and_then(|target| target.closest("[data-zoom]").ok().flatten());
        let Some(word) = button.and_then(|button| button.get_attribute("data-zoom")) else {
            return;
        };
        let scale = self.scale.get();
        let scale = match word.as_str() {
            "in" => scale * STEP,
            "out" => scale / STEP,
            _ => 0.0,
        };
        self.resize(scale, self.middle());
    }

    pub(super) fn on_gesture(&self, event: &Event) {
        match event.type_().as_str() {
            "wheel" => self.on_wheel(event.unchecked_ref()),
            "pointerdown" => self.on_pointer_down(event.unchecked_ref()),
            "pointermove" => self.on_pointer_move(event.unchecked_ref()),
            "pointerup" => self.end_drag(),
            "touchstart" => self.on_touch_start(event.unchecked_ref()),
            "touchmove" => self.on_touch_move(event.unchecked_ref()),
            _ => self.end_pinch(),
        }
    }

    fn on_wheel(&self, event: &WheelEvent) {
        if event.ctrl_key() || event.meta_key() {
            event.prevent_default();
            let at = (f64::from(event.client_x()), f64::from(event.client_y()));
            self.resize(self.scale.get() * (-event.delta_y() * WHEEL_RATE).exp(), at);
        }
    }

    fn on_pointer_down(&self, event: &PointerEvent) {
        self.by_pointer.set(true);
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<Element>().ok());
        let is_on_ground = target.is_some_and(|target| {
            self.window.contains(Some(&target))
                && target.closest("input, a").ok().flatten().is_none()
        });
        if event.pointer_type() == "mouse" && event.button() == 0 && is_on_ground {
            self.gesture.replace(Gesture::Drag {
                x: event.client_x(),
                y: event.client_y(),
                left: self.window.scroll_left(),
                top: self.window.scroll_top(),
            });
            // Without the capture a drag that leaves the window would go on; it ends with the next move instead.
            let _ = self.window.set_pointer_capture(event.pointer_id());
        }
    }

    fn on_pointer_move(&self, event: &PointerEvent) {
        let Gesture::Drag { x, y, left, top } = *self.gesture.borrow() else {
            return;
        };
        if event.buttons() == 0 {
            self.end_drag();
            return;
        }
        self.window.set_scroll_left(left + x - event.client_x());
        self.window.set_scroll_top(top + y - event.client_y());
    }

    fn end_drag(&self) {
        let mut gesture = self.gesture.borrow_mut();
        if matches!(*gesture, Gesture::Drag { .. }) {
            *gesture = Gesture::None;
        }
    }

    fn on_touch_start(&self, event: &TouchEvent) {
        if let Some((apart, _)) = self.fingers(event) {
            event.prevent_default();
            self.gesture.replace(Gesture::Pinch {
                apart,
                scale: self.scale.get(),
            });
        }
    }

    fn on_touch_move(&self, event: &TouchEvent) {
        let gesture = *self.gesture.borrow();
        if let (Gesture::Pinch { apart, scale }, Some((now_apart, at))) =
            (gesture, self.fingers(event))
        {
            event.prevent_default();
            self.resize(scale * now_apart / apart, at);
        }
    }

    fn end_pinch(&self) {
        self.gesture.replace(Gesture::None);
    }

    /// How far two fingers are apart, and the point between them.
    fn fingers(&self, event: &TouchEvent) -> Option<(f64, (f64, f64))> {
        let touches = event.touches();
        let (one, other) = (touches.get(0)?, touches.get(1)?);
        let (x, y) = (f64::from(one.client_x()), f64::from(one.client_y()));
        let (right, down) = (
            f64::from(other.client_x()) - x,
            f64::from(other.client_y()) - y,
        );
        let target = event.target()?.dyn_into::<Element>().ok()?;
        self.window
            .contains(Some(&target))
            .then(|| (right.hypot(down), (x + right / 2.0, y + down / 2.0)))
    }

    /// The middle of the window, on the screen.
    fn middle(&self) -> (f64, f64) {
        let window = self.window.get_bounding_client_rect();
        (
            window.left() + window.width() / 2.0,
            window.top() + window.height() / 2.0,
        )
    }

    /// The map's size before it is scaled, in CSS pixels.
    fn size(&self) -> (f64, f64) {
        (
            f64::from(self.plane.offset_width()),
            f64::from(self.plane.offset_height()),
        )
    }

    /// A scale at which the whole map fits at least and a seat does not become a wall.
    fn bounded(&self, scale: f64) -> f64 {
        let (width, height) = self.size();
        let whole = (f64::from(self.window.client_width()) / width)
            .min(f64::from(self.window.client_height()) / height);
        let seat_px = dom::find(&self.plane, ".seat")
            .map_or(SEAT_PX_MAX, |seat| f64::from(seat.offset_width()));
        scale.clamp(whole.min(1.0), (SEAT_PX_MAX / seat_px).max(1.0))
    }

    /// Scales the map and keeps the point that is at `at` on the screen where it is. The seats are not laid out again, and
    /// margins tell the window how much there is to scroll.
    fn resize(&self, scale: f64, at: (f64, f64)) {
        let scale = self.bounded(scale);
        let (width, height) = self.size();
        let before = self.plane.get_bounding_client_rect();
        let part = (
            (at.0 - before.left()) / before.width(),
            (at.1 - before.top()) / before.height(),
        );
        let aside = ((f64::from(self.window.client_width()) - width * scale) / 2.0).max(0.0);
        let (right, bottom) = (whole(width * (scale - 1.0)), whole(height * (scale - 1.0)));
        if self.scale.get() == 1.0 {
            // A smaller map must not make the window smaller, and move the buttons away from under the finger.
            set_px(&self.window, "min-height", self.window.offset_height());
        }
        set_px(&self.plane, "width", whole(width));
        // In whole numbers: writing floating point numbers would make the program larger.
        let style = self.plane.style();
        let _ = style.set_property(
            "transform",
            &format!("scale(calc({} / 10000))", whole(scale * 10_000.0)),
        );
        let _ = style.set_property(
            "margin",
            &format!("0 {right}px {bottom}px {}px", whole(aside)),
        );
        self.scale.set(scale);
        let after = self.plane.get_bounding_client_rect();
        let (right, down) = (part.0 * after.width(), part.1 * after.height());
        scroll_by(
            &self.window,
            after.left() + right - at.0,
            after.top() + down - at.1,
        );
    }

    /// Shows the middle of a map that is wider than its window, or the first chosen seat.
    pub(super) fn centre(&self) {
        let chosen = self.plane.query_selector("input:checked").ok().flatten();
        let target = chosen.map(|chosen| chosen.get_bounding_client_rect());
        let middle = self.middle();
        let plane = self.plane.get_bounding_client_rect();
        match target {
            Some(seat) => scroll_by(&self.window, seat.left() - middle.0, seat.top() - middle.1),
            None if self.window.scroll_left() == 0 => {
                scroll_by(
                    &self.window,
                    plane.left() + plane.width() / 2.0 - middle.0,
                    0.0,
                );
            }
            None => {}
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a map is some thousand pixels wide"
)]
fn whole(value: f64) -> i32 {
    value.round() as i32
}

fn set_px(element: &HtmlElement, property: &str, length: i32) {
    // Fails only for names that are none.
    let _ = element
        .style()
        .set_property(property, &format!("{length}px"));
}

fn scroll_by(window: &HtmlElement, right: f64, down: f64) {
    window.set_scroll_left(window.scroll_left() + whole(right));
    window.set_scroll_top(window.scroll_top() + whole(down));
}
