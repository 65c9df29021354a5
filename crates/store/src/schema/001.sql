-- Schema version 1.
--
-- Conventions: instants are INTEGER microseconds since 1970-01-01T00:00:00Z; hashes are lowercase hex SHA-256;
-- money is INTEGER millionths of the currency the prices are given in; '' as a document hash means "no file".

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Content-addressed bytes. `body` is zstd; NULL once it expired: the hash and the size stay.
CREATE TABLE blob (
    hash    TEXT PRIMARY KEY,
    keep    TEXT NOT NULL CHECK (keep IN ('evidence', 'for_good')),
    size    INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    body    BLOB
) STRICT;
CREATE INDEX blob_expiry ON blob (used_at) WHERE keep = 'evidence' AND body IS NOT NULL;

CREATE TABLE project (
    id         TEXT PRIMARY KEY,
    root       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;

CREATE TABLE night (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    number     INTEGER,
    kind       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('running', 'stopped', 'ended')),
    outcome    TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    until      INTEGER,
    started_at INTEGER NOT NULL,
    resumed_at INTEGER NOT NULL,
    ended_at   INTEGER,
    active_us  INTEGER NOT NULL DEFAULT 0,
    pins       TEXT NOT NULL,
    report     TEXT,
    pid        INTEGER NOT NULL,
    host       TEXT NOT NULL,
    resumes    INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, number)
) STRICT;
-- At most one unfinished night of a kind per project.
CREATE UNIQUE INDEX night_open ON night (project, kind) WHERE state <> 'ended';
CREATE INDEX night_recent ON night (project, started_at);

CREATE TABLE stage (
    night      INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    position   INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('planned', 'done')),
    output     TEXT REFERENCES blob (hash),
    planned_at INTEGER NOT NULL,
    done_at    INTEGER,
    PRIMARY KEY (night, name),
    UNIQUE (night, position)
) STRICT, WITHOUT ROWID;

-- One question, for ever. `request` is the whole call as JSON.
CREATE TABLE call (
    key          TEXT PRIMARY KEY,
    purpose      TEXT NOT NULL,
    backend_kind TEXT NOT NULL,
    backend      TEXT NOT NULL,
    request      TEXT NOT NULL REFERENCES blob (hash),
    sample       INTEGER NOT NULL,
    ask          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX call_request ON call (request);

-- One row per paid try.
CREATE TABLE attempt (
    id              INTEGER PRIMARY KEY,
    night           INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    key             TEXT NOT NULL REFERENCES call (key),
    n               INTEGER NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('started', 'answered', 'failed', 'unknown')),
    reserved_tokens INTEGER NOT NULL,
    reserved_cost   INTEGER NOT NULL,
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    cost            INTEGER,
    error_code      TEXT,
    error           TEXT,
    reply           TEXT REFERENCES blob (hash),
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    UNIQUE (night, key, n)
) STRICT;
CREATE INDEX attempt_answer ON attempt (key, id) WHERE state = 'answered';
CREATE INDEX attempt_reply ON attempt (reply) WHERE reply IS NOT NULL;

-- Which night used which call at which stage. `ask` 1 is the repeat after an unreadable reply, at the same position.
CREATE TABLE night_call (
    night    INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    stage    TEXT NOT NULL,
    position INTEGER NOT NULL,
    ask      INTEGER NOT NULL,
    key      TEXT NOT NULL REFERENCES call (key),
    state    TEXT NOT NULL CHECK (state IN ('planned', 'fresh', 'reused', 'waiting', 'failed')),
    attempt  INTEGER REFERENCES attempt (id) ON DELETE SET NULL,
    PRIMARY KEY (night, stage, position, ask)
) STRICT, WITHOUT ROWID;
CREATE INDEX night_call_key ON night_call (key);
CREATE INDEX night_call_attempt ON night_call (attempt) WHERE attempt IS NOT NULL;

CREATE TABLE event (
    night INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (night, seq)
) STRICT, WITHOUT ROWID;

-- Orders to a running night, read at every call boundary.
CREATE TABLE night_order (
    id         INTEGER PRIMARY KEY,
    night      INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('cancel', 'pause')),
    at         INTEGER NOT NULL,
    handled_at INTEGER
) STRICT;
CREATE INDEX night_order_open ON night_order (night) WHERE handled_at IS NULL;

