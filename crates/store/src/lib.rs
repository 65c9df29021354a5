//! What must survive: SQLite, OS locks, atomic files, blobs and the adoption journal.
