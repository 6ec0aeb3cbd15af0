//! Server functions: what pages, and programs, may ask the server for.
//!
//! Each has three steps: who is asking, one call of a port, the answer. Their paths are the product's API and are
//! listed in `docs/api.md`; a test compares that list with what is registered.
//!
//! Without JavaScript the same functions take plain form posts and answer with a redirect.

pub mod accounts;
pub mod attendees;
pub mod catalogue;
pub mod orders;
pub mod payments;

#[cfg(feature = "ssr")]
pub use request::safe_path;

#[cfg(feature = "ssr")]
pub(crate) mod request {
    use crate::{
        domain::user::User,
        error::AppError,
        ports::{Ports, Visitor},
    };
    use http::{HeaderName, HeaderValue, StatusCode, header};
    use leptos::prelude::{expect_context, use_context};
    use leptos_axum::ResponseOptions;

    /// The ports the server provides to every request.
    pub fn ports() -> Ports {
        expect_context()
    }

    /// Who is asking.
    pub fn visitor() -> Visitor {
        expect_context()
    }

    /// The account that a page is written for; none when nobody is signed in, and while the routes are listed.
    pub fn reader() -> Option<User> {
        use_context::<Visitor>()?.user
    }

    /// The account that is asking; `Unauthenticated` when nobody is signed in.
    pub fn signed_in() -> Result<User, AppError> {
        visitor().user.ok_or(AppError::Unauthenticated)
    }

    /// Whether the answer goes to a page without JavaScript, which follows redirects and shows no bodies.
    pub fn is_plain_form() -> bool {
        use_context::<http::request::Parts>()
            .and_then(|parts| Some(parts.headers.get(header::ACCEPT)?.to_str().ok()?.to_owned()))
            .is_some_and(|accept| accept.contains("text/html"))
    }

    /// Sets a header of the answer.
    pub fn set_header(name: HeaderName, value: &str) {
        if let (Some(response), Ok(value)) = (
            use_context::<ResponseOptions>(),
            HeaderValue::from_str(value),
        ) {
            response.append_header(name, value);
        }
    }

    /// Gives an error's status and `Retry-After` to clients that are programs; a page's redirect must stay one.
    pub fn answer<T>(result: Result<T, AppError>) -> Result<T, AppError> {
        let Err(error) = &result else { return result };
        if is_plain_form() {
            return result;
        }
        if let Some(response) = use_context::<ResponseOptions>() {
            response.set_status(
                StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            );
        }
        if let AppError::Busy { retry_after_ms } = error {
            set_header(
                header::RETRY_AFTER,
                &retry_after_ms.div_ceil(1000).to_string(),
            );
        }
        result
    }

    /// A path of this site that a form named as the next page; anything else leads home.
    ///
    /// Refuses other sites (`https://…`, `//…`, `/\…`), so that a link to us can't send a customer elsewhere.
    pub fn safe_path(next: Option<&str>) -> &str {
        let is_ours = |path: &&str| {
            path.starts_with('/')
                && !path[1..].starts_with(['/', '\\'])
                && !path.chars().any(char::is_control)
        };
        next.filter(is_ours).unwrap_or("/")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_paths_of_this_site_are_followed() {
            assert_eq!(safe_path(Some("/shows/7?seats=1,2")), "/shows/7?seats=1,2");
            for next in [
                "",
                "//evil.example",
                "/\\evil.example",
                "https://evil.example",
                "/a\nb",
            ] {
                assert_eq!(safe_path(Some(next)), "/", "{next}");
            }
            assert_eq!(safe_path(None), "/");
        }
    }
}
