//! Tests of the store through its public face.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "store/adopting.rs"]
mod adopting;
#[path = "store/asking.rs"]
mod asking;
#[path = "store/data.rs"]
mod data;
#[path = "store/killing.rs"]
mod killing;
#[path = "store/learning.rs"]
mod learning;
#[path = "store/locking.rs"]
mod locking;
#[path = "store/nights.rs"]
mod nights;
#[path = "store/old_databases.rs"]
mod old_databases;
#[path = "store/plain_files.rs"]
mod plain_files;
#[path = "store/sample.rs"]
mod sample;
#[cfg(unix)]
#[path = "store/writing.rs"]
mod writing;
