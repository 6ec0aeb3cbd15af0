//! What the server hands to an island.

use serde::{Deserialize, Serialize, Serializer};

/// Values that the server writes beside an island and the browser reads there.
///
/// An island is the same code on both sides and would write its values in the browser too, for nobody. This writes them on the
/// server only, so that the browser's build has no code for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Handed<T>(pub T);

impl<T: Serialize> Serialize for Handed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if cfg!(feature = "ssr") {
            self.0.serialize(serializer)
        } else {
            serializer.serialize_unit()
        }
    }
}
