//! Where the server listens and how it is reached.

use super::{Reader, Secret};
use ipnet::IpNet;
use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

/// Most networks whose word on addresses is taken.
const PROXIES_MAX: usize = 64;

/// Addresses and files of the HTTP side.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Where it listens (`SEATFLOW_LISTEN`, default `127.0.0.1:3000`).
    pub listen: SocketAddr,
    /// How browsers reach it, without a slash at the end (`SEATFLOW_PUBLIC_URL`, default from `listen`).
    pub public_url: String,
    /// How the server reaches the payment gateway (`SEATFLOW_GATEWAY_URL`, default `{public_url}/gateway`).
    pub gateway_url: String,
    /// Whether the gateway runs as a program of its own, so that this one does not serve it (`SEATFLOW_GATEWAY_APART`,
    /// `true` or `false`, default `false`); then `SEATFLOW_GATEWAY_URL` must say where.
    pub gateway_is_apart: bool,
    /// How the gateway reaches the server for callbacks (`SEATFLOW_CALLBACK_URL`, default `public_url`).
    pub callback_url: String,
    /// Proxies whose `X-Forwarded-For` is believed (`SEATFLOW_TRUSTED_PROXIES`, addresses and networks with commas between
    /// them, default none). The address of whoever speaks through them is the last one in it that is none of them.
    pub trusted_proxies: Vec<IpNet>,
    /// Folder with the browser's files (`SEATFLOW_SITE_ROOT`, default `target/site`).
    pub site_root: PathBuf,
    /// Where metrics are served; nowhere when missing (`SEATFLOW_METRICS_LISTEN`).
    pub metrics_listen: Option<SocketAddr>,
    /// What a reader of metrics must send as `Authorization: Bearer …` (`SEATFLOW_METRICS_TOKEN`, at least 32 bytes);
    /// required unless metrics are served on loopback.
    pub metrics_token: Option<Secret>,
}

impl HttpConfig {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let fallback = SocketAddr::from(([127, 0, 0, 1], 3000));
        let listen = reader.parsed(
            "SEATFLOW_LISTEN",
            fallback,
            "an address such as 127.0.0.1:3000",
        );
        let local = format!("http://{listen}");
        let public_url = reader.url("SEATFLOW_PUBLIC_URL", &local);
        let gateway_url = reader.url("SEATFLOW_GATEWAY_URL", &format!("{public_url}/gateway"));
        let gateway_is_apart = reader.parsed("SEATFLOW_GATEWAY_APART", false, "true or false");
        if gateway_is_apart && reader.text("SEATFLOW_GATEWAY_URL").is_none() {
            reader.faults.push(
                "SEATFLOW_GATEWAY_URL is missing: SEATFLOW_GATEWAY_APART says that the gateway is elsewhere"
                    .to_owned(),
            );
        }
        let callback_url = reader.url("SEATFLOW_CALLBACK_URL", &public_url);
        let trusted_proxies = reader.networks("SEATFLOW_TRUSTED_PROXIES");
        let site_root = reader
            .text("SEATFLOW_SITE_ROOT")
            .map_or_else(|| "target/site".into(), PathBuf::from);
        let metrics_listen = reader.text("SEATFLOW_METRICS_LISTEN").map(|_| {
            reader.parsed(
                "SEATFLOW_METRICS_LISTEN",
                fallback,
                "an address such as 127.0.0.1:9464",
            )
        });
        let metrics_token = reader.optional_secret("SEATFLOW_METRICS_TOKEN");
        let is_open = metrics_listen.is_some_and(|address: SocketAddr| !address.ip().is_loopback());
        if is_open && metrics_token.is_none() {
            reader.faults.push(
                "SEATFLOW_METRICS_TOKEN is missing: SEATFLOW_METRICS_LISTEN is not on loopback"
                    .to_owned(),
            );
        }
        Self {
            listen,
            public_url,
            gateway_url,
            gateway_is_apart,
            callback_url,
            trusted_proxies,
            site_root,
            metrics_listen,
            metrics_token,
        }
    }

    /// Whether browsers come by TLS, so that cookies must be `Secure`.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}

impl Reader<'_> {
    /// Addresses and networks, with commas between them.
    fn networks(&mut self, name: &str) -> Vec<IpNet> {
        let Some(text) = self.text(name) else {
            return Vec::new();
        };
        let network = |text: &str| {
            let address = text.parse::<IpAddr>().map(IpNet::from);
            address.ok().or_else(|| text.parse().ok())
        };
        let networks: Option<Vec<IpNet>> = text.split(',').map(str::trim).map(network).collect();
        match networks {
            Some(networks) if networks.len() <= PROXIES_MAX => networks,
            _ => {
                self.faults.push(format!(
                    "{name} is not a list of at most {PROXIES_MAX} addresses or networks such as 10.0.0.0/8,192.0.2.7"
                ));
                Vec::new()
            }
        }
    }

    /// An http or https address without a slash at the end.
    pub(super) fn url(&mut self, name: &str, default: &str) -> String {
        let Some(text) = self.text(name) else {
            return default.to_owned();
        };
        if text.starts_with("http://") || text.starts_with("https://") {
            return text.trim_end_matches('/').to_owned();
        }
        self.faults
            .push(format!("{name} is not an http or https address"));
        default.to_owned()
    }
}
