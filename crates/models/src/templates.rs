//! Prompt templates: our words, and the user's where a file overrides them (§1.17).

mod fence;
mod fill;
mod render;
mod schemas;
mod texts;

use std::io::Read;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

pub(crate) use schemas::schema;

/// Largest overrides file that is read, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// A template. The first four names are those of the reference (§1.17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Finds tasks in a session.
    Miner,
    /// Does a task under the documents.
    Attempt,
    /// Grades a reply by a rubric.
    Judge,
    /// Proposes edits to one document.
    Reflect,
    /// The section of better and worse replies in `reflect`.
    Contrast,
    /// Standing words of mining, judging and reflecting.
    Standing,
    /// The one repeat after a reply that could not be read.
    Repeat,
}

/// What is fixed about a template.
struct Fixed {
    id: &'static str,
    stage: &'static str,
    role: &'static str,
    description: &'static str,
    required: &'static [&'static str],
    optional: &'static [&'static str],
    text: &'static str,
}

impl Name {
    /// Every template.
    pub const ALL: [Self; 7] = [
        Self::Miner,
        Self::Attempt,
        Self::Judge,
        Self::Reflect,
        Self::Contrast,
        Self::Standing,
        Self::Repeat,
    ];

    /// Its name in the overrides file.
    #[must_use]
    pub const fn id(self) -> &'static str {
        self.fixed().id
    }

    const fn fixed(self) -> &'static Fixed {
        match self {
            Self::Miner => &Fixed {
                id: "miner",
                stage: "mine",
                role: "optimizer",
                description: "Finds requests that recur and how a reply to them can be judged.",
                required: &["PROMPTS"],
                optional: &["PROJECT", "FINAL", "FEEDBACK", "FORM", "FENCE"],
                text: texts::MINER,
            },
            Self::Attempt => &Fixed {
                id: "attempt",
                stage: "replay",
                role: "target",
                description: "Answers a request under the skill and the memory document.",
                required: &["SKILL", "MEMORY", "INTENT"],
                optional: &["CONTEXT", "TOOLS", "FENCE"],
                text: texts::ATTEMPT,
            },
            Self::Judge => &Fixed {
                id: "judge",
                stage: "replay",
                role: "optimizer",
                description: "Grades a reply by a rubric, from 0 to 1.",
                required: &["RUBRIC", "RESPONSE"],
                optional: &["INTENT", "FORM", "FENCE"],
                text: texts::JUDGE,
            },
            Self::Reflect => &Fixed {
                id: "reflect",
                stage: "reflect",
                role: "optimizer",
                description: "Turns failed replies into a few changes of one document.",
                required: &["CUR_DOC", "FAILURES"],
                optional: &[
                    "EDIT_BUDGET",
                    "TARGET",
                    "OTHER_DOC",
                    "GUARD",
                    "CRITERIA",
                    "CONTRAST",
                    "PREFS",
                    "REJECTED",
                    "FORM",
                    "FENCE",
                ],
                text: texts::REFLECT,
            },
            Self::Contrast => &Fixed {
                id: "contrast",
                stage: "reflect",
                role: "optimizer",
                description: "Shows better and worse replies to the same request; a section of reflect.",
                required: &["PAIRS"],
                optional: &["FENCE"],
                text: texts::CONTRAST,
            },
            Self::Standing => &Fixed {
                id: "standing",
                stage: "all",
                role: "optimizer",
                description: "Says what is data and what form a reply has; the system message of mining, judging \
                              and reflecting.",
                required: &["FENCE"],
                optional: &[],
                text: texts::STANDING,
            },
            Self::Repeat => &Fixed {
                id: "repeat",
                stage: "all",
                role: "both",
                description: "Asks once more after a reply that could not be read.",
                required: &[],
                optional: &["REASON", "FORM"],
                text: texts::REPEAT,
            },
        }
    }

    const fn index(self) -> usize {
        self as usize
    }
}

/// One template as it is shown to a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Description {
    /// Its name in the overrides file.
    pub name: &'static str,
    /// Where in the night it is used.
    pub stage: &'static str,
    /// Which side sees it: `target`, `optimizer` or `both`.
    pub role: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Placeholders (`__NAME__`) an override must contain.
    pub required: &'static [&'static str],
    /// Placeholders an override may contain besides.
    pub optional: &'static [&'static str],
    /// Our words.
    pub default: &'static str,
    /// The user's words, if there are any.
    #[serde(rename = "override")]
    pub overridden: Option<String>,
    /// The words that are used.
    pub effective: String,
}

