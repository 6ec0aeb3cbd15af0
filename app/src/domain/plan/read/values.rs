//! Members of an object by what they mean: names, colours, points, extents. Each notes its own faults.

use super::Reader;
use crate::domain::plan::fault::PlanFaultKind;
use crate::domain::plan::source::{Object, Path, count, shown};
use crate::domain::plan::{
    PLAN_AREA_TEXT_CHARS_MAX, PLAN_COORDINATE_MAX, PLAN_NAME_CHARS_MAX, PLAN_PLACE_CHARS_MAX, color,
};

impl<'a> Reader<'a> {
    pub(super) fn name(&mut self, object: &Object<'a, '_>, key: &str) -> Option<String> {
        self.source.required(object, key)?;
        self.optional_name(object, key)
    }

    pub(super) fn filled_name(
        &mut self,
        object: &Object<'a, '_>,
        key: &str,
        chars_max: usize,
    ) -> Option<String> {
        self.source.required(object, key)?;
        let name = self.bounded_text(object, key, chars_max)?;
        if name.trim().is_empty() {
            self.source.fault(
                object.get(key)?,
                Path::Key(&object.path, key),
                PlanFaultKind::EmptyText,
            );
            return None;
        }
        Some(name)
    }

    /// A row's or a seat's own number, which tickets say.
    pub(super) fn place_name(&mut self, object: &Object<'a, '_>, key: &str) -> Option<String> {
        self.source.required(object, key)?;
        self.bounded_text(object, key, PLAN_PLACE_CHARS_MAX)
    }

    pub(super) fn optional_name(&mut self, object: &Object<'a, '_>, key: &str) -> Option<String> {
        self.bounded_text(object, key, PLAN_NAME_CHARS_MAX)
    }

    pub(super) fn bounded_text(
        &mut self,
        object: &Object<'a, '_>,
        key: &str,
        chars_max: usize,
    ) -> Option<String> {
        let value = object.get(key)?;
        let path = Path::Key(&object.path, key);
        let text = self.source.text(value, path)?;
        let chars = text.chars().count();
        if chars > chars_max {
            let kind = PlanFaultKind::TooLong {
                chars: count(chars),
                chars_max: count(chars_max),
            };
            self.source.fault(value, path, kind);
            return None;
        }
        Some(text)
    }

    /// Editors write an empty text for "no colour".
    pub(super) fn color(&mut self, object: &Object<'a, '_>, key: &str) -> Option<String> {
        let text = self
            .optional_name(object, key)
            .filter(|text| !text.is_empty())?;
        if !color::is_color(&text) {
            let kind = PlanFaultKind::BadColor {
                value: shown(&text),
            };
            self.source
                .fault(object.get(key)?, Path::Key(&object.path, key), kind);
            return None;
        }
        Some(text)
    }

    pub(super) fn bad_choice(
        &mut self,
        object: &Object<'a, '_>,
        key: &str,
        value: &str,
        allowed: &str,
    ) {
        let kind = PlanFaultKind::BadChoice {
            value: shown(value),
            allowed: allowed.to_owned(),
        };
        if let Some(at) = object.get(key) {
            self.source.fault(at, Path::Key(&object.path, key), kind);
        }
    }

    /// `{"x": …, "y": …}`; the origin where it is missing or faulty.
    pub(super) fn required_point(&mut self, object: &Object<'a, '_>, key: &str) -> (f64, f64) {
        match self.source.required(object, key) {
            Some(value) => self.point(value, Path::Key(&object.path, key)),
            None => (0.0, 0.0),
        }
    }

    pub(super) fn optional_point(&mut self, object: &Object<'a, '_>, key: &str) -> (f64, f64) {
        object.get(key).map_or((0.0, 0.0), |value| {
            self.point(value, Path::Key(&object.path, key))
        })
    }

    pub(super) fn point(&mut self, value: &'a str, path: Path<'_>) -> (f64, f64) {
        let Some(point) = self.source.object(value, path) else {
            return (0.0, 0.0);
        };
        (self.coordinate(&point, "x"), self.coordinate(&point, "y"))
    }

    pub(super) fn coordinate(&mut self, object: &Object<'a, '_>, key: &str) -> f64 {
        let Some(value) = self.source.required(object, key) else {
            return 0.0;
        };
        self.bounded_number(value, Path::Key(&object.path, key))
            .unwrap_or_default()
    }

    pub(super) fn bounded_number(&mut self, value: &'a str, path: Path<'_>) -> Option<f64> {
        let number = self.source.number(value, path)?;
        if number.abs() > PLAN_COORDINATE_MAX {
            let kind = PlanFaultKind::BadCoordinate {
                value: shown(value),
            };
            self.source.fault(value, path, kind);
            return None;
        }
        Some(number)
    }

    pub(super) fn required_extent(&mut self, object: &Object<'a, '_>, key: &str) -> Option<f64> {
        self.source.required(object, key)?;
        self.extent(object, key)
    }

    /// A width, height, radius or letter size.
    pub(super) fn extent(&mut self, object: &Object<'a, '_>, key: &str) -> Option<f64> {
        let value = object.get(key)?;
        let path = Path::Key(&object.path, key);
        let number = self.source.number(value, path)?;
        if number <= 0.0 || number > PLAN_COORDINATE_MAX {
            self.source.fault(
                value,
                path,
                PlanFaultKind::BadExtent {
                    value: shown(value),
                },
            );
            return None;
        }
        Some(number)
    }

    pub(super) fn area_text(&mut self, object: &Object<'a, '_>) -> Option<String> {
        self.bounded_text(object, "text", PLAN_AREA_TEXT_CHARS_MAX)
            .filter(|text| !text.trim().is_empty())
    }
}
