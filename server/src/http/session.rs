//! Sessions and device names, in signed cookies.

use crate::{
    clock::Clock,
    config::Secret,
    ticketing::accounts::{SESSION_LASTS, is_current},
};
use app::{
    domain::{
        ids::UserId,
        time::Timestamp,
        user::{Role, User},
    },
    ports::SessionChange,
};
use http::HeaderMap;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const ISSUER: &str = "seatflow";
const AUDIENCE_SESSION: &str = "seatflow:session";
const AUDIENCE_DEVICE: &str = "seatflow:device";
/// How long a device keeps its name, in seconds.
const DEVICE_LASTS_S: i64 = 400 * 24 * 3600;

/// Makes and reads the cookies that say who somebody is.
pub struct Sessions {
    encoding: EncodingKey,
    decoding: DecodingKey,
    is_tls: bool,
    clock: Arc<dyn Clock>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SessionClaims {
    iss: String,
    aud: String,
    sub: String,
    iat: i64,
    exp: i64,
    role: Role,
    level: u8,
    phone: String,
    phone_hash: String,
}

/// The account of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// Who it is.
    pub user: User,
    /// Names the account's phone number, by a keyed hash.
    pub phone_hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct DeviceClaims {
    iss: String,
    aud: String,
    sub: String,
    exp: i64,
}

impl Sessions {
    /// Cookies signed with `secret`; `Secure` and with the `__Host-` prefix where browsers come by TLS.
    ///
    /// # Errors
    /// When the secret is no key, which the configuration's check of its length rules out.
    pub fn new(
        secret: &Secret,
        is_tls: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, jsonwebtoken::errors::Error> {
        Ok(Self {
            encoding: EncodingKey::from_secret(secret.bytes())?,
            decoding: DecodingKey::from_secret(secret.bytes())?,
            is_tls,
            clock,
        })
    }

    fn session_cookie(&self) -> &'static str {
        if self.is_tls {
            "__Host-session"
        } else {
            "session"
        }
    }

    fn device_cookie(&self) -> &'static str {
        if self.is_tls {
            "__Host-device"
        } else {
            "device"
        }
    }

    /// A session for a user who has shown who they are; `phone_hash` names their phone number.
    #[must_use]
    pub fn start(&self, user: User, phone_hash: String) -> SessionChange {
        let issued_s = self.clock.now().0 / 1000;
        let claims = SessionClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_SESSION.to_owned(),
            sub: user.id.to_string(),
            iat: issued_s,
            exp: issued_s + SESSION_LASTS.0 / 1000,
            role: user.role,
            level: user.level,
            phone: user.phone_hint.clone(),
            phone_hash,
        };
        let set_cookie = self.cookie(
            self.session_cookie(),
            &self.signed(&claims),
            SESSION_LASTS.0 / 1000,
        );
        SessionChange {
            user: Some(user),
            set_cookie,
        }
    }

    /// The end of a session.
    #[must_use]
    pub fn end(&self) -> SessionChange {
        SessionChange {
            user: None,
            set_cookie: self.cookie(self.session_cookie(), "", 0),
        }
    }

    /// The account of a request's session cookie; none when it is missing, expired, or not ours.
    #[must_use]
    pub fn signed_in(&self, headers: &HeaderMap) -> Option<SignedIn> {
        let token = cookie(headers, self.session_cookie())?;
        let claims: SessionClaims = self.verified(token, AUDIENCE_SESSION)?;
        is_current(Timestamp(claims.iat * 1000), self.clock.now()).then_some(())?;
        Some(SignedIn {
            user: User {
                id: claims.sub.parse::<UserId>().ok()?,
                role: claims.role,
                level: claims.level,
                phone_hint: claims.phone,
            },
            phone_hash: claims.phone_hash,
        })
    }

    /// The name of a request's device; none when it has none yet or a forged one.
    #[must_use]
    pub fn device(&self, headers: &HeaderMap) -> Option<String> {
        let token = cookie(headers, self.device_cookie())?;
        self.verified::<DeviceClaims>(token, AUDIENCE_DEVICE)
            .map(|claims| claims.sub)
    }

    /// A new device's name and the `Set-Cookie` value that keeps it.
    #[must_use]
    pub fn name_device(&self) -> (String, String) {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let claims = DeviceClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_DEVICE.to_owned(),
            sub: name.clone(),
            exp: self.clock.now().0 / 1000 + DEVICE_LASTS_S,
        };
        let set_cookie = self.cookie(self.device_cookie(), &self.signed(&claims), DEVICE_LASTS_S);
        (name, set_cookie)
    }

    fn signed(&self, claims: &impl Serialize) -> String {
        // Signing fails only for keys of another algorithm.
        encode(&Header::new(Algorithm::HS256), claims, &self.encoding).unwrap_or_default()
    }

    fn verified<T: serde::de::DeserializeOwned>(&self, token: &str, audience: &str) -> Option<T> {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[audience]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.leeway = 0;
        decode::<T>(token, &self.decoding, &validation)
            .ok()
            .map(|data| data.claims)
    }

    fn cookie(&self, name: &str, value: &str, max_age_s: i64) -> String {
        let secure = if self.is_tls { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={max_age_s}{secure}")
    }
}

