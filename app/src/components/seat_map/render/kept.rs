//! The newest skeletons, so that a page costs little more than copying one.

use super::Skeleton;
use crate::{
    domain::{
        catalogue::{ShowPage, Zone},
        plan::Plan,
    },
    i18n::Lang,
    ports::ShowMap,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of skeletons that are kept.
const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A skeleton and what it was made from.
struct Kept {
    plan: Arc<Plan>,
    zone_of_category: Arc<[Option<u16>]>,
    zones: Vec<Zone>,
    skeleton: Arc<Skeleton>,
}

impl Kept {
    /// Whether the skeleton is of this map, in this language, with these names and prices.
    fn is_of(&self, map: &ShowMap, show: &ShowPage, lang: Lang) -> bool {
        let same_zone = |(a, b): (&Zone, &Zone)| a.name == b.name && a.price == b.price;
        self.skeleton.lang == lang
            && Arc::ptr_eq(&self.plan, &map.plan)
            && self.zone_of_category == map.zone_of_category
            && self.zones.len() == show.zones.len()
            && self.zones.iter().zip(&show.zones).all(same_zone)
    }
}

/// The newest skeletons, the last used one at the end.
static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The skeleton of a map, made or kept. The plan must be the same object each time, or nothing is ever found again.
pub fn skeleton(map: &ShowMap, show: &ShowPage, lang: Lang) -> Arc<Skeleton> {
    let find = |kept: &mut Vec<Kept>| {
        let place = kept.iter().position(|kept| kept.is_of(map, show, lang))?;
        let found = kept.remove(place);
        let skeleton = Arc::clone(&found.skeleton);
        kept.push(found);
        Some(skeleton)
    };
    if let Some(skeleton) = find(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner)) {
        return skeleton;
    }
    // Not under the lock: a large hall takes milliseconds.
    let skeleton = Arc::new(Skeleton::new(map, show, lang));
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push(Kept {
        plan: Arc::clone(&map.plan),
        zone_of_category: Arc::clone(&map.zone_of_category),
        zones: show.zones.clone(),
        skeleton: Arc::clone(&skeleton),
    });
    let mut bytes: usize = kept.iter().map(|kept| kept.skeleton.text.len()).sum();
    while bytes > KEPT_BYTES_MAX && kept.len() > 1 {
        bytes -= kept.remove(0).skeleton.text.len();
    }
    skeleton
}
