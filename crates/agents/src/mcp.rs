//! Names of MCP tools.

/// The server and the tool of a name like `mcp__server__tool`. Such names contain a sanitized server name; pass the
/// real name as `server` if it is known.
pub(crate) fn server_and_tool(name: &str, server: Option<&str>) -> Option<(String, String)> {
    let rest = name.strip_prefix("mcp__")?;
    if let Some(server) = server {
        let usual = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let written: String = server.chars().map(usual).collect();
        if let Some(tool) = rest.strip_prefix(&written).and_then(|rest| rest.strip_prefix("__")) {
            return Some((server.to_owned(), tool.to_owned()));
        }
    }
    let (server, tool) = rest.split_once("__")?;
    Some((server.to_owned(), tool.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_name_is_split_into_server_and_tool() {
        let split = |server| server_and_tool("mcp__my_own__do__it", server);
        let of = |server: &str, tool: &str| Some((server.to_owned(), tool.to_owned()));
        assert_eq!(split(None), of("my_own", "do__it"));
        assert_eq!(split(Some("my own")), of("my own", "do__it"));
        assert_eq!(split(Some("my.own__do")), of("my.own__do", "it"));
        assert_eq!(split(Some("another")), of("my_own", "do__it"));
        for no in ["Bash", "mcp__x", "mcp_a__b"] {
            assert_eq!(server_and_tool(no, None), None, "{no}");
        }
    }
}
