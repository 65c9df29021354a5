//! The page's rules for the database of Copilot CLI (§3.5).

use rusqlite::Connection;

use crate::File;
use crate::course::{Compared, Course, Filters, Item, Place};
use crate::difference::Difference::{Cut, InOrder, OtherWords};
use crate::difference::Rules;
use crate::rows::opened;
use crate::words::{is_meta, kept, signals};

/// Most characters of one text, and most prompts of one session.
const LONGEST: usize = 4000;
const MOST: usize = 40;

/// The sessions of a database.
pub(crate) fn read(files: &[File], rules: Rules) -> Vec<Course> {
    let (_folder, database) = opened(files, "session-store.db");
    let mut statement = database
        .prepare(
            "SELECT id, ifnull(cwd, ''), ifnull(branch, ''), created_at, updated_at FROM sessions
             ORDER BY updated_at DESC",
        )
        .unwrap();
    let sessions = statement.query_map([], |row| {
        Ok(Course {
            session: row.get(0)?,
            place: Place {
                folder: row.get(1)?,
                branch: row.get(2)?,
            },
            first: moment(row.get_ref(3)?.as_str()?),
            last: moment(row.get_ref(4)?.as_str()?),
            redacts: true,
            filters: Filters::Both,
            once: true,
            sorted: true,
            must_name_folder: true,
            compared: Compared::Days,
            ..Course::default()
        })
    });
    let sessions: Vec<Course> = sessions.unwrap().map(Result::unwrap).collect();
    sessions
        .into_iter()
        .map(|course| turns(&database, course, rules))
        .collect()
}

fn turns(database: &Connection, mut course: Course, rules: Rules) -> Course {
    let mut statement = database
        .prepare(
            "SELECT turn_index, ifnull(user_message, ''), ifnull(assistant_response, ''), timestamp
             FROM turns WHERE session_id = ?1 ORDER BY turn_index",
        )
        .unwrap();
    let turns = statement.query_map([&course.session], |row| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            moment(row.get_ref(3)?.as_str()?),
        ))
    });
    let turns: Vec<(i64, String, String, String)> = turns.unwrap().map(Result::unwrap).collect();
    let mut prompts = 0;
    for (turn, asked, answered, at) in turns {
        let asked = cut(&asked, rules);
        let typed = !asked.trim().is_empty();
        let is_kept = !typed || !is_meta(&asked, rules) && (prompts < MOST || rules.differ(Cut));
        if is_kept {
            prompts += usize::from(typed);
            course.items.push(Item::Prompt {
                id: format!("{}/{turn}", course.session),
                at: at.clone(),
                text: asked,
                place: course.place.clone(),
            });
        } else {
            course.items.push(Item::Program {
                id: String::new(),
                place: course.place.clone(),
            });
            if !rules.differ(OtherWords) {
                let signals = signals(&asked, rules).into_iter().map(Item::Signal);
                course.items.extend(signals);
            }
        }
        // Each answer has a turn of its own, so that here the files stand with it.
        if rules.differ(InOrder) {
            files(database, Some(turn), &mut course);
        }
        course.items.push(Item::Said {
            id: String::new(),
            at,
            text: cut(&answered, rules),
        });
    }
    if !rules.differ(InOrder) {
        files(database, None, &mut course);
    }
    course
}

/// The files of a turn or of all, and the tools that wrote them.
fn files(database: &Connection, turn: Option<i64>, course: &mut Course) {
    let mut statement = database
        .prepare_cached(
            "SELECT ifnull(tool_name, ''), file_path FROM session_files
             WHERE session_id = ?1 AND turn_index = ifnull(?2, turn_index) ORDER BY rowid",
        )
        .unwrap();
    let rows = statement.query_map((&course.session, turn), |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    let rows: Vec<(String, String)> = rows.unwrap().map(Result::unwrap).collect();
    for (tool, file) in rows {
        course.items.extend([Item::Tool(tool), Item::File(file)]);
    }
}

/// A text, redacted and then cut.
fn cut(text: &str, rules: Rules) -> String {
    if rules.differ(Cut) {
        return text.to_owned();
    }
    kept(text, true, rules).chars().take(LONGEST).collect()
}

/// A moment of any version as ISO text.
fn moment(text: &str) -> String {
    text.replacen(' ', "T", 1)
}
