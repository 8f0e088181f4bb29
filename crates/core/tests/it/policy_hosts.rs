//! Rules about hosts compare the host that a request goes to, not its letters.

use sayso_core::ask::{Action, AskBody};
use sayso_core::texts;

use crate::support::{approval, approved, denied, user, verdict, why};

const RULES: &str = r#"
    [approvals]
    policy = "allow"
    [[rules]]
    name = "never"
    do = "deny"
    fetch = ["169.254.169.254", "127.0.0.1", "[::1]", "evil.test", "10.*", "*.bad.test", "münchen.test", "http://shop.test/admin/*"]
"#;

fn fetch(url: &str) -> AskBody {
    approval("WebFetch", Action::Fetch { url: url.into() })
}

#[test]
fn denied_host_is_denied_in_every_notation() {
    let set = user(RULES);
    let never = denied(texts::DENIED_BY_POLICY, "never");
    for url in [
        // Addresses: decimal, hexadecimal, octal, short and mixed forms, inside IPv6.
        "http://169.254.169.254/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0XA9FEA9FE/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://0251.0376.0251.0376/",
        "http://025177524776/",
        "http://169.16689662/",
        "http://169.254.43518/",
        "http://169.254.169.254./",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
        "http://[::169.254.169.254]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://169。254。169。254/",
        "http://１６９.254.169.254/",
        "http://169%2e254%2e169%2e254/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://10.1.2.3/",
        "http://0x0a010203/",
        "http://167838211/",
        "http://[::ffff:10.1.2.3]/",
        // Names: percent-encoding, IDNA, control characters, letters and dots.
        "http://evil.test/",
        "http://%65vil.test/",
        "http://%45vil.test/",
        "http://evil%2etest/",
        "http://evil。test/",
        "http://evil．test/",
        "http://ｅｖｉｌ.test/",
        "http://EVIL.test/",
        "http://evil.test./",
        "http://e\tvil.test/",
        "http://e\nvil.test/",
        "ht\ttp://evil.test/",
        "\u{1}http://evil.test/",
        "http://evil\u{ad}.test/",
        "http:\\\\evil.test\\x",
        "http:evil.test/",
        "http:///evil.test/",
        "http://good.test@evil.test/",
        "http://good.test\\@evil.test/",
        "http://good.test@evil.test@good.test/",
        "http://a.evil.test:81/x",
        "custom://evil.test/",
        "custom://%65vil.test/",
        "custom://2852039166/",
        "evil.test",
        "evil.test:8080/x",
        "//evil.test/x",
        "http://x.bad.test/",
        "http://x%2Ebad.test/",
        "http://xn--mnchen-3ya.test/",
        "http://MÜNCHEN.test/",
        "http://shop.test/admin/x",
        "http://shop.test/a/../admin/x",
        "http://shop.test/%61dmin/x",
        // Not an address, so the destination of a request is unknown.
        "http://exa mple.test/",
        "http://[::g]/",
        "http://",
        "http://999.1.1.1/",
        "what is this",
    ] {
        assert_eq!(verdict(&set, &fetch(url)), never, "{url:?}");
    }
    for url in [
        "http://169.254.169.253/",
        "http://2852039165/",
        "http://good.test/evil.test",
        "http://good.test/?u=http://evil.test/",
        "http://xevil.test/",
        "http://evil.test.good.test/",
        "http://110.1.2.3/",
        "http://[2001:db8::1]/",
        "http://bad.test/",
        "http://shop.test/public",
    ] {
        assert_eq!(verdict(&set, &fetch(url)), approved("approvals.policy = \"allow\""), "{url:?}");
    }
}

#[test]
fn allowed_address_must_be_written_as_it_is_parsed() {
    let set = user(
        "[[rules]]\nname = \"web\"\ndo = \"allow\"\nfetch = [\"docs.test\", \"https://api.test/v1/*\", \"127.0.0.1:3000\", \"[::1]\", \"*.cdn.test\", \"any.test:443\"]",
    );
    for url in [
        "https://docs.test/x",
        "http://docs.test",
        "https://docs.test?q=a%20b#top",
        "https://api.test/v1/x",
        "http://127.0.0.1:3000/",
        "http://[::1]/",
        "https://a.cdn.test/x",
        "https://any.test/",
    ] {
        assert_eq!(verdict(&set, &fetch(url)), approved("web"), "{url:?}");
    }
    for url in [
        "https://DOCS.test/x",
        "HTTPS://docs.test/x",
        "https://docs.test:443/x",
        "https://%64ocs.test/x",
        "https://docs。test/x",
        "https://docs.test\\x",
        "https:docs.test/x",
        "https://do\tcs.test/x",
        " https://docs.test/x",
        "https://docs.test/a/../b",
        "https://docs.test/a b",
        "https://u@docs.test/x",
        "https://docs.test@evil.test/",
        "https://api.test/v1/../admin",
        "https://api.test/v1/%2e%2e/admin",
        "https://api.test/v1/a/..%2fadmin",
        "http://2130706433:3000/",
        "http://127.1:3000/",
        "http://0x7f000001:3000/",
        "http://[::ffff:127.0.0.1]:3000/",
        "http://127.0.0.1/",
        "http://[0:0:0:0:0:0:0:1]/",
        "https://docs.test.evil.test/",
        "ftp://docs.test/",
        "docs.test",
    ] {
        assert!(why(&verdict(&set, &fetch(url))).is_some(), "{url:?}");
    }
}

#[test]
fn default_allow_leaves_unreadable_addresses_to_a_person() {
    let set = user("[approvals]\npolicy = \"allow\"");
    for url in ["http://exa mple.test/", "http://[::g]/", "http://999.1.1.1/", ""] {
        assert_eq!(why(&verdict(&set, &fetch(url))), Some("the address cannot be read"), "{url:?}");
    }
    assert_eq!(verdict(&set, &fetch("http://0x7f.1/")), approved("approvals.policy = \"allow\""));
}
