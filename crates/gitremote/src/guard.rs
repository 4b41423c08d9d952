//! Addresses that no repository has anything on: those of the cloud's metadata services, which answer with credentials.
//!
//! Input: a URL, or the addresses that a name resolves to. Rejected: link-local addresses, also behind names and redirects.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use diagnostic::{Error, ErrorKind, Result};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Metadata services that are not at a link-local address: of Alibaba Cloud, and of Amazon over IPv6.
const METADATA: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Resolves names as the system does, and rejects what leads to a metadata service.
#[derive(Debug)]
pub(crate) struct Guard;

/// Rejects a URL whose host is the address of a metadata service.
///
/// # Errors
/// [`ErrorKind::Denied`], with the host.
pub fn permit(url: &Url) -> Result<()> {
    permit_host(url.host_str().unwrap_or_default())
}

/// Rejects a host that is the address of a metadata service.
///
/// # Errors
/// [`ErrorKind::Denied`], with the host.
pub(crate) fn permit_host(host: &str) -> Result<()> {
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal {
        Ok(address) if is_metadata(address) => Err(Error::new(ErrorKind::Denied, refusal(host))),
        _ => Ok(()),
    }
}

fn refusal(host: &str) -> String {
    format!(
        "`{host}` is a link-local address, where clouds give credentials to their machines, and is not asked"
    )
}

fn is_metadata(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || METADATA.contains(&address)
}

/// Rejects the addresses of a name if any is that of a metadata service.
fn checked(name: &str, addresses: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    if addresses.iter().any(|address| is_metadata(address.ip())) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal(name)));
    }
    Ok(addresses)
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            // The port is the client's to fill in.
            let addresses = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let addresses: Addrs = Box::new(checked(&host, addresses)?.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_not_asked() {
        for address in [
            "http://169.254.169.254/latest/meta-data/",
            "https://169.254.1.2:8080/x",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://[fe80::1]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[fd00:ec2::254]/",
            "http://100.100.100.200/",
        ] {
            let error = permit(&Url::parse(address).unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{address}");
            assert!(error.message().contains("link-local"), "{error}");
        }
        for address in ["https://example.com/", "http://127.0.0.1/", "http://10.0.0.1/", "http://[::1]/"] {
            assert!(permit(&Url::parse(address).unwrap()).is_ok(), "{address}");
        }
    }

    #[test]
    fn names_do_not_lead_to_them() {
        let socket = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert!(checked("a.example", vec![socket("192.0.2.1:0")]).is_ok());
        let error =
            checked("a.example", vec![socket("192.0.2.1:0"), socket("169.254.169.254:0")]).unwrap_err();
        assert!(error.to_string().starts_with("`a.example` is a link-local address"), "{error}");
    }
}
