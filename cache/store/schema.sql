-- Blobs lie apart from what is known about them: a new last-used stamp then rewrites a short
-- row, not a megabyte, and listing the store reads a few pages.
CREATE TABLE entries(
  id           INTEGER PRIMARY KEY,
  digest       BLOB NOT NULL UNIQUE,  -- XXH3-128 of kind and material
  kind         TEXT NOT NULL,
  material     BLOB NOT NULL,         -- the whole key, compared on a hit
  size_bytes   INTEGER NOT NULL,
  checksum     BLOB NOT NULL,         -- XXH3-128 of the blob
  cost_ms      REAL NOT NULL,
  created_ms   INTEGER NOT NULL,      -- since 1970
  last_used_ms INTEGER NOT NULL,
  origin       TEXT NOT NULL,         -- empty: made here; else who signed it (CacheEntry::origin)
  needs        BLOB                   -- the digest of the entry without which this one is of no use
);
CREATE INDEX tuning_by_key ON entries(material) WHERE kind='tuning';  -- all layers of a device at once
CREATE INDEX entries_by_need ON entries(needs) WHERE needs IS NOT NULL;
CREATE INDEX entries_by_last_use ON entries(last_used_ms);
CREATE TABLE blobs(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);  -- id is that of the entry

-- Blobs that were being handed to a driver when the process died. The entry is gone; the same
-- bytes come back only until they have done it too often (quarantine.h).
CREATE TABLE quarantine(
  digest   BLOB PRIMARY KEY,
  checksum BLOB,
  strikes  INTEGER NOT NULL,
  kind     TEXT,             -- null: the entry was of a layer
  since_ms INTEGER NOT NULL  -- of the last strike
) WITHOUT ROWID;

-- Which model asked for which entry. A row may outlive its entry: it then says what the model will ask for again.
CREATE TABLE models(
  id           INTEGER PRIMARY KEY,
  fingerprint  TEXT NOT NULL UNIQUE,
  path         TEXT NOT NULL,     -- where it was last
  is_pinned    INTEGER NOT NULL,  -- its entries are never evicted
  last_used_ms INTEGER NOT NULL
);
CREATE TABLE uses(model INTEGER, digest BLOB, PRIMARY KEY(model, digest)) WITHOUT ROWID;
CREATE INDEX uses_by_digest ON uses(digest);

-- What content is called in keys, by a digest with the store's secret: who does not know it can't make other content
-- that is found here.
CREATE TABLE content_names(fast BLOB PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;

-- Numbers, and the store's 'secret'.
CREATE TABLE counters(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
