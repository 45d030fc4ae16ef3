package vault

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// handedPage is how many callbacks are read at once.
const handedPage = 100

// SQL of callbacks that a program hands to the one that serves.
const (
	handSQL       = `insert into {schema}.handed_callbacks (id, sealed) select * from unnest($1::uuid[], $2::bytea[])`
	handedSQL     = `select id, sealed from {schema}.handed_callbacks where id > $1 order by id limit $2`
	dropHandedSQL = `delete from {schema}.handed_callbacks where id = $1`
)

// HandOver writes sealed callbacks of a program that stands by to the database, for the program that serves. It needs
// no open vault, which such a program does not have. It fails while the one that serves is of an older version.
func HandOver(ctx context.Context, db *postgres.DB, sealed [][]byte) error {
	ids := make([]uuid.UUID, len(sealed))
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7())
	}
	sql := strings.ReplaceAll(handSQL, "{schema}", db.Namespace.Schema("vault"))
	if _, err := db.Owner.Exec(ctx, sql, ids, sealed); err != nil {
		return fmt.Errorf("hand callbacks over: %w", err)
	}
	return nil
}

// handed is a callback of a program that stands by.
type handed struct {
	ID     uuid.UUID `db:"id"`
	Sealed []byte    `db:"sealed"`
}

// Handed gives the callbacks of programs that stand by to store, oldest first, and forgets those that it has taken. One
// that it refuses stays and holds up no other; the first refusal is the error. A repeat after a kill gives some again.
func (i *Inbox) Handed(ctx context.Context, store func(ctx context.Context, sealed []byte) error) (failed error) {
	for after := uuid.Nil; ; {
		rows, _ := i.core.db.Owner.Query(ctx, i.core.sql(handedSQL), after, handedPage)
		page, err := pgx.CollectRows(rows, pgx.RowToStructByName[handed])
		if err != nil {
			return fmt.Errorf("read callbacks that were handed over: %w", err)
		}
		for _, c := range page {
			after = c.ID
			if err := store(ctx, c.Sealed); err != nil {
				failed = cmp.Or(failed, err)
				continue
			}
			if _, err := i.core.db.Owner.Exec(ctx, i.core.sql(dropHandedSQL), c.ID); err != nil {
				return fmt.Errorf("forget a callback that was handed over: %w", err)
			}
		}
		if len(page) < handedPage || ctx.Err() != nil {
			return failed
		}
	}
}