/// The template set of a night.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates {
    overrides: [Option<String>; Name::ALL.len()],
}

/// A template set read from a file, and what was odd about the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The set.
    pub templates: Templates,
    /// One sentence each about what was ignored.
    pub warnings: Vec<String>,
}

impl Default for Templates {
    fn default() -> Self {
        Self {
            overrides: [const { None }; Name::ALL.len()],
        }
    }
}

impl Templates {
    /// Our words, with those of the overrides file at `path` in their place. A file that is not there
    /// is `prompts_missing` when the user named it (`named`), else there are no overrides.
    ///
    /// Errors: `prompts_missing`, `prompts_unreadable`, `prompts_invalid`.
    pub fn load(path: &Path, named: bool) -> Result<Loaded, Problem> {
        let unreadable = |why: &dyn std::fmt::Display| {
            Problem::refused(
                "prompts_unreadable",
                format!(
                    "The prompt overrides {} cannot be read: {why}.",
                    path.display()
                ),
                "Correct the file, or remove it to use the built-in prompts.",
            )
        };
        let mut bytes = Vec::new();
        match std::fs::File::open(path) {
            Ok(file) => {
                file.take(LARGEST_FILE + 1)
                    .read_to_end(&mut bytes)
                    .map_err(|error| unreadable(&error))?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {
                return Ok(Loaded {
                    templates: Self::default(),
                    warnings: Vec::new(),
                });
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Problem::refused(
                    "prompts_missing",
                    format!("The prompt overrides {} are not there.", path.display()),
                    "Correct models.prompts, or leave it empty to use the built-in prompts.",
                ));
            }
            Err(error) => return Err(unreadable(&error)),
        }
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(unreadable(&"it is larger than 1 MiB"));
        }
        let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8"))?;
        Self::parse(&text)
    }

    /// The set described by the text of an overrides file: an object of names and texts. Blank texts
    /// and null mean our words; unknown names and other values are ignored with a warning.
    ///
    /// Error: `prompts_invalid`.
    pub fn parse(json: &str) -> Result<Loaded, Problem> {
        let invalid = |why: String| {
            Problem::refused(
                "prompts_invalid",
                format!("The prompt overrides are not usable: {why}."),
                "`skillopt config prompts` lists every template with its placeholders.",
            )
        };
        let json = json.trim_start_matches('\u{feff}');
        let value: Value =
            serde_json::from_str(json).map_err(|error| invalid(error.to_string()))?;
        let Value::Object(entries) = value else {
            return Err(invalid(
                "the file must hold one JSON object of names and texts".to_owned(),
            ));
        };
        let mut loaded = Loaded {
            templates: Self::default(),
            warnings: Vec::new(),
        };
        for (key, value) in entries {
            let Some(name) = Name::ALL.into_iter().find(|name| name.id() == key) else {
                let known = Name::ALL.map(Name::id).join(", ");
                loaded.warnings.push(format!(
                    "The prompt overrides name \"{key}\", which is not a template; known are {known}."
                ));
                continue;
            };
            match value {
                Value::Null => {}
                Value::String(text) if text.trim().is_empty() => {}
                Value::String(text) => {
                    check(name, &text).map_err(invalid)?;
                    loaded.templates.overrides[name.index()] = Some(text);
                }
                _ => loaded.warnings.push(format!(
                    "The prompt override \"{key}\" is not a text; the built-in one is used."
                )),
            }
        }
        Ok(loaded)
    }

    /// SHA-256 of the whole set as it is used; pinned by a night.
    #[must_use]
    pub fn hash(&self) -> String {
        let texts = Name::ALL.map(|name| (name.id(), self.text(name)));
        let forms = [
            texts::MINER_FORM,
            texts::JUDGE_FORM,
            texts::REFLECT_FORM,
            texts::NO_TOOLS,
            texts::SOME_TOOLS,
        ];
        // Tuples and arrays of text always serialize.
        sha256_hex(
            serde_json::to_string(&(texts, forms))
                .unwrap_or_default()
                .as_bytes(),
        )
    }

    /// Every template with its placeholders, our words and the user's.
    #[must_use]
    pub fn describe(&self) -> Vec<Description> {
        Name::ALL
            .into_iter()
            .map(|name| {
                let fixed = name.fixed();
                Description {
                    name: fixed.id,
                    stage: fixed.stage,
                    role: fixed.role,
                    description: fixed.description,
                    required: fixed.required,
                    optional: fixed.optional,
                    default: fixed.text,
                    overridden: self.overrides[name.index()].clone(),
                    effective: self.text(name).to_owned(),
                }
            })
            .collect()
    }

    fn text(&self, name: Name) -> &str {
        self.overrides[name.index()]
            .as_deref()
            .unwrap_or(name.fixed().text)
    }
}

