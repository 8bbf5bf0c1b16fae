//! The address of a variable on another site.

use crate::error::{Error, Result};
use crate::names::escaped;

const PLACE: &str = "{name}";

/// An address with a place for a name.
#[derive(Debug)]
pub(super) struct LinkTemplate(String);

impl LinkTemplate {
    /// Only addresses of web pages, so that no name can run as a script. The name may be in the path or the query, not in the host.
    pub(super) fn new(template: &str) -> Result<Self> {
        let refuse = |why: &str| {
            Err(Error::Usage(format!(
                "link `{template}`: {why}; give an address such as https://example.org/gene/{PLACE}"
            )))
        };
        let lower = template.to_ascii_lowercase();
        let Some(rest) = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://")) else {
            return refuse("it begins neither with https:// nor with http://");
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() || host.contains('{') {
            return refuse("the name of its host is missing, or depends on the variable");
        }
        if !template.contains(PLACE) {
            return refuse("it has no {name} in it");
        }
        if template.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return refuse("it has a space or a control character in it");
        }
        Ok(LinkTemplate(template.to_owned()))
    }

    /// `text`, which is markup, as a link to the variable.
    pub(super) fn anchor(&self, name: &str, text: &str) -> String {
        let address = escaped(&self.0.replace(PLACE, &encoded(name)));
        format!("<a href=\"{address}\" target=\"_blank\" rel=\"noopener noreferrer\">{text}</a>")
    }
}

/// Refuses a template of addresses that cannot be used, before any work.
///
/// # Errors
/// Naming what is wrong with it.
pub fn check_link(template: Option<&str>) -> Result<()> {
    template.map_or(Ok(()), |template| LinkTemplate::new(template).map(drop))
}

/// All but RFC 3986's unreserved characters as percent codes.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_pages_and_encoded_names() {
        let link = LinkTemplate::new("https://example.org/q?g={name}&x=1").unwrap();
        assert_eq!(
            link.anchor("a/b \"é<", "x"),
            "<a href=\"https://example.org/q?g=a%2Fb%20%22%C3%A9%3C&amp;x=1\" target=\"_blank\" rel=\"noopener noreferrer\">x</a>"
        );
        for bad in [
            "javascript:alert({name})",
            "https://{name}/",
            "https:///{name}",
            "https://example.org/",
            "https://example.org/ {name}",
            "ftp://example.org/{name}",
        ] {
            let message = LinkTemplate::new(bad).unwrap_err().to_string();
            assert!(message.contains(bad) && message.contains("example.org/gene"), "{message}");
        }
    }
}
