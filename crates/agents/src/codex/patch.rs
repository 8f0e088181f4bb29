//! Approvals of patches. The request names an item, which arrived earlier with the changes.

use sayso_core::ask::{Action, Approval, Choice, FileDiff, Preview};
use sayso_core::raw::Raw;

use super::approvals::{SESSION, TITLE, reason};
use super::items::{Item, ItemDetails};
use crate::diff::{DiffScope, hunk};
use crate::json::{Object, list};
use crate::text::one_line;

const UNKNOWN: &str = "The changes are unknown: they were too large to store, or Codex did not send them.";

/// The approval that a request asks for.
pub(super) fn read(params: &Object<'_>, item: Option<&Item>) -> Approval {
    let changes = item.and_then(|item| match &item.what {
        ItemDetails::Patch { changes } => changes.as_ref(),
        ItemDetails::Mcp { .. } | ItemDetails::Other => None,
    });
    let files = changes.and_then(files);
    let root =
        params.non_blank_text("grantRoot").map(|root| format!("It asks to change files below {root} until the session ends."));
    let unknown = files.is_none().then(|| UNKNOWN.to_owned());
    let (paths, diffs) = files.unwrap_or_default();
    let title = if paths.is_empty() { "Change files".to_owned() } else { format!("Change {}", paths.join(", ")) };
    // A request for more than this patch, or for unknown changes, must not match a policy rule.
    let action = if root.is_some() || paths.is_empty() { Action::Other } else { Action::Edit { paths } };
    Approval {
        tool: "fileChange".to_owned(),
        action,
        title: one_line(&title, TITLE),
        input: changes.cloned().unwrap_or_else(|| Raw::of(&())),
        preview: (!diffs.is_empty()).then_some(Preview::Diff { files: diffs }),
        choices: vec![Choice { id: SESSION.to_owned(), label: "Allow changes to these files (Codex, this session)".to_owned() }],
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: reason([params.non_blank_text("reason"), root, unknown]),
    }
}

/// The files of a patch and the change to each; `None` if any entry is invalid.
fn files(changes: &Raw) -> Option<(Vec<String>, Vec<FileDiff>)> {
    let raw: &serde_json::value::RawValue = serde_json::from_str(changes.as_str()).ok()?;
    let (mut paths, mut diffs) = (Vec::new(), Vec::new());
    for change in list(raw)? {
        let change = Object::of(change)?;
        let (path, diff) = (change.non_blank_text("path")?, change.text("diff")?);
        let kind = change.object("kind").unwrap_or_default();
        let diff = match kind.text("type").as_deref() {
            Some("add") => hunk("", &diff, DiffScope::Part("a new file")),
            Some("delete") => hunk(&diff, "", DiffScope::Part("the whole file")),
            _ => diff,
        };
        paths.push(path.clone());
        paths.extend(kind.non_blank_text("move_path"));
        diffs.push(FileDiff { path, diff });
    }
    (!paths.is_empty()).then_some((paths, diffs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_approval(params: &str, item: &str) -> Approval {
        let item = Item::of(&Object::parse(item).unwrap(), "i", "t");
        read(&Object::parse(params).unwrap(), item.as_ref())
    }

    #[test]
    fn patch_preview_shows_every_file() {
        let item = r#"{"type":"fileChange","changes":[
            {"path":"/p/new.txt","kind":{"type":"add"},"diff":"hello\n"},
            {"path":"/p/old.txt","kind":{"type":"delete"},"diff":"bye\n"},
            {"path":"/p/a.rs","kind":{"type":"update","move_path":"/p/b.rs"},"diff":"@@ -1 +1 @@\n-x\n+y\n"}]}"#;
        let approval = read_approval(r#"{"reason":null,"grantRoot":null}"#, item);
        let paths = ["/p/new.txt", "/p/old.txt", "/p/a.rs", "/p/b.rs"].map(str::to_owned).to_vec();
        assert_eq!((approval.action, approval.reason), (Action::Edit { paths }, None));
        assert_eq!(approval.title, "Change /p/new.txt, /p/old.txt, /p/a.rs, /p/b.rs");
        let Some(Preview::Diff { files }) = approval.preview else { panic!() };
        let diffs: Vec<&str> = files.iter().map(|file| file.diff.as_str()).collect();
        assert_eq!(
            diffs,
            ["@@ -0,0 +1,1 @@ a new file\n+hello\n", "@@ -1,1 +0,0 @@ the whole file\n-bye\n", "@@ -1 +1 @@\n-x\n+y\n"]
        );
    }

    #[test]
    fn unknown_or_wider_patch_matches_no_rule() {
        let known = r#"{"type":"fileChange","changes":[{"path":"/p/a","kind":{"type":"add"},"diff":"x"}]}"#;
        let wider = read_approval(r#"{"grantRoot":"/etc"}"#, known);
        assert_eq!(wider.action, Action::Other);
        assert!(wider.preview.is_some() && wider.reason.unwrap().contains("/etc"));
        for item in [
            "{}",
            r#"{"type":"fileChange"}"#,
            r#"{"type":"fileChange","changes":[]}"#,
            r#"{"type":"fileChange","changes":[{"path":"/a"}]}"#,
        ] {
            let approval = read_approval("{}", item);
            assert_eq!((approval.action, approval.preview.is_none()), (Action::Other, true), "{item}");
            assert_eq!(approval.reason.as_deref(), Some(UNKNOWN));
        }
    }
}
