//! The lists of commands and of calls of the shell as TypeScript, for the window: every type that goes in or comes out.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use skillopt_core::agent::Agent;
use ts_rs::{Config, TS, TypeVisitor};

/// Numbers in JSON are JavaScript's: ids and counts stay far below the 2^53 they hold exactly.
fn config() -> Config {
    Config::new().with_large_int("number")
}

/// Collects declarations while the commands are gone through.
#[derive(Debug, Default)]
pub(crate) struct Interface {
    /// What was taken in; types may be made of themselves.
    seen: HashSet<TypeId>,
    /// Text of each declaration, by name.
    declared: BTreeMap<String, String>,
    /// Rows of the table of commands.
    rows: String,
    /// Rows of the table of the shell's calls.
    shell_rows: String,
}

fn row<I: TS, O: TS>(name: &str, docs: &str) -> String {
    format!(
        "  /** {docs} */\n  \"{name}\": {{ input: {}; output: {} }};\n",
        I::name(&config()),
        O::name(&config()),
    )
}

impl Interface {
    /// Takes in one command.
    pub(crate) fn command<I: TS + 'static, O: TS + 'static>(&mut self, name: &str, docs: &str) {
        self.take::<I>();
        self.take::<O>();
        self.rows.push_str(&row::<I, O>(name, docs));
    }

    /// Takes in one call of the shell.
    pub(crate) fn shell_call<I: TS + 'static, O: TS + 'static>(&mut self, name: &str, docs: &str) {
        self.take::<I>();
        self.take::<O>();
        self.shell_rows.push_str(&row::<I, O>(name, docs));
    }

    /// Takes in a type and all it is made of.
    pub(crate) fn take<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        if T::output_path().is_some() {
            let name = T::ident(&config());
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}\n", T::decl(&config()));
            if let Some(other) = self.declared.insert(name, text.clone()) {
                // A box and what is in it are one type to TypeScript.
                assert_eq!(
                    other, text,
                    "two types have one name: rename one for TypeScript"
                );
            }
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }

    /// The file.
    fn into_text(self) -> String {
        let mut text = String::from(
            "// Written by `cargo xtask docs` from the lists of commands and calls in crates/app. Do not edit.\n\n",
        );
        text.push_str(
            "/** Every command with what goes in and what comes out. */\nexport interface Commands {\n",
        );
        text.push_str(&self.rows);
        text.push_str(
            "}\n\n/** Every call that only the desktop shell answers. */\nexport interface ShellCalls {\n",
        );
        text.push_str(&self.shell_rows);
        text.push_str(
            "}\n\n/** What agents are called. */\nexport const AGENTS: Record<Agent, string> = {\n",
        );
        for agent in Agent::ALL {
            let (id, title) = (agent.id(), agent.title());
            text.push_str(&format!("  {id}: '{title}',\n"));
        }
        text.push_str("};\n");
        for declaration in self.declared.values() {
            text.push('\n');
            text.push_str(declaration);
        }
        text
    }
}

impl TypeVisitor for Interface {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.take::<T>();
    }
}

/// Every command and call with its types, and what the shell tells by itself, as one TypeScript file.
///
/// Panics when two types would have one name; a test makes this file.
#[must_use]
pub fn interface() -> String {
    let mut interface = Interface::default();
    crate::commands::describe(&mut interface);
    crate::window::describe(&mut interface);
    interface.take::<skillopt_core::Problem>();
    // Named in the shapes of rows that are kept as JSON.
    interface.take::<skillopt_core::scan::FlagKind>();
    interface.into_text()
}