-- The task archive. A stored split never changes.
CREATE TABLE task (
    project       TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    id            TEXT NOT NULL,
    legacy_id     TEXT NOT NULL,
    body          TEXT NOT NULL,
    split         TEXT NOT NULL CHECK (split IN ('train', 'val', 'test')),
    split_version INTEGER NOT NULL,
    cluster       TEXT NOT NULL,
    first_night   INTEGER REFERENCES night (id) ON DELETE SET NULL,
    last_night    INTEGER REFERENCES night (id) ON DELETE SET NULL,
    added_at      INTEGER NOT NULL,
    PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_legacy ON task (project, legacy_id) WHERE legacy_id <> '';
CREATE INDEX task_cluster ON task (project, cluster) WHERE cluster <> '';
CREATE INDEX task_first_night ON task (first_night);
CREATE INDEX task_last_night ON task (last_night);

CREATE TABLE mined_turn (
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    night   INTEGER REFERENCES night (id) ON DELETE SET NULL,
    PRIMARY KEY (project, session, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX mined_turn_night ON mined_turn (night);

-- Requests seen so far, redacted, so that one seen again in a later night is known to recur.
CREATE TABLE cluster_text (
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    turn    TEXT NOT NULL,
    cluster TEXT NOT NULL,
    text    TEXT NOT NULL,
    body    TEXT NOT NULL,
    night   INTEGER REFERENCES night (id) ON DELETE SET NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, session, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX cluster_text_cluster ON cluster_text (project, cluster);
CREATE INDEX cluster_text_night ON cluster_text (night);

CREATE TABLE rejected_edit (
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    target  TEXT NOT NULL,
    key     TEXT NOT NULL,
    edit    TEXT NOT NULL,
    rejected_by TEXT NOT NULL CHECK (rejected_by IN ('gate', 'user')),
    reason  TEXT NOT NULL,
    night   INTEGER REFERENCES night (id) ON DELETE SET NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, target, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX rejected_edit_night ON rejected_edit (night);

CREATE TABLE proposal (
    id         TEXT PRIMARY KEY,
    night      INTEGER NOT NULL REFERENCES night (id) ON DELETE CASCADE,
    project    TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    state      TEXT NOT NULL CHECK (state IN ('draft', 'pending', 'partly_adopted', 'adopted', 'rejected', 'superseded', 'rolled_back')),
    created_at INTEGER NOT NULL,
    dir        TEXT NOT NULL,
    nonce      TEXT NOT NULL,
    roots      TEXT NOT NULL DEFAULT '[]',
    viewed_at  INTEGER,
    decided_at INTEGER,
    reason     TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_project ON proposal (project, created_at);
CREATE INDEX proposal_night ON proposal (night);

CREATE TABLE proposal_target (
    proposal        TEXT NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
    target          TEXT NOT NULL,
    position        INTEGER NOT NULL,
    agent           TEXT NOT NULL,
    kind            TEXT NOT NULL CHECK (kind IN ('skill', 'memory')),
    live_path       TEXT NOT NULL,
    real_path       TEXT NOT NULL,
    live_sha256     TEXT NOT NULL,
    proposed_sha256 TEXT NOT NULL REFERENCES blob (hash),
    verdict         TEXT NOT NULL,
    before          REAL,
    after           REAL,
    edits           TEXT NOT NULL,
    flags           TEXT NOT NULL,
    detail          TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'adopted', 'rejected', 'superseded', 'rolled_back')),
    reason          TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (proposal, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_target_blob ON proposal_target (proposed_sha256);

-- The adoption journal: the intent is durable before the first byte of a user's file changes.
CREATE TABLE adoption (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL CHECK (kind IN ('adopt', 'rollback')),
    proposal   TEXT NOT NULL,
    project    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('intended', 'committed', 'undone')),
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    note       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX adoption_open ON adoption (state) WHERE state = 'intended';
CREATE INDEX adoption_proposal ON adoption (proposal);

CREATE TABLE adoption_target (
    adoption      INTEGER NOT NULL REFERENCES adoption (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    target        TEXT NOT NULL,
    live_path     TEXT NOT NULL,
    real_path     TEXT NOT NULL,
    before_sha256 TEXT NOT NULL,
    before_mode   INTEGER,
    before_file   TEXT NOT NULL DEFAULT '',
    after_sha256  TEXT NOT NULL,
    created_dirs  TEXT NOT NULL DEFAULT '[]',
    backup_path   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (adoption, position),
    UNIQUE (adoption, real_path)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipt (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    adoption      INTEGER NOT NULL REFERENCES adoption (id),
    proposal      TEXT NOT NULL,
    project       TEXT NOT NULL,
    target        TEXT NOT NULL,
    live_path     TEXT NOT NULL,
    real_path     TEXT NOT NULL,
    sha256_before TEXT NOT NULL,
    sha256_after  TEXT NOT NULL,
    mode_before   INTEGER,
    created_dirs  TEXT NOT NULL,
    backup_path   TEXT NOT NULL,
    edits         TEXT NOT NULL,
    adopted_at    INTEGER NOT NULL,
    undone_at     INTEGER,
    undone_by     INTEGER REFERENCES adoption (id)
) STRICT;
CREATE INDEX receipt_proposal ON receipt (proposal);
CREATE INDEX receipt_path ON receipt (real_path) WHERE undone_at IS NULL;

-- Transcript files as last read. Digests are apart, so that a pass over unchanged files reads few pages.
CREATE TABLE transcript_file (
    id             INTEGER PRIMARY KEY,
    agent          TEXT NOT NULL,
    path           BLOB NOT NULL,
    dev            INTEGER NOT NULL,
    ino            INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    mtime_ns       INTEGER NOT NULL,
    reader_version INTEGER NOT NULL,
    settings       TEXT NOT NULL,
    skips          TEXT NOT NULL,
    UNIQUE (agent, path)
) STRICT;
CREATE TABLE transcript_digest (
    file INTEGER PRIMARY KEY REFERENCES transcript_file (id) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TABLE pause (
    provider TEXT PRIMARY KEY,
    until    INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
