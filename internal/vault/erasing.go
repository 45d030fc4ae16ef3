package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Traces find the rows about a person, whom nothing but their sealed text names.
type Traces struct {
	// Names reports whether a text names the person.
	Names func(text []byte) bool
	// OrgID is the organization whose compressed files go without a look: each is a copy of all that it has. Zero = no
	// files.
	OrgID id.Organization
	// Answer stands in the place of stored answers that name the person: the row has to stay, since it keeps a repeated
	// request from acting twice.
	Answer Answer
}

// sweepPage is how many rows of a table are opened in one step.
const sweepPage = 200

// SQL of sweeping. Each page begins after the last key of the one before.
const (
	sweepAnswersSQL = `
select key, sealed from {schema}.idempotency where key > $1 and sealed is not null order by key limit $2`
	sweptAnswerSQL    = `update {schema}.idempotency set sealed = $3 where key = $1 and sealed = $2`
	sweepCallbacksSQL = `
select id as key, sealed from {schema}.callbacks where id > $1 and done_at is not null order by id limit $2`
	sweptCallbackSQL   = `delete from {schema}.callbacks where id = $1 and sealed = $2`
	sweepStatementsSQL = `select id as key, sealed from {schema}.statements where id > $1 order by id limit $2`
	sweepOutcomesSQL   = `select id as key, sealed from {schema}.statement_outcomes where id > $1 order by id limit $2`
	sweptStatementSQL  = `delete from {schema}.statements where id = $1`
	sweptOutcomeSQL    = `delete from {schema}.statement_outcomes where id = $1`
	sweepCodesSQL      = `
select request as key, sealed from {schema}.codes where request > $1 order by request limit $2`
	sweptCodeSQL        = `delete from {schema}.codes where request = $1 and sealed = $2`
	sweepFilesSQL       = `select distinct file from {schema}.files where org_id = $1`
	sweepFileSQL        = `select key, sealed from {schema}.files where file = $1 and part = $2`
	forgetPlacesSQL     = `update {schema}.sessions set ip = '', browser = '' where user_id = $1`
	forgetChangesSQL    = `delete from {schema}.address_changes where user_id = $1`
	forgetWaitingSQL    = `delete from {schema}.waiting_sign_ins where user_id = $1`
	forgetPasswordsSQL  = `delete from {schema}.passwords where user_id = $1`
	compressedFileMagic = "PK\x03\x04"
)

// sealedRow is a row with one sealed value.
type sealedRow struct {
	Key    uuid.UUID
	Sealed []byte
}

// Sweep removes what the sealed rows of the vault have about a person: stored answers, callbacks that were handled,
// statements of the provider, one-time codes and files. A repeat removes what has come since. A value that cannot be
// opened stays as it is: nobody reads it.
func (v *Vault) Sweep(ctx context.Context, of Traces) error {
	c := v.core
	plain, err := json.Marshal(of.Answer)
	if err != nil {
		return fmt.Errorf("erase from vault: %w", err)
	}
	err = errors.Join(
		c.sweep(ctx, sweepAnswersSQL, func(r sealedRow) (string, []any) {
			var a Answer
			place := idempotencyPlace(r.Key)
			if !c.opens(r, place, &a) || !of.Names(a.Body) {
				return "", nil
			}
			return sweptAnswerSQL, []any{r.Key, r.Sealed, c.ring.Seal(secrets.Sealing, plain, place)}
		}),
		c.sweep(ctx, sweepCallbacksSQL, func(r sealedRow) (string, []any) {
			var told sealedCallback
			if !c.opens(r, callbackPlace(r.Key), &told) || !of.Names(told.Body) {
				return "", nil
			}
			return sweptCallbackSQL, []any{r.Key, r.Sealed}
		}),
		c.sweepStatements(ctx, of, "file", sweepStatementsSQL, sweptStatementSQL),
		c.sweepStatements(ctx, of, "outcome", sweepOutcomesSQL, sweptOutcomeSQL),
		c.sweep(ctx, sweepCodesSQL, func(r sealedRow) (string, []any) {
			text, err := c.ring.Open(secrets.Sealing, r.Sealed, []byte(codePlaceWord+r.Key.String()))
			if err != nil || !of.Names(text) {
				return "", nil
			}
			return sweptCodeSQL, []any{r.Key, r.Sealed}
		}),
		c.sweepFiles(ctx, of),
	)
	if err != nil {
		return fmt.Errorf("erase from vault: %w", err)
	}
	return nil
}

