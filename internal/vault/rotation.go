package vault

import (
	"cmp"
	"context"
	"errors"
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

// damage counts the values of one table that a rotation cannot open.
type damage struct {
	values int
	first  error // names the row
}

// err tells of the damage; nil = there is none.
func (d damage) err(t sealedTable) error {
	if d.first == nil {
		return nil
	}
	return fmt.Errorf("%s: %d values cannot be opened, first %w", t.name, d.values, d.first)
}

// Rotate seals everything anew that is still under a previous platform key, and returns the number of values. When it
// returns 0 and a day has passed, in which stored answers expire, the previous key is not needed any more. It may be
// interrupted and repeated, and may run beside all other work. Fails: when values are damaged or under a key that the
// keyring does not hold; they stay as they are, all others are sealed anew.
func (v *Vault) Rotate(ctx context.Context) (int, error) {
	total := 0
	var damaged error
	for _, table := range sealedTables {
		var after staleRow
		var found damage
		for {
			stale, err := v.core.stale(ctx, table, after)
			if err == nil {
				var changed int
				changed, err = v.core.reseal(ctx, table, stale, &found)
				total += changed
			}
			if err != nil {
				return total, errors.Join(damaged, found.err(table), fmt.Errorf("rotate %s: %w", table.name, err))
			}
			if len(stale) < resealBatch {
				break
			}
			after = stale[len(stale)-1]
		}
		damaged = errors.Join(damaged, found.err(table))
	}
	return total, damaged
}

// stale reads the next batch of a table, in the order of its keys and places: of callbacks' secrets a key alone is that
// of one of each kind.
func (c *core) stale(ctx context.Context, t sealedTable, after staleRow) ([]staleRow, error) {
	place := t.place
	if place == "" {
		place = "''"
	}
	find := fmt.Sprintf(`
		select %[1]s as key, %[2]s as sealed, %[3]s as place from %[4]s.%[5]s
		where %[2]s is not null and substring(%[2]s from 1 for $1) <> $2 and (%[1]s, %[3]s) > ($4, $5)
		order by 1, 3 limit $3`,
		t.key, t.column, place, c.schema, t.name)
	prefix := c.ring.CurrentPrefix()
	rows, _ := c.db.Owner.Query(ctx, find, len(prefix), prefix, resealBatch, after.Key, after.Place)
	return pgx.CollectRows(rows, pgx.RowToStructByName[staleRow])
}

// reseal seals a batch of a table anew. A value that was replaced meanwhile stays as it is, and so does a damaged one.
func (c *core) reseal(ctx context.Context, t sealedTable, stale []staleRow, found *damage) (changed int, err error) {
	update := fmt.Sprintf(`update %s.%s set %s = $3 where %s = $1 and %[3]s = $2`, c.schema, t.name, t.column, t.key)
	batch := &pgx.Batch{}
	for _, r := range stale {
		associated := []byte(r.Place)
		if t.place == "" {
			associated = r.Key[:]
		}
		plain, err := c.ring.Open(t.purpose, r.Sealed, associated)
		if err != nil {
			found.values++
			found.first = cmp.Or(found.first, fmt.Errorf("row %s: %w", r.Key, err))
			continue
		}
		batch.Queue(update, r.Key, r.Sealed,
			c.ring.Seal(t.purpose, plain, associated)).Exec(func(tag pgconn.CommandTag) error {
			changed += int(tag.RowsAffected())
			return nil
		})
	}
	if err := c.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return 0, err // of the whole batch
	}
	return changed, nil
}
