// The tables of a store, as schema.sql makes them.
#ifndef HEARTH_CACHE_STORE_SCHEMA_H_
#define HEARTH_CACHE_STORE_SCHEMA_H_

#include "cache/files/database.h"

namespace hearth {

Status MakeTables(Database& database);

// Whether the database has the tables and indexes of schema.sql and nothing else. kMalformedInput if not, or if one is
// written in another way: a column that is computed, or an index on an expression, would run when a row is read, and
// the file may be anybody's.
Status CheckTables(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_SCHEMA_H_
