//! The database of Devin's command line.
//!
//! A conversation is a tree: every node names the one it follows, and the session names the last node
//! of the branch it is on. The other branches are most of the database, and nothing of them is read
//! but the prompts that were edited and sent again, with what came of them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{OptionalExtension, Row};
use skillopt_core::Instant;

use super::message::{Node, is_prompt, tell};
use crate::collection::{Collection, Listed, PATIENCE, SESSION_LIMIT, version};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, number, size, text, why};
use crate::files::State;
use crate::lenient::Number;
use crate::reading::{Counts, Recorder};
use crate::reason::Reason;
use crate::scope::Project;

/// The tables that are read, with the columns without which nothing can be said.
const TABLES: [(&str, &[&str]); 2] = [
    (
        "sessions",
        &[
            "id",
            "working_directory",
            "last_activity_at",
            "main_chain_id",
        ],
    ),
    (
        "message_nodes",
        &["session_id", "node_id", "parent_node_id", "chat_message"],
    ),
];
/// Where the program notes which changes were made to its tables.
const HISTORY: &str = "refinery_schema_history";
/// Most nodes of one session that are looked at.
const NODE_LIMIT: usize = 500_000;

struct Devin {
    database: Database,
    /// The queries, which depend on the columns there are.
    list: String,
    session: String,
    nodes: String,
    node: String,
    looks: String,
    /// The version of the tables, where they say it.
    format: Number,
}

/// A row of the table of sessions.
struct Session {
    directory: String,
    last: Number,
    /// The last node of the branch it is on.
    tip: Option<i64>,
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    for (table, columns) in TABLES {
        if !database.has(table, columns)? {
            return Err(Reason::UnknownSchema);
        }
    }
    if !database.finds_by("message_nodes", "session_id")? {
        return Err(Reason::UnknownSchema);
    }
    let column = |table, column, otherwise| -> Result<&'static str, Reason> {
        Ok(if database.has(table, &[column])? {
            column
        } else {
            otherwise
        })
    };
    let hidden = column("sessions", "hidden", "0")?;
    let created = column("message_nodes", "created_at", "NULL")?;
    let format = if database.has(HISTORY, &["version"])? {
        database
            .connection()
            .query_row(&format!("SELECT max(version) FROM {HISTORY}"), [], |row| {
                Ok(number(row.get_ref(0)?))
            })
            .map_err(|error| why(&error))?
    } else {
        Number(None)
    };
    Ok(Box::new(Devin {
        format,
        list: format!(
            "SELECT id, working_directory, last_activity_at, {hidden} FROM sessions
             ORDER BY last_activity_at DESC, id DESC LIMIT ?1"
        ),
        session: "SELECT working_directory, last_activity_at, main_chain_id
                  FROM sessions WHERE id = ?1"
            .to_owned(),
        nodes: "SELECT node_id, parent_node_id FROM message_nodes WHERE session_id = ?1
                ORDER BY node_id LIMIT ?2"
            .to_owned(),
        node: format!(
            "SELECT {created}, octet_length(chat_message),
                    CASE WHEN octet_length(chat_message) <= ?3 THEN chat_message END
             FROM message_nodes WHERE session_id = ?1 AND node_id = ?2"
        ),
        looks: "SELECT count(*), max(node_id) FROM message_nodes WHERE session_id = ?1".to_owned(),
        database,
    }))
}

impl Session {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            directory: text(row.get_ref(0)?).to_owned(),
            last: number(row.get_ref(1)?),
            tip: number(row.get_ref(2)?).0,
        })
    }
}

/// The branch a session is on, first node first, and what is beside it.
struct Branch {
    nodes: Vec<(i64, Option<i64>)>,
    /// For a node of the branch, those that follow the same one and were there before it.
    beside: HashMap<i64, Vec<i64>>,
    /// The last node that follows a node.
    newest: HashMap<i64, i64>,
}

impl Branch {
    /// Finds the way from `tip` back to the beginning. A tip that is not there, or none, stands for
    /// the last node there is, and a node that is followed but lost for the one before.
    fn of(nodes: &[(i64, Option<i64>)], tip: Option<i64>) -> Self {
        let parents: HashMap<i64, Option<i64>> = nodes.iter().copied().collect();
        let mut at = tip
            .filter(|tip| parents.contains_key(tip))
            .or_else(|| nodes.iter().map(|&(node, _)| node).max());
        let mut way = Vec::new();
        let mut met = HashSet::new();
        // Nothing in the tables says that there is no circle.
        while let Some((node, &parent)) = at
            .filter(|&node| met.insert(node))
            .and_then(|node| Some((node, parents.get(&node)?)))
        {
            way.push((node, parent));
            at = parent.and_then(|parent| {
                if parents.contains_key(&parent) {
                    return Some(parent);
                }
                let before = nodes.partition_point(|&(other, _)| other < node);
                nodes[..before].last().map(|&(other, _)| other)
            });
        }
        way.reverse();
        let on: HashMap<Option<i64>, i64> =
            way.iter().map(|&(node, parent)| (parent, node)).collect();
        let mut beside: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut newest = HashMap::new();
        for &(node, parent) in nodes {
            newest.extend(parent.map(|parent| (parent, node)));
            if let Some(&chosen) = on.get(&parent).filter(|&&chosen| node < chosen) {
                beside.entry(chosen).or_default().push(node);
            }
        }
        Self {
            nodes: way,
            beside,
            newest,
        }
    }

