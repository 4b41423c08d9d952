//! The AWS partitions, which have their own names. Input: the host of a registry, a region. Output: the parts of the
//! host, and the URLs of services.

/// Prefixes of region names and suffixes of host names, by partition.
const PARTITIONS: [(&str, &str); 7] = [
    ("cn-", "amazonaws.com.cn"),
    ("us-iso-", "c2s.ic.gov"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("eusc-", "amazonaws.eu"),
    ("", "amazonaws.com"),
];

/// The registry that everybody may read.
pub(super) const PUBLIC: &str = "public.ecr.aws";

/// The region in which that one gives tokens.
const PUBLIC_REGION: &str = "us-east-1";

/// The service that gives tokens for a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) region: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Public,
    Private,
    Fips,
    /// By the names that have addresses of the new kind too.
    DualStack,
}

impl Service {
    /// The one of a registry: `ACCOUNT.dkr.ecr[-fips].REGION.amazonaws.com`, `ACCOUNT.dkr-ecr[-fips].REGION.on.aws`.
    pub(super) fn of(registry: &str) -> Option<Self> {
        if registry == PUBLIC {
            return Some(Self { region: PUBLIC_REGION.to_owned(), kind: Kind::Public });
        }
        let (account, rest) = registry.split_once('.')?;
        let (name, rest) = match rest.strip_prefix("dkr.").or_else(|| rest.strip_prefix("dkr-")) {
            Some(rest) => rest.split_once('.')?,
            None => return None,
        };
        let (region, suffix) = rest.split_once('.')?;
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        let is_region = region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_account || region.is_empty() || !is_region {
            return None;
        }
        let kind = match (name, suffix) {
            ("ecr", "on.aws") => Kind::DualStack,
            ("ecr-fips", "on.aws") => Kind::Fips,
            ("ecr", suffix) if suffix == suffix_of(region) => Kind::Private,
            ("ecr-fips", suffix) if suffix == suffix_of(region) => Kind::Fips,
            _ => return None,
        };
        Some(Self { region: region.to_owned(), kind })
    }

    pub(super) fn is_public(&self) -> bool {
        self.kind == Kind::Public
    }

    /// Its address.
    pub(super) fn address(&self) -> String {
        let region = &self.region;
        let suffix = suffix_of(region);
        match self.kind {
            Kind::Public => format!("https://api.ecr-public.{region}.{suffix}"),
            Kind::Private => format!("https://api.ecr.{region}.{suffix}"),
            Kind::Fips => format!("https://ecr-fips.{region}.{suffix}"),
            Kind::DualStack => format!("https://ecr.{region}.api.aws"),
        }
    }

    /// The variables by which it may be elsewhere, such as at an endpoint of the own network.
    pub(super) fn variable(&self) -> &'static str {
        if self.is_public() { "AWS_ENDPOINT_URL_ECR_PUBLIC" } else { "AWS_ENDPOINT_URL_ECR" }
    }
}

/// Returns what the names of hosts end with.
pub(super) fn suffix_of(region: &str) -> &'static str {
    let own = PARTITIONS.iter().find(|(start, _)| region.starts_with(start));
    own.map_or("amazonaws.com", |(_, suffix)| suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_say_where_their_service_is() {
        let address = |registry: &str| Service::of(registry).map(|service| service.address());
        let is = |address: &str| Some(address.to_owned());
        for (registry, want) in [
            ("123456789012.dkr.ecr.eu-west-1.amazonaws.com", "https://api.ecr.eu-west-1.amazonaws.com"),
            (
                "123456789012.dkr.ecr-fips.us-gov-west-1.amazonaws.com",
                "https://ecr-fips.us-gov-west-1.amazonaws.com",
            ),
            (
                "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn",
                "https://api.ecr.cn-north-1.amazonaws.com.cn",
            ),
            ("123456789012.dkr.ecr.us-iso-east-1.c2s.ic.gov", "https://api.ecr.us-iso-east-1.c2s.ic.gov"),
            ("123456789012.dkr-ecr.eu-west-1.on.aws", "https://ecr.eu-west-1.api.aws"),
            ("123456789012.dkr-ecr-fips.us-east-1.on.aws", "https://ecr-fips.us-east-1.amazonaws.com"),
            ("public.ecr.aws", "https://api.ecr-public.us-east-1.amazonaws.com"),
        ] {
            assert_eq!(address(registry), is(want), "{registry}");
        }
    }

    /// A credential must not go to who only looks like a registry of AWS.
    #[test]
    fn what_only_looks_like_one_is_none() {
        for registry in [
            "123456789012.dkr.ecr.eu-west-1.amazonaws.com.evil.example",
            "123456789012.dkr.ecr.eu-west-1.amazonaws.com.cn",
            "123456789012.dkr.ecr.cn-north-1.amazonaws.com",
            "123456789012.dkr.ecr.eu-west-1.amazonaws.com:8443",
            "12345.dkr.ecr.eu-west-1.amazonaws.com",
            "x.dkr.ecr.eu-west-1.amazonaws.com",
            "123456789012.dkr.ecr..amazonaws.com",
            "123456789012.dkr.ecr.eu/west.amazonaws.com",
            "ecr.aws",
            "ghcr.io",
        ] {
            assert_eq!(Service::of(registry), None, "{registry}");
        }
    }
}
