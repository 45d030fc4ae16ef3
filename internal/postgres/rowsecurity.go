package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Execer is what runs a statement: a pool, a connection or a transaction.
type Execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// TenantPredicate is the condition under which the query role sees a row. An unset setting is null, hence no row.
const TenantPredicate = `org_id = nullif(current_setting('app.org_id', true), '')::uuid`

// protectSQL is run as the owner; %[1]s is the schema, %[2]s the table. The writer policy matters when the owner is no
// superuser: FORCE makes row-level security bind the owner too.
const protectSQL = `
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
// the query role reads one tenant's rows, the platform role reads all, the owner writes. Repeating it is harmless. Call
// it with the owner's pool or in a transaction of its own tables' creation.
func ProtectTable(ctx context.Context, q Execer, schema, table string) error {
	schema, table = pgx.Identifier{schema}.Sanitize(), pgx.Identifier{table}.Sanitize()
	if _, err := q.Exec(ctx, fmt.Sprintf(strings.TrimSpace(protectSQL), schema, table)); err != nil {
		return fmt.Errorf("protect table %s.%s: %w", schema, table, err)
	}
	return nil
}

// ProtectTable is the function of this name on the owner's pool.
func (db *DB) ProtectTable(ctx context.Context, schema, table string) error {
	return ProtectTable(ctx, db.Owner, schema, table)
}
