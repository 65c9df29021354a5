-- The nights of schedules. A night is named by the local time of its rule.
CREATE TABLE scheduled_night (
    project    TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    slot       TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'done', 'given_up')),
    caught_up  INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    night      INTEGER REFERENCES night (id) ON DELETE SET NULL,
    outcome    TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    not_before INTEGER,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (project, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX scheduled_night_night ON scheduled_night (night) WHERE night IS NOT NULL;

-- Since when a project's rule is what it is: nights before it were never missed.
CREATE TABLE schedule_rule (
    project TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    rule    TEXT NOT NULL,
    since   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- "Run now", asked for by any process and carried out by the one that supervises.
CREATE TABLE run_request (
    project TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- No night begins by itself; `until` is NULL for ever. One row at most.
CREATE TABLE nights_pause (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    until    INTEGER,
    at       INTEGER NOT NULL
) STRICT;
