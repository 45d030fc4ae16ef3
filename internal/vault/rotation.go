package vault

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// resealBatch is how many rows are sealed anew in one step.
const resealBatch = 500

// sealedTable is a table with sealed values that outlive a rotation of the platform key. (Stored answers and provider
// tokens do not: they expire within a day, as long as the previous key must be kept anyway.)
type sealedTable struct {
	name    string
	key     string // primary key column, as uuid; "true" for the single row
	column  string
	place   string // SQL for the text that is the associated data; "" when it is the key's 16 bytes
	purpose secrets.Purpose
}

// sealedTables lists every such table of the vault. The SQL of place repeats the functions named ...Place in Go.
var sealedTables = []sealedTable{
	{"root_keys", "'00000000-0000-0000-0000-000000000000'::uuid", "sealed", "'root_keys'", secrets.Wrapping},
	{"subject_keys", "subject", "wrapped", "", secrets.Wrapping},
	{
		"secrets", "ref", "sealed", "'secrets ' || ref || ' ' || coalesce(org_id::text, '') || ' ' || purpose",
		secrets.Sealing,
	},
	{"callback_secrets", "ref", "sealed", "'callback_secrets ' || kind || ' ' || ref", secrets.Sealing},
	{"second_factors", "id", "sealed", "'second_factors ' || id", secrets.Sealing},
	{"files", "key", "sealed", "'files ' || key", secrets.Sealing},
	{"callbacks", "id", "sealed", "'callbacks ' || id", secrets.Sealing},
	{"statements", "id", "sealed", "'statements file ' || id", secrets.Sealing},
	{"statement_outcomes", "id", "sealed", "'statements outcome ' || id", secrets.Sealing},
}

// staleRow is a value that is sealed under a previous platform key, with the place that it is bound to.
type staleRow struct {
	Key    uuid.UUID
	Sealed []byte
	Place  string
}

// Rotate seals everything anew that is still under a previous platform key, and returns the number of values. When it
// returns 0 and a day has passed, in which stored answers expire, the previous key is not needed any more. It may be
// interrupted and repeated, and may run beside all other work.
func (v *Vault) Rotate(ctx context.Context) (int, error) {
	total := 0
	for _, table := range sealedTables {
		for {
			seen, changed, err := v.core.reseal(ctx, table)
			total += changed
			if err != nil {
				return total, fmt.Errorf("rotate %s: %w", table.name, err)
			}
			if seen < resealBatch {
				break
			}
		}
	}
	return total, nil
}

// reseal does one batch of a table. A value that was replaced meanwhile stays as it is.
func (c *core) reseal(ctx context.Context, t sealedTable) (seen, changed int, err error) {
	place := t.place
	if place == "" {
		place = "''"
	}
	find := fmt.Sprintf(`
		select %s as key, %s as sealed, %s as place from %s.%s
		where %[2]s is not null and substring(%[2]s from 1 for $1) <> $2 limit $3`,
		t.key, t.column, place, c.schema, t.name)
	prefix := c.ring.CurrentPrefix()
	rows, _ := c.db.Owner.Query(ctx, find, len(prefix), prefix, resealBatch)
	stale, err := pgx.CollectRows(rows, pgx.RowToStructByName[staleRow])
	if err != nil || len(stale) == 0 {
		return 0, 0, err
	}
	update := fmt.Sprintf(`update %s.%s set %s = $3 where %s = $1 and %[3]s = $2`, c.schema, t.name, t.column, t.key)
	batch := &pgx.Batch{}
	for _, r := range stale {
		associated := []byte(r.Place)
		if t.place == "" {
			associated = r.Key[:]
		}
		plain, err := c.ring.Open(t.purpose, r.Sealed, associated)
		if err != nil {
			return 0, 0, fmt.Errorf("row %s: %w", r.Key, err)
		}
		batch.Queue(update, r.Key, r.Sealed,
			c.ring.Seal(t.purpose, plain, associated)).Exec(func(tag pgconn.CommandTag) error {
			changed += int(tag.RowsAffected())
			return nil
		})
	}
	if err := c.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return 0, 0, err
	}
	return len(stale), changed, nil
}
