package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Execer runs one statement: a pool, a connection or a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// TenantPredicate is the condition under which the query role sees a row. While app.org_id is unset it is null, and no
// row is seen.
const TenantPredicate = `org_id = nullif(current_setting('app.org_id', true), '')::uuid`

// protectSQL is run as the owner; %[1]s is the schema, %[2]s the table. FORCE makes row-level security bind the owner
// too, unless it is a superuser, so the owner needs a policy of its own to write. Programs that start together take
// turns, because the server refuses two changes of one table's rights at the same time. The table is locked before its
// rights change: a vacuum holds the table and then waits for its row in pg_class, which a grant would hold already.
const protectSQL = `
select pg_advisory_xact_lock(hashtextextended('protect %[1]s', 0));
lock table %[1]s.%[2]s in access exclusive mode;
grant usage on schema %[1]s to ` + QueryRole + `, ` + PlatformRole + `;
grant select on %[1]s.%[2]s to ` + QueryRole + `, ` + PlatformRole + `;
alter table %[1]s.%[2]s enable row level security;
alter table %[1]s.%[2]s force row level security;
drop policy if exists tenant on %[1]s.%[2]s;
drop policy if exists platform on %[1]s.%[2]s;
drop policy if exists writer on %[1]s.%[2]s;
create policy tenant on %[1]s.%[2]s for select to ` + QueryRole + ` using (` + TenantPredicate + `);
create policy platform on %[1]s.%[2]s for select to ` + PlatformRole + ` using (true);
create policy writer on %[1]s.%[2]s to current_user using (true) with check (true);`

// ProtectTable puts a table with a column `org_id uuid` under row-level security (docs/rules/engine.md#row-security):
// the query role reads one tenant's rows, the platform role reads all, the owner writes. A repetition changes
// nothing. Call it with the owner's pool, or in the owner's transaction that creates the table.
func ProtectTable(ctx context.Context, q Execer, schema, table string) error {
	schema, table = pgx.Identifier{schema}.Sanitize(), pgx.Identifier{table}.Sanitize()
	if _, err := q.Exec(ctx, fmt.Sprintf(strings.TrimSpace(protectSQL), schema, table)); err != nil {
		return fmt.Errorf("protect table %s.%s: %w", schema, table, err)
	}
	return nil
}

// ProtectTable calls the function of this name with the owner's pool.
func (db *DB) ProtectTable(ctx context.Context, schema, table string) error {
	return ProtectTable(ctx, db.Owner, schema, table)
}