/// Whether `text` may stand in for the template: every required placeholder, and no unknown one.
fn check(name: Name, text: &str) -> Result<(), String> {
    let Fixed {
        id,
        required,
        optional,
        ..
    } = name.fixed();
    let used: Vec<&str> = fill::placeholders(text).collect();
    if let Some(missing) = required
        .iter()
        .find(|placeholder| !used.contains(placeholder))
    {
        return Err(format!("the template \"{id}\" must contain __{missing}__"));
    }
    if let Some(unknown) = used
        .iter()
        .find(|used| !required.contains(used) && !optional.contains(used))
    {
        let known = required
            .iter()
            .chain(*optional)
            .map(|known| format!("__{known}__"))
            .collect::<Vec<_>>();
        return Err(format!(
            "the template \"{id}\" contains __{unknown}__, which it does not know; it knows {}",
            known.join(", ")
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_templates_keep_their_own_rules() {
        for name in Name::ALL {
            check(name, name.fixed().text).unwrap();
        }
    }

    #[test]
    fn an_override_replaces_one_template_and_changes_the_hash() {
        let loaded = Templates::parse(
            r#"{"judge": "Rate __RESPONSE__ by __RUBRIC__", "miner": " ", "reflect": null}"#,
        )
        .unwrap();
        assert!(loaded.warnings.is_empty());
        assert_eq!(
            loaded.templates.text(Name::Judge),
            "Rate __RESPONSE__ by __RUBRIC__"
        );
        assert_eq!(loaded.templates.text(Name::Miner), texts::MINER);
        assert_ne!(loaded.templates.hash(), Templates::default().hash());
        let judge = &loaded.templates.describe()[2];
        assert_eq!(
            (judge.name, judge.stage, judge.role),
            ("judge", "replay", "optimizer")
        );
        assert_eq!(
            judge.overridden.as_deref(),
            Some("Rate __RESPONSE__ by __RUBRIC__")
        );
    }

    #[test]
    fn a_template_that_would_judge_nothing_is_refused() {
        // §14 #94: a template without __RESPONSE__ silently judged nothing.
        let problem = Templates::parse(r#"{"judge": "Rate it by __RUBRIC__"}"#).unwrap_err();
        assert_eq!(problem.code, "prompts_invalid");
        assert!(
            problem.message.contains("must contain __RESPONSE__"),
            "{problem}"
        );
        let problem =
            Templates::parse(r#"{"judge": "__RUBRIC__ __RESPONSE__ __REPLY__"}"#).unwrap_err();
        assert!(problem.message.contains("contains __REPLY__"), "{problem}");
        assert!(Templates::parse("[]").is_err());
        assert!(Templates::parse("{").is_err());
    }

    #[test]
    fn the_reference_s_templates_are_accepted_as_they_are() {
        // §1.17: the placeholders of each template there.
        let json = r#"{
            "miner": "__PROJECT__ __PROMPTS__ __FINAL__ __FEEDBACK__",
            "attempt": "__SKILL__ __MEMORY__ __INTENT__ __CONTEXT__",
            "judge": "__RUBRIC__ __RESPONSE__",
            "reflect": "__EDIT_BUDGET__ __TARGET__ __CUR_DOC__ __GUARD__ __CRITERIA__ __PREFS__ __FAILURES__",
            "slow": "x", "standing": 3
        }"#;
        let loaded = Templates::parse(json).unwrap();
        assert_eq!(loaded.warnings.len(), 2);
        assert!(loaded.warnings[0].contains("\"slow\""));
    }

    #[test]
    fn a_file_that_is_not_there_matters_only_when_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prompts.json");
        assert_eq!(
            Templates::load(&path, false).unwrap().templates,
            Templates::default()
        );
        assert_eq!(
            Templates::load(&path, true).unwrap_err().code,
            "prompts_missing"
        );
        std::fs::File::create(&path)
            .unwrap()
            .set_len(LARGEST_FILE + 1)
            .unwrap();
        assert_eq!(
            Templates::load(&path, false).unwrap_err().code,
            "prompts_unreadable"
        );
    }
}
