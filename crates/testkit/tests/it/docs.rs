//! The documents of the project: what they point at is there, and nothing is left out.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> Result<String> {
    std::fs::read_to_string(root().join(name)).with_context(|| format!("{name} cannot be read"))
}

/// The files with this ending in one directory of the project, as paths from its root.
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

/// What stands in round brackets after square ones, outside of code.
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
fn every_link_between_documents_leads_somewhere() -> Result<()> {
    let mut broken = Vec::new();
    for page in pages("")?.into_iter().chain(pages("docs")?) {
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

/// The names under which a page's headings are linked.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// Checklist 2.75, 4.61.
#[test]
fn agents_who_work_here_find_every_guide() -> Result<()> {
    let text = read("AGENTS.md")?;
    ensure!(text.contains("\n## Agent questions\n") && text.contains("\n## Guides\n"));
    for page in pages("docs")? {
        assert!(text.contains(&format!("]({page})")), "{page} is not in AGENTS.md");
    }
    Ok(())
}

/// Checklist 0.25, 0.27, 0.33: what was found out about agents is told.
#[test]
fn the_guide_to_agents_tells_what_was_measured() -> Result<()> {
    let text = read("docs/agents.md")?.replace('\n', " ");
    for told in ["Amp by `npx amp-acp`", "every question is a permission request"] {
        assert!(text.contains(told), "{told}");
    }
    Ok(())
}
