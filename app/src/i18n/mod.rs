//! Words of the pages, in every language.
//!
//! Texts are plain structs of `&'static str`, one an area, made by [`texts!`]: each line holds one text in all languages, so
//! that a missing translation does not compile. Texts with values in them are functions of [`Lang`].

pub mod account;
pub mod attendees;
pub mod catalogue;
pub mod error;
pub mod order;
mod order_money;
pub mod refund;
pub mod seats;
pub mod shell;
pub mod show;
pub mod standing;
pub mod time;
pub mod timeline;
pub mod zone;

pub use crate::domain::text::Lang;
pub use error::error_text;

use leptos::prelude::*;

/// Declares a struct of texts and its function `of(lang)`. A line is `field: "English", "中文";`.
macro_rules! texts {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $en:literal, $zh:literal;)+ }) => {
        $(#[$doc])*
        pub struct $name { $(pub $field: &'static str,)+ }

        impl $name {
            /// The texts in one language.
            #[must_use]
            pub fn of(lang: $crate::i18n::Lang) -> &'static Self {
                static EN: $name = $name { $($field: $en,)+ };
                static ZH_CN: $name = $name { $($field: $zh,)+ };
                match lang {
                    $crate::i18n::Lang::En => &EN,
                    $crate::i18n::Lang::ZhCn => &ZH_CN,
                }
            }
        }
    };
}
pub(crate) use texts;

/// The page's language, as [`provide_lang`] found it.
#[must_use]
pub fn use_lang() -> Lang {
    use_context().unwrap_or_default()
}

/// Finds the page's language once and provides it to every component. Islands do so each for themselves.
///
/// The server knows it from the visitor's cookie or browser; the browser reads what the server wrote into `<html lang>`.
pub fn provide_lang() {
    provide_context(page_lang());
}

/// The language of the visitor the page is rendered for.
#[cfg(feature = "ssr")]
#[must_use]
pub fn page_lang() -> Lang {
    use_context::<crate::ports::Visitor>()
        .map(|visitor| visitor.lang)
        .unwrap_or_default()
}

#[cfg(not(feature = "ssr"))]
fn page_lang() -> Lang {
    document()
        .document_element()
        .and_then(|root| root.get_attribute("lang"))
        .and_then(|tag| Lang::from_tag(&tag))
        .unwrap_or_default()
}