/// The value of a cookie of a request.
#[must_use]
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(http::header::COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ShiftedClock;
    use app::domain::time::Millis;

    fn sessions(clock: &Arc<ShiftedClock>, secret: &str) -> Sessions {
        Sessions::new(
            &Secret::new(secret),
            false,
            Arc::clone(clock) as Arc<dyn Clock>,
        )
        .unwrap()
    }

    fn user() -> User {
        User {
            id: UserId(7),
            role: Role::Customer,
            level: 1,
            phone_hint: "138****0001".into(),
        }
    }

    fn request_with(set_cookie: &str) -> HeaderMap {
        let pair = set_cookie.split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::COOKIE,
            format!("a=b; {pair}").parse().unwrap(),
        );
        headers
    }

    #[test]
    fn a_session_is_read_back_until_it_ends() {
        let clock = Arc::new(ShiftedClock::default());
        let sessions = sessions(&clock, "0123456789abcdef0123456789abcdef");
        let headers = request_with(&sessions.start(user(), "9c0e".to_owned()).set_cookie);
        let signed_in = SignedIn {
            user: user(),
            phone_hash: "9c0e".to_owned(),
        };
        assert_eq!(sessions.signed_in(&headers), Some(signed_in));
        clock.advance(SESSION_LASTS);
        assert_eq!(sessions.signed_in(&headers), None);
        clock.advance(Millis(-SESSION_LASTS.0));
        assert_eq!(
            sessions.signed_in(&request_with(&sessions.end().set_cookie)),
            None
        );
    }

    #[test]
    fn a_cookie_of_another_key_or_purpose_is_nobody() {
        let clock = Arc::new(ShiftedClock::default());
        let ours = sessions(&clock, "0123456789abcdef0123456789abcdef");
        let theirs = sessions(&clock, "fedcba9876543210fedcba9876543210");
        assert_eq!(
            ours.signed_in(&request_with(
                &theirs.start(user(), String::new()).set_cookie
            )),
            None
        );
        let (_, device) = ours.name_device();
        let forged = device.replacen("device=", "session=", 1);
        assert_eq!(ours.signed_in(&request_with(&forged)), None);
    }

    #[test]
    fn a_device_keeps_its_name() {
        let clock = Arc::new(ShiftedClock::default());
        let sessions = sessions(&clock, "0123456789abcdef0123456789abcdef");
        let (name, set_cookie) = sessions.name_device();
        assert_eq!(sessions.device(&request_with(&set_cookie)), Some(name));
        assert_eq!(sessions.device(&request_with("device=made-up")), None);
    }

    #[test]
    fn a_device_whose_cookie_is_of_another_key_is_nobodys() {
        let clock = Arc::new(ShiftedClock::default());
        let ours = sessions(&clock, "0123456789abcdef0123456789abcdef");
        let theirs = sessions(&clock, "fedcba9876543210fedcba9876543210");
        let (name, set_cookie) = theirs.name_device();
        let headers = request_with(&set_cookie);
        assert_eq!(theirs.device(&headers), Some(name.clone()));
        assert_eq!(ours.device(&headers), None);
        // A session's cookie is signed with the right key, for another purpose.
        let session = ours.start(user(), String::new()).set_cookie;
        let forged = session.replacen("session=", "device=", 1);
        assert_eq!(ours.device(&request_with(&forged)), None);
        let (renamed, _) = ours.name_device();
        assert_ne!(renamed, name, "it gets a name of its own");
    }

    #[test]
    fn a_device_whose_cookie_was_altered_or_ran_out_is_nobodys() {
        let clock = Arc::new(ShiftedClock::default());
        let sessions = sessions(&clock, "0123456789abcdef0123456789abcdef");
        let (_, set_cookie) = sessions.name_device();
        let (_, other) = sessions.name_device();
        let token = |set_cookie: &str| -> Vec<String> {
            let value = set_cookie.split(['=', ';']).nth(1).unwrap();
            value.split('.').map(str::to_owned).collect()
        };
        let (mine, others) = (token(&set_cookie), token(&other));
        assert_ne!(mine[1], others[1], "another name");
        for altered in [
            // Another's name under this signature, no signature, and half of one.
            format!("{}.{}.{}", mine[0], others[1], mine[2]),
            format!("{}.{}.", mine[0], mine[1]),
            format!("{}.{}.{}", mine[0], mine[1], &mine[2][..20]),
        ] {
            let headers = request_with(&format!("device={altered}"));
            assert_eq!(sessions.device(&headers), None, "{altered}");
        }
        clock.advance(Millis(-(DEVICE_LASTS_S + 1) * 1_000));
        let (_, long_ago) = sessions.name_device();
        assert_eq!(sessions.device(&request_with(&long_ago)), None);
        clock.advance(Millis(60_000));
        let (name, about_to_end) = sessions.name_device();
        assert_eq!(sessions.device(&request_with(&about_to_end)), Some(name));
    }
}