    /// What came of a node that is beside the branch, as it was left: of several tries the last.
    fn behind(&self, node: i64) -> Vec<(i64, i64)> {
        let mut met = HashSet::from([node]);
        let mut behind = Vec::new();
        let mut at = node;
        while let Some(&next) = self.newest.get(&at).filter(|&&next| met.insert(next)) {
            behind.push((next, at));
            at = next;
        }
        behind
    }
}

impl Devin {
    fn listed(&self, project: &Project, counts: &mut Counts) -> rusqlite::Result<Vec<Listed>> {
        let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
        let mut statement = self.database.connection().prepare(&self.list)?;
        let mut rows = statement.query([limit])?;
        let mut listed = Vec::new();
        while let Some(row) = rows.next()? {
            let id = text(row.get_ref(0)?);
            let directory = text(row.get_ref(1)?);
            if id.is_empty() {
                counts.add(Reason::Malformed);
            } else if number(row.get_ref(3)?).0.unwrap_or_default() != 0 {
                counts.add(Reason::RemovedSession);
            } else {
                listed.push(Listed {
                    id: id.to_owned(),
                    elsewhere: !directory.is_empty() && !project.covers(directory),
                    ended: seconds(number(row.get_ref(2)?)),
                });
            }
        }
        Ok(listed)
    }

    fn session(&self, id: &str) -> rusqlite::Result<Option<Session>> {
        self.database
            .connection()
            .prepare_cached(&self.session)?
            .query_row([id], Session::of)
            .optional()
    }

    fn nodes(&self, id: &str) -> rusqlite::Result<Vec<(i64, Option<i64>)>> {
        let limit = i64::try_from(NODE_LIMIT).unwrap_or(i64::MAX);
        let mut statement = self.database.connection().prepare_cached(&self.nodes)?;
        let mut rows = statement.query((id, limit))?;
        let mut nodes = Vec::new();
        while let Some(row) = rows.next()? {
            if let Some(node) = number(row.get_ref(0)?).0 {
                nodes.push((node, number(row.get_ref(1)?).0));
            }
        }
        Ok(nodes)
    }

    fn looks(&self, id: &str) -> rusqlite::Result<State> {
        let Some(session) = self.session(id)? else {
            return Ok(State::default());
        };
        let (count, newest) = self
            .database
            .connection()
            .prepare_cached(&self.looks)?
            .query_row([id], |row| {
                Ok((number(row.get_ref(0)?).0, number(row.get_ref(1)?).0))
            })?;
        Ok(version(
            &[count, newest, session.last.0, session.tip],
            &[&session.directory],
        ))
    }

    fn read_session(
        &self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> rusqlite::Result<u64> {
        let Some(session) = self.session(id)? else {
            return Ok(0);
        };
        recorder.format(self.format);
        recorder.place(&session.directory, "");
        let branch = Branch::of(&self.nodes(id)?, session.tip);
        let mut spare = Vec::new();
        let mut looked_at = 0;
        for (number, &(node, parent)) in branch.nodes.iter().enumerate() {
            if number.is_multiple_of(PATIENCE) && cancel() {
                break;
            }
            let Some(row) = self.node(id, node)? else {
                continue;
            };
            let others = branch.beside.get(&node).filter(|_| row.is_prompt());
            for &other in others.into_iter().flatten() {
                let Some(prompt) = self.node(id, other)?.filter(NodeRow::is_prompt) else {
                    continue;
                };
                looked_at += prompt.tell(other, parent, &mut spare, recorder);
                for (number, (node, parent)) in branch.behind(other).into_iter().enumerate() {
                    if number.is_multiple_of(PATIENCE) && cancel() {
                        break;
                    }
                    if let Some(row) = self.node(id, node)? {
                        looked_at += row.tell(node, Some(parent), &mut spare, recorder);
                    }
                }
            }
            looked_at += row.tell(node, parent, &mut spare, recorder);
        }
        Ok(looked_at)
    }

    fn node(&self, session: &str, node: i64) -> rusqlite::Result<Option<NodeRow>> {
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        self.database
            .connection()
            .prepare_cached(&self.node)?
            .query_row((session, node, limit), |row| {
                Ok(NodeRow {
                    created: seconds(number(row.get_ref(0)?)),
                    size: size(row.get_ref(1)?),
                    data: bytes(row.get_ref(2)?).map(<[u8]>::to_vec),
                })
            })
            .optional()
    }
}

/// A row of the table of nodes.
struct NodeRow {
    created: Option<Instant>,
    size: u64,
    /// None if there is too much of it.
    data: Option<Vec<u8>>,
}

impl NodeRow {
    fn is_prompt(&self) -> bool {
        self.data.as_deref().is_some_and(is_prompt)
    }

    /// Tells the recorder what the node says. Returns its size.
    fn tell(
        &self,
        id: i64,
        parent: Option<i64>,
        spare: &mut Vec<u8>,
        recorder: &mut Recorder<'_>,
    ) -> u64 {
        match &self.data {
            Some(data) => tell(
                Node {
                    id,
                    parent,
                    created: self.created,
                    data,
                },
                spare,
                recorder,
            ),
            None => recorder.skip(Reason::ValueTooLong),
        }
        self.size
    }
}

/// Seconds after the epoch.
fn seconds(number: Number) -> Option<Instant> {
    Number(number.0?.checked_mul(1000)).instant()
}

impl Collection for Devin {
    fn list(&mut self, project: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        self.listed(project, counts).map_err(|error| why(&error))
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        self.looks(id).map_err(|error| why(&error))
    }

    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason> {
        self.read_session(id, recorder, cancel)
            .map_err(|error| why(&error))
    }

    fn holds(&self) -> bool {
        self.database.holds()
    }
}
