package vault

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Files keeps files for a short time, in parts that are sealed under the platform key: what customers bring along holds
// their passwords, and what an organization takes along is all that it has. Safe for concurrent use.
type Files struct {
	core *core
}

// File names a file of an organization.
type File struct {
	ID    id.File
	OrgID id.Organization
	Ends  time.Time // when it is removed, if nobody does before
}

// SQL of files.
const (
	putFileSQL = `
insert into {schema}.files (key, file, part, org_id, sealed, ends_at)
values (@key, @file, @part, @org, @sealed, @ends)
on conflict (key) do update set sealed = excluded.sealed, ends_at = excluded.ends_at
where files.org_id = excluded.org_id`
	getFileSQL    = `select sealed from {schema}.files where key = $1 and org_id = $2`
	deleteFileSQL = `delete from {schema}.files where file = $1`
	purgeFilesSQL = `delete from {schema}.files where ends_at <= $1`
)

// Put stores a part of a file, in place of what was stored for it before.
func (f *Files) Put(ctx context.Context, file File, part int, plain []byte) error {
	key := filePart(file.ID, part)
	sealed := f.core.ring.Seal(secrets.Sealing, plain, filePlace(key))
	_, err := f.core.db.Owner.Exec(ctx, f.core.sql(putFileSQL), pgx.NamedArgs{
		"key": key, "file": file.ID, "part": part, "org": file.OrgID, "sealed": sealed, "ends": file.Ends,
	})
	if err != nil {
		return fmt.Errorf("store part %d of file %s: %w", part, file.ID, err)
	}
	return nil
}

// Get gives a part of a file of an organization. Fails: file_gone.
func (f *Files) Get(ctx context.Context, org id.Organization, file id.File, part int) ([]byte, error) {
	key := filePart(file, part)
	var sealed []byte
	err := f.core.db.Owner.QueryRow(ctx, f.core.sql(getFileSQL), key, org).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, failure.NewNotFound("file_gone", "The file is no longer kept.")
	}
	if err != nil {
		return nil, fmt.Errorf("load part %d of file %s: %w", part, file, err)
	}
	plain, err := f.core.ring.Open(secrets.Sealing, sealed, filePlace(key))
	if err != nil {
		return nil, fmt.Errorf("load part %d of file %s: %w", part, file, err)
	}
	return plain, nil
}

// Delete removes all parts of a file. A missing one is no error.
func (f *Files) Delete(ctx context.Context, file id.File) error {
	if _, err := f.core.db.Owner.Exec(ctx, f.core.sql(deleteFileSQL), file); err != nil {
		return fmt.Errorf("remove file %s: %w", file, err)
	}
	return nil
}

// Purge removes the files whose time has come.
func (f *Files) Purge(ctx context.Context) error {
	if _, err := f.core.db.Owner.Exec(ctx, f.core.sql(purgeFilesSQL), f.core.now()); err != nil {
		return fmt.Errorf("remove old files: %w", err)
	}
	return nil
}

// filePart is the key of a part.
func filePart(file id.File, part int) id.Any {
	return id.Derive[id.Any]("file_part", file.String(), strconv.Itoa(part))
}

// filePlace is the associated data of a sealed part.
func filePlace(key id.Any) []byte { return []byte("files " + key.String()) }
