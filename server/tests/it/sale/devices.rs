//! The cookie that names a device: kept while it is good, and replaced when it is not.

use crate::support::{TestApp, run};
use reqwest::header;
use server::{
    clock::{Clock, ShiftedClock},
    config::Secret,
    http::session::Sessions,
};
use std::sync::Arc;

/// The `Set-Cookie` value that a request with these cookies gets for its device.
async fn named(app: &TestApp, cookies: &str) -> Option<String> {
    let request = app.http.get(&app.base).header(header::COOKIE, cookies);
    let answer = request.send().await.expect("a page");
    let set = answer.headers().get_all(header::SET_COOKIE);
    let mut set = set.iter().filter_map(|value| value.to_str().ok());
    set.find(|set| set.starts_with("device="))
        .map(str::to_owned)
}

fn pair(set_cookie: &str) -> &str {
    set_cookie.split(';').next().expect("a pair")
}

#[test]
fn a_device_is_named_once_and_anew_when_its_cookie_is_not_ours() {
    run(async {
        let app = TestApp::shared().await;
        let first = named(app, "").await.expect("a name");
        assert_eq!(named(app, pair(&first)).await, None, "it keeps its name");
        let clock = Arc::new(ShiftedClock::default()) as Arc<dyn Clock>;
        let secret = Secret::new("a secret of somebody else, 32 bytes and more");
        let theirs = Sessions::new(&secret, false, clock).expect("a key");
        let (_, forged) = theirs.name_device();
        let (altered, _) = pair(&first).rsplit_once('.').expect("a signature");
        for bad in [pair(&forged), altered, "device=made-up"] {
            let replaced = named(app, bad).await.expect("a new name");
            assert_ne!(pair(&replaced), bad);
            assert_eq!(named(app, pair(&replaced)).await, None, "which is kept");
        }
    });
}
