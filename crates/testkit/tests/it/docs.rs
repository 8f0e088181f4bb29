//! Checks the documents: links resolve, named files and tests exist, and lists are complete.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::TestServer;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Result<String> {
    std::fs::read_to_string(root().join(name)).with_context(|| format!("{name} cannot be read"))
}

/// The files with this extension in one directory of the project, as paths from its root.
fn pages(directory: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root().join(directory))? {
        let name = entry?.file_name().into_string().map_err(|name| anyhow::anyhow!("{name:?} is no plain name"))?;
        if name.ends_with(".md") {
            names.push(Path::new(directory).join(name).to_str().context("a plain path")?.to_owned());
        }
    }
    Ok(names)
}

/// The targets of Markdown links, outside of code.
fn links(text: &str) -> Vec<&str> {
    let mut code = false;
    let prose = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    });
    prose.flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))).collect()
}

#[test]
fn every_link_between_documents_resolves() -> Result<()> {
    let mut broken = Vec::new();
    for page in ["", "docs", "examples"].map(pages).into_iter().collect::<Result<Vec<_>>>()?.concat() {
        let text = read(&page)?;
        for link in links(&text).into_iter().filter(|link| !link.starts_with("http")) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => root().join(&page),
                file => root().join(&page).parent().context("a page is in a directory")?.join(file),
            };
            let found = match place {
                "" => target.exists(),
                place => std::fs::read_to_string(&target).is_ok_and(|text| headings(&text).any(|heading| heading == place)),
            };
            if !found {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    Ok(())
}

/// The anchors of a page's headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn every_guide_is_listed() -> Result<()> {
    let agents = read("AGENTS.md")?;
    let people = read("docs/README.md")?;
    ensure!(agents.contains("\n## Agent questions\n") && agents.contains("\n## Guides\n"));
    for page in pages("docs")? {
        assert!(agents.contains(&format!("]({page})")), "{page} is not in AGENTS.md");
        let name = page.trim_start_matches("docs/");
        assert!(name == "README.md" || people.contains(&format!("]({name})")), "{page} is not in docs/README.md");
    }
    Ok(())
}

#[tokio::test]
async fn every_agent_has_a_row_in_the_guide() -> Result<()> {
    let text = read("docs/agents.md")?;
    let server = TestServer::start().await?;
    for agent in server.client().agents().await?.data {
        assert!(text.contains(&format!("\n| `{}` | ", agent.name)), "docs/agents.md has no row for {}", agent.name);
    }
    assert!(text.replace('\n', " ").contains("every question of Claude Code is a permission request"));
    Ok(())
}

/// Tests are written as `file::name`.
#[test]
fn every_test_named_in_the_reliability_page_exists() -> Result<()> {
    let text = read("docs/reliability.md")?;
    let named: Vec<_> =
        code_spans(&text).filter_map(|code| code.split_once("::").filter(|(file, _)| file.contains('/'))).collect();
    ensure!(named.len() > 100, "the page names {} tests", named.len());
    for (file, name) in named {
        let source = read(file)?;
        let found = match Path::new(file).extension().and_then(|extension| extension.to_str()) {
            Some("rs") => source.contains(&format!("fn {name}(")),
            _ => source.contains(name),
        };
        assert!(found, "docs/reliability.md names {file}::{name}, and there is no such test");
    }
    Ok(())
}

#[test]
fn places_in_the_architecture_exist() -> Result<()> {
    let text = read("ARCHITECTURE.md")?;
    let (_, rest) = text.split_once("## Where is X?").context("the section is there")?;
    let (table, _) = rest.split_once("\n## ").context("another section follows")?;
    let places: Vec<_> = code_spans(table).filter(|code| code.contains('/')).collect();
    ensure!(places.len() > 10, "the table names {} places", places.len());
    for place in places {
        assert!(root().join(place).exists(), "ARCHITECTURE.md names {place}, and there is no such file");
    }
    Ok(())
}

#[test]
fn every_error_code_is_documented() -> Result<()> {
    let api: serde_json::Value = serde_json::from_str(&read("docs/openapi.json")?)?;
    let text = read("docs/api.md")?;
    let (_, table) = text.split_once("\n## Errors\n").context("the section is there")?;
    let documented: Vec<_> = code_spans(table).collect();
    let codes = api["components"]["schemas"]["ErrorCode"]["enum"].as_array().context("the codes are listed")?;
    for code in codes.iter().filter_map(|code| code.as_str()) {
        assert!(documented.contains(&code), "docs/api.md does not document {code}");
    }
    Ok(())
}

/// The text between backticks, line by line.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}
