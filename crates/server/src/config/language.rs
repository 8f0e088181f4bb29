//! The language of texts that the server writes for people: answer pages, notifications and mails.
//!
//! The page and the cards have catalogues of their own, because a browser renders them. The server writes few texts, so both
//! languages of a text are next to each other.

use serde::Deserialize;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh-CN")]
    Chinese,
}

impl Language {
    /// Returns the text in this language.
    pub(crate) const fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    /// Returns the language tag, for the attribute `lang`.
    pub(crate) const fn tag(self) -> &'static str {
        self.pick("en", "zh-CN")
    }

    /// Returns the first supported language of an `Accept-Language` header. Browsers send their languages in order of preference,
    /// so the weights are not compared.
    pub(crate) fn accepted_by(header: &str) -> Self {
        let tags = header.split(',').filter_map(|entry| entry.split(';').next()).map(str::trim);
        tags.into_iter().find_map(Self::of_tag).unwrap_or_default()
    }

    fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next()?;
        if primary.eq_ignore_ascii_case("zh") {
            Some(Self::Chinese)
        } else {
            primary.eq_ignore_ascii_case("en").then_some(Self::English)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_supported_language_of_a_browser_is_used() {
        for (header, expected) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("de-DE, ZH-Hans;q=0.5", Language::Chinese),
            ("en-GB,zh;q=0.5", Language::English),
            ("de, fr", Language::English),
            ("zhuang", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::accepted_by(header), expected, "{header}");
        }
    }
}
