//! Which sessions are asked for (§3.1 project match, and the time filters of §3.2 to §3.8).

use std::path::Path;

use skillopt_core::Instant;
use skillopt_transcripts::{ProjectScope, Request, Scope};

use crate::course::{Compared, Course, Place};
use crate::difference::Difference::{
    AboveProject, AtTheMoment, Links, NearestWorkspace, NoFolder, Since,
};
use crate::difference::Rules;
use crate::records::moment;

/// Hours by which the clock on the wall is ahead of UTC, where the reference runs.
const AHEAD: i64 = 8;

/// What is asked for; by default everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// The project's folder; every folder if it is empty.
    pub(crate) project: String,
    /// Since when sessions count; whenever they ended if there is none.
    pub(crate) since: Option<Instant>,
}

impl Wanted {
    /// The turns of one folder.
    pub(crate) fn of(project: &str) -> Self {
        Self {
            project: project.to_owned(),
            since: None,
        }
    }

    /// Sessions since a moment.
    pub(crate) fn since(moment: &str) -> Self {
        Self {
            project: String::new(),
            since: Some(moment.parse().unwrap()),
        }
    }

    /// The same, asked of our readers.
    pub(crate) fn ask(&self, request: &mut Request) {
        if !self.project.is_empty() {
            request.project = ProjectScope {
                roots: vec![self.project.clone().into()],
                scope: Scope::Project,
            };
        }
        request.since = self.since;
    }

    /// The folder and the branch of a session.
    pub(crate) fn place_of(&self, course: &Course, rules: Rules) -> Place {
        let mut place = course.place.clone();
        if !self.project.is_empty() {
            let mut here = course.later.iter();
            if let Some(folder) = here.rfind(|folder| self.covers(course, folder, rules)) {
                place.folder.clone_from(folder);
            }
        }
        place
    }

    /// Whether a folder belongs to the project.
    pub(crate) fn covers(&self, course: &Course, folder: &str, rules: Rules) -> bool {
        let everything = self.project.is_empty();
        if folder.is_empty() {
            return if rules.differ(NoFolder) {
                everything
            } else {
                // It is taken for the folder that the reference runs in, which is the project's.
                !course.must_name_folder
            };
        }
        let matches = |folder: &str, project: &str| {
            is_within(folder, project)
                || (!rules.differ(AboveProject) && is_within(project, folder))
        };
        let followed = |path: &str| match std::fs::canonicalize(path) {
            Ok(path) if rules.differ(Links) => path.to_str().unwrap().to_owned(),
            Ok(_) | Err(_) => path.to_owned(),
        };
        everything
            || matches(folder, &self.project)
            || matches(&followed(folder), &followed(&self.project))
    }

    /// The folder at or above the project that a workspace of Cursor may be named after, which does not
    /// say where it is (§3.6); empty if there is none.
    pub(crate) fn named_like(&self, workspace: &str, rules: Rules) -> String {
        let name = workspace.rsplit('/').next().unwrap_or_default();
        let slug = |folder: &Path| {
            let text = folder.to_str().unwrap();
            let words = text.split(|it: char| !it.is_ascii_alphanumeric());
            let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
            words.join("-")
        };
        Path::new(&self.project)
            .ancestors()
            .find(|folder| slug(folder) == name && !rules.differ(NearestWorkspace))
            .map_or_else(String::new, |folder| folder.to_str().unwrap().to_owned())
    }

    /// Leaves of the sessions of Cursor those of the workspace that the reference looks into: the nearest
    /// above the project, or the project's own (§3.6).
    pub(crate) fn nearest(&self, courses: &mut Vec<Course>, rules: Rules) {
        if self.project.is_empty() || rules.differ(NearestWorkspace) {
            return;
        }
        let folders = courses.iter().map(|course| &course.place.folder);
        let above = folders.filter(|folder| is_within(&self.project, folder));
        let nearest = above.max_by_key(|folder| folder.len()).cloned();
        courses.retain(|course| Some(&course.place.folder) == nearest.as_ref());
    }

    /// Whether a session that ended then is too old.
    pub(crate) fn is_too_old(&self, ended: &str, compared: Compared, rules: Rules) -> bool {
        let (Some(since), Some(moment)) = (self.since, moment(ended)) else {
            return false;
        };
        let on_the_wall = Instant::from_second(since.as_second() + AHEAD * 3600)
            .unwrap()
            .to_string();
        let texts = !rules.differ(Since);
        match compared {
            Compared::Texts if texts => ended < on_the_wall.trim_end_matches('Z'),
            Compared::Days if texts => ended[..10] < on_the_wall[..10],
            Compared::After if !rules.differ(AtTheMoment) => moment <= since,
            Compared::Texts | Compared::Days | Compared::Moments | Compared::After => {
                moment < since
            }
        }
    }
}

fn is_within(folder: &str, other: &str) -> bool {
    folder
        .strip_prefix(other)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
