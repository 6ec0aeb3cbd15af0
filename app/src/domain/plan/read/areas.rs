//! Reading what is drawn around the seats.

use super::Reader;
use crate::domain::plan::fault::PlanFaultKind;
use crate::domain::plan::source::{Object, Path, count};
use crate::domain::plan::{Area, AreaFrame, AreaText, TEXT_SIZE_DEFAULT};

const SHAPES: &str = "\"rectangle\", \"circle\", \"ellipse\", \"polygon\", \"text\"";
const POLYGON_POINTS_MIN: usize = 3;

impl<'a> Reader<'a> {
    pub(super) fn area(&mut self, value: &'a str, path: Path<'_>, zone: (f64, f64)) {
        let Some(area) = self.source.object(value, path) else {
            return;
        };
        let frame = self.frame(&area, zone);
        let Some(shape) = self.name(&area, "shape") else {
            return;
        };
        let area = match shape.as_str() {
            "rectangle" => self.rectangle(&area, frame),
            "circle" => self.circle(&area, frame),
            "ellipse" => self.ellipse(&area, frame),
            "polygon" => self.polygon(&area, frame),
            "text" => Some(Area::Text { frame }),
            other => return self.bad_choice(&area, "shape", other, SHAPES),
        };
        self.plan.areas.extend(area);
    }

    fn frame(&mut self, area: &Object<'a, '_>, zone: (f64, f64)) -> AreaFrame {
        let (x, y) = self.required_point(area, "position");
        let rotation = area.get("rotation");
        let rotation_deg = rotation
            .and_then(|value| self.bounded_number(value, Path::Key(&area.path, "rotation")));
        AreaFrame {
            x: zone.0 + x,
            y: zone.1 + y,
            rotation_deg: rotation_deg.unwrap_or_default(),
            color: self.color(area, "color"),
            border: self.color(area, "border_color"),
            text: self.text_of(area),
        }
    }

    /// Editors leave a text of nothing on every shape; that is no text.
    fn text_of(&mut self, area: &Object<'a, '_>) -> Option<AreaText> {
        let text = area.get("text")?;
        let object = self.source.object(text, Path::Key(&area.path, "text"))?;
        let (x, y) = self.optional_point(&object, "position");
        let color = self.color(&object, "color");
        let size = self.extent(&object, "size").unwrap_or(TEXT_SIZE_DEFAULT);
        let text = self.area_text(&object)?;
        Some(AreaText {
            text,
            x,
            y,
            size,
            color,
        })
    }

    fn rectangle(&mut self, area: &Object<'a, '_>, frame: AreaFrame) -> Option<Area> {
        let size = self.source.required(area, "rectangle")?;
        let size = self
            .source
            .object(size, Path::Key(&area.path, "rectangle"))?;
        let width = self.required_extent(&size, "width");
        let height = self.required_extent(&size, "height");
        Some(Area::Rectangle {
            frame,
            width: width?,
            height: height?,
        })
    }

    fn circle(&mut self, area: &Object<'a, '_>, frame: AreaFrame) -> Option<Area> {
        let circle = self.source.required(area, "circle")?;
        let circle = self
            .source
            .object(circle, Path::Key(&area.path, "circle"))?;
        let radius = self.required_extent(&circle, "radius")?;
        Some(Area::Circle { frame, radius })
    }

    fn ellipse(&mut self, area: &Object<'a, '_>, frame: AreaFrame) -> Option<Area> {
        let ellipse = self.source.required(area, "ellipse")?;
        let path = Path::Key(&area.path, "ellipse");
        let ellipse = self.source.object(ellipse, path)?;
        let radius = self.source.required(&ellipse, "radius")?;
        let radius = self.source.object(radius, Path::Key(&path, "radius"))?;
        let radius_x = self.required_extent(&radius, "x");
        let radius_y = self.required_extent(&radius, "y");
        Some(Area::Ellipse {
            frame,
            radius_x: radius_x?,
            radius_y: radius_y?,
        })
    }

    fn polygon(&mut self, area: &Object<'a, '_>, frame: AreaFrame) -> Option<Area> {
        let polygon = self.source.required(area, "polygon")?;
        let path = Path::Key(&area.path, "polygon");
        let polygon = self.source.object(polygon, path)?;
        let value = self.source.required(&polygon, "points")?;
        let path = Path::Key(&path, "points");
        let items = self.source.items(value, path)?;
        if items.len() < POLYGON_POINTS_MIN {
            let kind = PlanFaultKind::TooFewPoints {
                count: count(items.len()),
            };
            self.source.fault(value, path, kind);
        }
        let points = items
            .iter()
            .enumerate()
            .map(|(i, point)| self.point(point, Path::Item(&path, i)));
        let points = points.collect();
        Some(Area::Polygon { frame, points })
    }
}
