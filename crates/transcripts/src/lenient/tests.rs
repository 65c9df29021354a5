use super::*;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    flag: Flag,
    there: Present,
    inner: Object<Inner>,
    content: Content<'a, Inner>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Inner {
    flag: Flag,
}

#[test]
fn odd_shapes_are_absent_and_do_not_cost_the_line() {
    for odd in [
        "null",
        "1",
        "-7",
        "1.5",
        "true",
        "[]",
        "[[1]]",
        "{}",
        "{\"a\":{}}",
        "1e400",
    ] {
        let json = format!("{{\"text\":{odd},\"inner\":{odd},\"content\":{odd},\"flag\":{odd}}}");
        let parsed: Result<Line<'_>, _> = serde_json::from_str(&json);
        if odd == "1e400" {
            // Too large for any number: the whole line is damaged.
            assert!(parsed.is_err());
            continue;
        }
        let line = parsed.unwrap();
        assert!(line.text.is_empty(), "{odd}");
        assert_eq!(line.flag.0, odd == "true");
        assert_eq!(line.inner.0.is_some(), odd.starts_with('{'));
    }
}

#[test]
fn lines_that_would_take_too_much_room_are_not_parsed() {
    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Lists<'a> {
        #[serde(borrow)]
        texts: List<Text<'a>>,
        objects: List<Object<Inner>>,
    }
    let mut spare = Vec::new();
    let line = format!(r#"{{"texts":[{}7]}}"#, "7,".repeat(2 * LIST_LIMIT));
    let (lists, _): (Lists<'_>, bool) = parse(line.as_bytes(), &mut spare).unwrap();
    assert_eq!(lists.texts.0.len(), LIST_LIMIT);
    let mut spare = Vec::new();
    let line = format!(r#"{{"objects":[{}{{}}]}}"#, "{},".repeat(OBJECT_LIMIT));
    let parsed = parse::<Lists<'_>>(line.as_bytes(), &mut spare);
    assert_eq!(parsed.err(), Some(NotReadable::Malformed));
    let mut spare = Vec::new();
    let (lists, _): (Lists<'_>, bool) =
        parse(br#"{"objects":[{"flag":true},7]}"#, &mut spare).unwrap();
    let flags: Vec<bool> = lists
        .objects
        .0
        .iter()
        .flat_map(|it| &it.0)
        .map(|it| it.flag.0)
        .collect();
    assert_eq!(flags, [true]);
}

#[test]
fn numbers_and_things_in_the_place_of_texts() {
    for (json, expected) in [
        ("7", Some(7)),
        ("-7", Some(-7)),
        ("1767607260000", Some(1_767_607_260_000)),
        ("1.6", Some(2)),
        ("18446744073709551615", None),
        ("1e300", None),
        ("\"7\"", None),
        ("true", None),
        ("null", None),
        ("[7]", None),
        ("{}", None),
    ] {
        assert_eq!(
            serde_json::from_str::<Number>(json).unwrap().0,
            expected,
            "{json}"
        );
    }
    let text: TextOr<'_, Inner> = serde_json::from_str("\"a\"").unwrap();
    assert_eq!((&*text.text, text.object.is_some()), ("a", false));
    let object: TextOr<'_, Inner> = serde_json::from_str("{\"flag\":true}").unwrap();
    assert!(object.text.is_empty() && object.object.is_some_and(|it| it.flag.0));
    let neither: TextOr<'_, Inner> = serde_json::from_str("[1]").unwrap();
    assert!(neither.text.is_empty() && neither.object.is_none());
}

#[test]
fn deep_nesting_in_ignored_fields_is_harmless() {
    let json = format!(
        "{{\"other\":{}{},\"text\":\"x\"}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let line: Line<'_> = serde_json::from_str(&json).unwrap();
    assert_eq!(&*line.text, "x");
}

#[test]
fn invalid_bytes_and_half_surrogates_are_replaced() {
    let mut spare = Vec::new();
    let line = b"{\"text\":\"a\xFFb \\ud83d! \\\\ud83d \\ud83d\\ude00\",\"there\":0}";
    let (parsed, repaired): (Line<'_>, bool) = parse(line, &mut spare).unwrap();
    assert!(repaired);
    assert_eq!(&*parsed.text, "a\u{FFFD}b \u{FFFD}! \\ud83d 😀");
    assert!(parsed.there.0);
}

#[test]
fn lines_that_are_no_records_are_told_apart() {
    let mut spare = Vec::new();
    for line in ["[1]", "\"x\"", "12", "null", "true"] {
        let parsed = parse::<Line<'_>>(line.as_bytes(), &mut spare).err();
        assert_eq!(parsed, Some(NotReadable::NotAnObject), "{line}");
    }
    for line in ["{", "{\"text\"", "nonsense", "{}x", ""] {
        assert!(
            parse::<Line<'_>>(line.as_bytes(), &mut spare).is_err(),
            "{line}"
        );
    }
}
