//! Which models are kin. A model tends to like replies of its own kin, so a judge should be none.

/// The family of a model, by its name; `None` when it cannot be told.
#[must_use]
pub fn of(kind: &str, model: &str) -> Option<&'static str> {
    const FAMILIES: [(&str, &[&str]); 10] = [
        ("Claude", &["claude", "opus", "sonnet", "haiku"]),
        ("GPT", &["gpt", "codex", "o1", "o3", "o4"]),
        ("Gemini", &["gemini", "gemma"]),
        ("Qwen", &["qwen", "qwq"]),
        ("Llama", &["llama"]),
        ("Mistral", &["mistral", "mixtral", "codestral", "devstral"]),
        ("DeepSeek", &["deepseek"]),
        ("MiniMax", &["minimax"]),
        ("Grok", &["grok"]),
        ("GLM", &["glm"]),
    ];
    let name = model.to_ascii_lowercase();
    // A distilled model is kin of what it was made from: the word that comes first counts.
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    let named = words().find_map(|word| {
        FAMILIES.iter().find_map(|(family, beginnings)| {
            let begins = |beginning: &&str| match beginning.len() {
                // `o3` is a whole name, not the beginning of one.
                2 => word == *beginning,
                _ => word.starts_with(*beginning),
            };
            beginnings.iter().any(begins).then_some(*family)
        })
    });
    named.or(match kind {
        "claude" | "anthropic" => Some("Claude"),
        "codex" => Some("GPT"),
        "qwen" => Some("Qwen"),
        "minimax" => Some("MiniMax"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_name_and_else_by_backend() {
        for (kind, model, family) in [
            ("claude", "sonnet", Some("Claude")),
            (
                "openai_compatible",
                "anthropic/claude-opus-5-5",
                Some("Claude"),
            ),
            ("openai_compatible", "gpt-5.4-mini", Some("GPT")),
            ("openai_compatible", "o3", Some("GPT")),
            ("openai_compatible", "o3000", None),
            ("openai_compatible", "qwen3:8b", Some("Qwen")),
            (
                "openai_compatible",
                "meta-llama/Llama-3.3-70B",
                Some("Llama"),
            ),
            (
                "openai_compatible",
                "deepseek-r1-distill-qwen-7b",
                Some("DeepSeek"),
            ),
            ("azure_openai", "my-deployment", None),
            ("minimax", "", Some("MiniMax")),
            ("mock", "", None),
        ] {
            assert_eq!(of(kind, model), family, "{kind} {model}");
        }
    }
}