// sweep gives each row of a table to found, and executes the statement that it returns, if any.
func (c *core) sweep(ctx context.Context, sql string, found func(sealedRow) (string, []any)) error {
	after := uuid.Nil
	for {
		rows, _ := c.db.Owner.Query(ctx, c.sql(sql), after, sweepPage)
		list, err := pgx.CollectRows(rows, pgx.RowToStructByName[sealedRow])
		if err != nil || len(list) == 0 {
			return err
		}
		batch := &pgx.Batch{}
		for _, r := range list {
			if change, args := found(r); change != "" {
				batch.Queue(c.sql(change), args...)
			}
		}
		if batch.Len() > 0 {
			if err := c.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
				return err
			}
		}
		after = list[len(list)-1].Key
	}
}

// opens opens a sealed JSON value.
func (c *core) opens(r sealedRow, place []byte, into any) bool {
	plain, err := c.ring.Open(secrets.Sealing, r.Sealed, place)
	return err == nil && json.Unmarshal(plain, into) == nil
}

// sweepStatements removes statements, or their outcomes, that name the person.
func (c *core) sweepStatements(ctx context.Context, of Traces, what, sql, swept string) error {
	return c.sweep(ctx, sql, func(r sealedRow) (string, []any) {
		packed, err := c.ring.Open(secrets.Sealing, r.Sealed, statementPlace(what, id.Reconciliation(r.Key)))
		if err != nil {
			return "", nil
		}
		if plain, err := unpack(packed); err != nil || !of.Names(plain) {
			return "", nil
		}
		return swept, []any{r.Key}
	})
}

// fileOverlap is how much of a part is looked at again together with the next one: a text can be cut in two.
const fileOverlap = 256

// sweepFiles removes the files of the organization that name the person, and those that are compressed.
func (c *core) sweepFiles(ctx context.Context, of Traces) error {
	if of.OrgID.IsZero() {
		return nil
	}
	rows, _ := c.db.Owner.Query(ctx, c.sql(sweepFilesSQL), of.OrgID)
	files, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, file := range files {
		named, err := c.fileNames(ctx, of, file)
		if err == nil && named {
			_, err = c.db.Owner.Exec(ctx, c.sql(deleteFileSQL), file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fileNames reports whether a file names the person. One part at a time is in memory.
func (c *core) fileNames(ctx context.Context, of Traces, file uuid.UUID) (bool, error) {
	var tail []byte
	for part := 0; ; part++ {
		var r sealedRow
		err := c.db.Owner.QueryRow(ctx, c.sql(sweepFileSQL), file, part).Scan(&r.Key, &r.Sealed)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return false, nil
		case err != nil:
			return false, err
		}
		plain, err := c.ring.Open(secrets.Sealing, r.Sealed, filePlace(id.Any(r.Key)))
		if err != nil {
			return false, nil //nolint:nilerr // as Sweep says
		}
		if part == 0 && bytes.HasPrefix(plain, []byte(compressedFileMagic)) {
			return true, nil
		}
		text := append(tail, plain...)
		if of.Names(text) {
			return true, nil
		}
		tail = bytes.Clone(text[max(0, len(text)-fileOverlap):])
	}
}

// ForgetUser removes what is kept of a user who is forgotten. Of the sessions only the place goes: their end may not be
// recorded yet, and the rows go a day after it.
func (v *Vault) ForgetUser(ctx context.Context, user id.User) error {
	batch := &pgx.Batch{}
	for _, sql := range []string{forgetPlacesSQL, forgetChangesSQL, forgetWaitingSQL, forgetPasswordsSQL} {
		batch.Queue(v.core.sql(sql), user)
	}
	if err := v.core.db.Owner.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("forget user %s: %w", user, err)
	}
	return nil
}
