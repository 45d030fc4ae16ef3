package cpejobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Uploads has how many bytes came of the upload tests that have not ended yet. Safe for concurrent use.
type Uploads struct{ Informs *Informs }

// Statements of the table.
const (
	uploadSQL = `
insert into {schema}.uploads (operation_id, bytes, at) values ($1, $2, $3)
on conflict (operation_id) do update set bytes = excluded.bytes, at = excluded.at`
	uploadedSQL     = `select bytes from {schema}.uploads where operation_id = $1`
	uploadForgetSQL = `delete from {schema}.uploads where operation_id = $1`
)

// Count notes what has come; a test that a device does again is counted anew.
func (u Uploads) Count(ctx context.Context, operation id.CPEOperation, bytes int64) error {
	_, err := u.Informs.db.Owner.Exec(ctx, u.Informs.sql(uploadSQL), operation, bytes, u.Informs.clock.Now())
	if err != nil {
		return fmt.Errorf("note upload of operation %s: %w", operation, err)
	}
	return nil
}

// Received gives how many bytes have come of a test; 0 = none, or they went elsewhere.
func (u Uploads) Received(ctx context.Context, operation id.CPEOperation) (bytes int64, err error) {
	err = u.Informs.db.Owner.QueryRow(ctx, u.Informs.sql(uploadedSQL), operation).Scan(&bytes)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read upload of operation %s: %w", operation, err)
	}
	return bytes, nil
}

// Forget drops the count of a test that has ended.
func (u Uploads) Forget(ctx context.Context, operation id.CPEOperation) error {
	if _, err := u.Informs.db.Owner.Exec(ctx, u.Informs.sql(uploadForgetSQL), operation); err != nil {
		return fmt.Errorf("drop upload of operation %s: %w", operation, err)
	}
	return nil
}
