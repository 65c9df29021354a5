//! Events that agents print, one JSON object on each line.

use serde_json::{Map, Value};

/// The objects in what was printed: one for all of it, a list of them, or one on each line. What is
/// none is passed over: a warning, a line that was cut, an object too deep to read.
pub(crate) fn objects(printed: &str) -> Vec<Map<String, Value>> {
    let printed = printed.trim();
    let object = |value: Value| match value {
        Value::Object(object) => Some(object),
        _ => None,
    };
    match serde_json::from_str::<Value>(printed) {
        Ok(Value::Array(list)) => list.into_iter().filter_map(object).collect(),
        Ok(value) => object(value).into_iter().collect(),
        Err(_) => printed
            .lines()
            .filter_map(|line| serde_json::from_str(line.trim()).ok())
            .filter_map(object)
            .collect(),
    }
}

/// The text below `path`; empty when there is none.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, path: &[&str]) -> &'a str {
    at(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The whole number below `path`.
pub(crate) fn number(object: &Map<String, Value>, path: &[&str]) -> Option<u64> {
    at(object, path).and_then(Value::as_u64)
}

/// What is below `path`.
pub(crate) fn at<'a>(object: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(object.get(*first)?, |value, name| value.get(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_stands_for_itself() {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        let printed = format!(
            "a warning\n{{\"type\":\"a\",\"n\":{}}}\n{{\"type\":\n[1]\n{{\"type\":{deep}}}\n\"text\"\n{{\"type\":\"b\"}}\r\n",
            "9".repeat(400)
        );
        let kinds: Vec<_> = objects(&printed)
            .iter()
            .map(|event| text(event, &["type"]).to_owned())
            .collect();
        // The giant integer is no number that JSON readers agree on.
        assert_eq!(kinds, ["b"]);
        assert_eq!(objects("[{\"a\":1},2,{\"a\":{\"b\":3}}]").len(), 2);
        let nested = &objects("{\"a\":{\"b\":3,\"c\":\"x\"}}")[0];
        assert_eq!(number(nested, &["a", "b"]), Some(3));
        assert_eq!(text(nested, &["a", "c"]), "x");
        assert_eq!(text(nested, &["a", "b", "c"]), "");
        assert!(objects("").is_empty());
    }
}
