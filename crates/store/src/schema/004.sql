-- The code of the problem that only a person can end, when that is how a try ended.
ALTER TABLE scheduled_night ADD COLUMN needs TEXT;

-- Why a night that was asked for by hand could not begin; gone once a night of the project begins.
CREATE TABLE refused_request (
    project TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    reason  TEXT NOT NULL,
    needs   TEXT,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
