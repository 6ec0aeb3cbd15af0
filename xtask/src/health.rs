//! Asks a server on this machine whether it is ready.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const ANSWER_MS: u64 = 2_000;

/// Whether `GET /health/ready` on `port` answers 200.
pub fn is_ready(port: u16) -> bool {
    status_line(port).is_ok_and(|line| says_ok(&line))
}

fn status_line(port: u16) -> std::io::Result<String> {
    let timeout = Duration::from_millis(ANSWER_MS);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    stream
        .write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    // `HTTP/1.1 200` is all that matters.
    let mut first = [0; 12];
    stream.read_exact(&mut first)?;
    Ok(String::from_utf8_lossy(&first).into_owned())
}

fn says_ok(status_line: &str) -> bool {
    status_line.starts_with("HTTP/1.") && status_line.ends_with(" 200")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_means_ready() {
        assert!(says_ok("HTTP/1.1 200"));
        assert!(!says_ok("HTTP/1.1 503"));
        assert!(!says_ok("SSH-2.0-Open"));
    }

    #[test]
    fn nobody_there_means_not_ready() {
        let port = crate::ports::any_free().unwrap();
        assert!(!is_ready(port));
    }
}
