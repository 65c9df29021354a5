//! A question for a backend.

use skillopt_core::call::{BackendId, Call, Message, Params, Role, Subject};

/// A question with the system text "Be brief."
pub(crate) fn call(question: &str) -> Call {
    let message = |role, text: &str| Message {
        role,
        text: text.to_owned(),
    };
    Call {
        backend: BackendId {
            kind: "claude".into(),
            address: String::new(),
            model: "sonnet".into(),
            version: String::new(),
            system_mode: "system_file".into(),
        },
        subject: Subject::Judge {
            intent: String::new(),
            rubric: String::new(),
            response: String::new(),
        },
        messages: vec![
            message(Role::System, "Be brief."),
            message(Role::User, question),
        ],
        params: Params {
            max_tokens: 64,
            temperature: None,
            schema: None,
        },
        sample: 0,
        ask: 0,
        rounds: Vec::new(),
    }
}
