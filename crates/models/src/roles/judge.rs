//! A judge of another family than the writer, where none was chosen and there is one.
//!
//! Models tend to like what their own kin wrote. When the model that would judge is of the family of the
//! model that does the tasks, and the user chose neither who judges nor who proposes, the judging calls go
//! to another backend that can be asked without another word from the user: one that is signed in or has
//! its usual key, and of which they have agreed that nights ask it. Nights whose models are on this
//! computer stay on it.

use std::sync::Arc;

use skillopt_core::Problem;
use skillopt_settings::Settings;

use super::choice::Choice;
use super::{Surroundings, make};
use crate::backend::Backend;
use crate::path::Roles;
use crate::{anthropic, claude, codex, family, minimax};

/// Backends that need no setting and whose family is known before they are asked; those with a plan
/// first, since it is paid for already.
const CANDIDATES: [&str; 4] = [claude::KIND, codex::KIND, anthropic::KIND, minimax::KIND];

/// The family that judge and writer have in common; `None` when they have none, or when it cannot be told.
#[must_use]
pub fn kin(roles: &Roles) -> Option<&'static str> {
    family_of(&roles.judge).filter(|family| family_of(&roles.target) == Some(*family))
}

fn family_of(backend: &Arc<dyn Backend>) -> Option<&'static str> {
    let id = backend.id();
    family::of(&id.kind, &id.model)
}

/// `roles` with a judge of another family, if theirs is kin and one is found; with a sentence about it.
pub(super) async fn of_another_family(
    mut roles: Roles,
    settings: &Settings,
    around: &Surroundings<'_>,
) -> Roles {
    let wanted = settings.judge_of_another_family && !Choice::judge_was_chosen(settings);
    let (true, Some(writer)) = (wanted, kin(&roles)) else {
        return roles;
    };
    if roles.judge.local() {
        return roles;
    }
    let known = roles.each().map(|backend| backend.id().kind);
    let mut why_not = Vec::new();
    for kind in CANDIDATES {
        if known.iter().any(|known| known == kind) || !may_be_asked(kind, settings) {
            continue;
        }
        match candidate(kind, settings, around).await {
            Ok(judge) => {
                let Some(other) = family_of(&judge).filter(|other| *other != writer) else {
                    continue;
                };
                roles.judge_note = Some(format!(
                    "Replies are judged by {kind} ({other}), since {} ({writer}) wrote them and models tend to like their own; models.judge_of_another_family = false leaves it to the model that proposes.",
                    roles.target.id().kind,
                ));
                roles.judge = judge;
                return roles;
            }
            Err(problem) => why_not.push(format!("{kind} cannot judge now: {}", problem.message)),
        }
    }
    roles.judge_note = (!why_not.is_empty()).then(|| why_not.join(" "));
    roles
}

/// Whether a night with these settings looks for a judge. Only then can one be [`found`].
#[must_use]
pub fn looked_for(settings: &Settings) -> bool {
    settings.judge_of_another_family && !settings.terms_accepted.is_empty()
}

/// The judge among the backends of a night that was found, and not chosen by the settings they were made from.
#[must_use]
pub fn found<'a>(settings: &Settings, roles: &'a Roles) -> Option<&'a Arc<dyn Backend>> {
    let judge = &roles.judge;
    let kind = judge.id().kind;
    let is_new = judge.recording().is_none()
        && Roles::kinds(settings)
            .iter()
            .all(|(known, _)| *known != kind);
    is_new.then_some(judge)
}

/// Whether the user has agreed that nights ask it, before its exact provider is known.
fn may_be_asked(kind: &str, settings: &Settings) -> bool {
    settings.terms_accepted.iter().any(|word| {
        let word = word.trim().to_ascii_lowercase();
        word.split(':').next() == Some(kind)
    })
}

/// The backend if it could answer now. Asks no model.
async fn candidate(
    kind: &str,
    settings: &Settings,
    around: &Surroundings<'_>,
) -> Result<Arc<dyn Backend>, Problem> {
    let judge = make(&Choice::found(settings, kind), settings, around).await?;
    if let Some(terms) = judge.terms()
        && !terms.accepted(&settings.terms_accepted)
    {
        return Err(terms.problem());
    }
    judge
        .check(around.cancel)
        .await
        .map_err(|error| error.problem())?;
    Ok(judge)
}
