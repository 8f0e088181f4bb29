//! Edits as a unified diff. The position in the file is unknown here, so line numbers count from the start of the
//! replaced text, and the hunk header says so.

use sayso_core::ask::{FileDiff, Preview};

use crate::diff::{DiffScope, hunk};
use crate::json::Object;

/// The preview of an edit; `None` if the input does not describe the change.
pub(super) fn preview(input: &Object<'_>) -> Option<Preview> {
    let path = input.non_blank_text("file_path").or_else(|| input.non_blank_text("notebook_path"))?;
    let diff = if let Some(content) = input.text("content") {
        hunk("", &content, DiffScope::Part("the whole file"))
    } else if let Some(source) = input.text("new_source") {
        match input.text("edit_mode").as_deref() {
            Some("delete") => return None,
            Some("insert") => hunk("", &source, DiffScope::Part("a new cell")),
            _ => hunk("", &source, DiffScope::Part("the whole cell")),
        }
    } else if let Some(edits) = input.list("edits") {
        edits.into_iter().map(|edit| replacement(&Object::of(edit)?)).collect::<Option<Vec<_>>>()?.concat()
    } else {
        replacement(input)?
    };
    Some(Preview::Diff { files: vec![FileDiff { path, diff }] })
}

fn replacement(edit: &Object<'_>) -> Option<String> {
    let which = if edit.is_true("replace_all") { "every occurrence" } else { "counted from the replaced text" };
    Some(hunk(&edit.text("old_string")?, &edit.text("new_string")?, DiffScope::Part(which)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(input: &str) -> String {
        let Some(Preview::Diff { files }) = preview(&Object::parse(input).unwrap()) else { return "none".to_owned() };
        assert_eq!((files.len(), files[0].path.as_str()), (1, "/a"));
        files[0].diff.clone()
    }

    #[test]
    fn edit_diff_shows_removed_and_added_lines() {
        assert_eq!(
            diff(r#"{"file_path":"/a","old_string":"fn a() {\n    1\n}\n","new_string":"fn a() {\n    2\n    3\n}\n"}"#),
            "@@ -1,3 +1,4 @@ counted from the replaced text\n fn a() {\n-    1\n+    2\n+    3\n }\n"
        );
        assert_eq!(
            diff(r#"{"file_path":"/a","old_string":"x","new_string":"","replace_all":true}"#),
            "@@ -1,1 +0,0 @@ every occurrence\n-x\n"
        );
        assert_eq!(
            diff(r#"{"file_path":"/a","old_string":"a\na\n","new_string":"a\n"}"#),
            "@@ -1,2 +1,1 @@ counted from the replaced text\n a\n-a\n"
        );
    }

    #[test]
    fn written_file_or_cell_is_shown_as_added() {
        assert_eq!(diff(r#"{"file_path":"/a","content":"--- b\n+c"}"#), "@@ -0,0 +1,2 @@ the whole file\n+--- b\n++c\n");
        assert_eq!(diff(r#"{"notebook_path":"/a","new_source":"x=2"}"#), "@@ -0,0 +1,1 @@ the whole cell\n+x=2\n");
        assert_eq!(diff(r#"{"notebook_path":"/a","new_source":"","edit_mode":"delete"}"#), "none");
    }

    #[test]
    fn each_edit_becomes_a_hunk() {
        let edits = r#"[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d","replace_all":true}]"#;
        assert_eq!(
            diff(&format!(r#"{{"file_path":"/a","edits":{edits}}}"#)),
            "@@ -1,1 +1,1 @@ counted from the replaced text\n-a\n+b\n@@ -1,1 +1,1 @@ every occurrence\n-c\n+d\n"
        );
        for wrong in [
            r#"{"file_path":"/a","edits":[{}]}"#,
            r#"{"file_path":"/a","old_string":"x"}"#,
            r#"{"old_string":"x","new_string":"y"}"#,
        ] {
            assert_eq!(diff(wrong), "none", "{wrong}");
        }
    }
}
