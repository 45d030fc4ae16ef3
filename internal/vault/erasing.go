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

// Traces find the rows about a person, whom nothing but their sealed text names. Rows of another organization are never
// looked at (docs/rules/subscribers.md#traces).
type Traces struct {
	OrgID id.Organization // who forgets the person
	// Own reports whether a text of that organization names the person.
	Own func(text []byte) bool
	// Shared reports the same of a row that is no organization's. It is given the shortcode for which the row was
	// received or uploaded, "" when that is not known.
	Shared func(text []byte, shortcode string) bool
	// Addresses are those whose codes go at the organization's host, SharedAddresses those whose codes go at the root
	// host.
	Addresses, SharedAddresses map[string]bool
	// Files has the organization's files looked through. Those that are compressed go without a look: each is a copy of
	// all that it has.
	Files bool
	// Answer stands in the place of stored answers that name the person: the row has to stay, since it keeps a repeated
	// request from acting twice.
	Answer Answer
}

// How many rows of a table are in memory at once. A statement has up to some megabytes.
const (
	sweepPage     = 20
	statementPage = 1
)

// SQL of sweeping. Each page begins after the last key of the one before.
const (
	sweepAnswersSQL = `
select key, org_id, '' as shortcode, sealed from {schema}.idempotency
where key > $1 and sealed is not null and (org_id = $2 or org_id is null) order by key limit $3`
	sweptAnswerSQL    = `update {schema}.idempotency set sealed = $3 where key = $1 and sealed = $2`
	sweepCallbacksSQL = `
select id as key, org_id, shortcode, sealed from {schema}.callbacks
where id > $1 and done_at is not null and (org_id = $2 or org_id is null) order by id limit $3`
	sweptCallbackSQL   = `delete from {schema}.callbacks where id = $1 and sealed = $2`
	sweepStatementsSQL = `
select id as key, org_id, shortcode, sealed from {schema}.statements
where id > $1 and (org_id = $2 or org_id is null) order by id limit $3`
	sweepOutcomesSQL = `
select id as key, org_id, shortcode, sealed from {schema}.statement_outcomes
where id > $1 and (org_id = $2 or org_id is null) order by id limit $3`
	sweptStatementSQL = `delete from {schema}.statements where id = $1 and sealed = $2`
	sweptOutcomeSQL   = `delete from {schema}.statement_outcomes where id = $1 and sealed = $2`
	sweepCodesSQL     = `
select request as key, org_id, '' as shortcode, sealed from {schema}.codes
where request > $1 and (org_id = $2 or org_id is null) order by request limit $3`
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
	Key       uuid.UUID       `db:"key"`
	OrgID     id.Organization `db:"org_id"` // zero = no organization's
	Shortcode string          `db:"shortcode"`
	Sealed    []byte          `db:"sealed"`
}

// names reports whether the opened text of a row names the person.
func (t Traces) names(r sealedRow, text []byte) bool {
	if r.OrgID.IsZero() {
		return t.Shared(text, r.Shortcode)
	}
	return t.Own(text)
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
		c.sweep(ctx, of, pages{sweepAnswersSQL, sweepPage}, func(r sealedRow) (string, []any) {
			var a Answer
			place := idempotencyPlace(r.Key)
			if !c.opens(r, place, &a) || !of.names(r, a.Body) {
				return "", nil
			}
			return sweptAnswerSQL, []any{r.Key, r.Sealed, c.ring.Seal(secrets.Sealing, plain, place)}
		}),
		c.sweep(ctx, of, pages{sweepCallbacksSQL, sweepPage}, func(r sealedRow) (string, []any) {
			var told sealedCallback
			if !c.opens(r, callbackPlace(r.Key), &told) || !of.names(r, told.Body) {
				return "", nil
			}
			return sweptCallbackSQL, []any{r.Key, r.Sealed}
		}),
		c.sweepStatements(ctx, of, "file", sweepStatementsSQL, sweptStatementSQL),
		c.sweepStatements(ctx, of, "outcome", sweepOutcomesSQL, sweptOutcomeSQL),
		c.sweep(ctx, of, pages{sweepCodesSQL, sweepPage}, func(r sealedRow) (string, []any) {
			gone := of.Addresses
			if r.OrgID.IsZero() {
				gone = of.SharedAddresses
			}
			address, err := c.ring.Open(secrets.Sealing, r.Sealed, []byte(codePlaceWord+r.Key.String()))
			if err != nil || !gone[string(address)] {
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

// pages read a table in steps of so many rows.
type pages struct {
	sql  string
	rows int
}

// sweep gives each row of a table that is the organization's, or no organization's, to found, and executes the
// statement that it returns, if any. Rows that were written meanwhile are looked at again.
func (c *core) sweep(ctx context.Context, of Traces, by pages, found func(sealedRow) (string, []any)) error {
	after := uuid.Nil
	for {
		rows, _ := c.db.Owner.Query(ctx, c.sql(by.sql), after, of.OrgID, by.rows)
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
		all, err := c.changesAll(ctx, batch)
		if err != nil {
			return err
		}
		if all {
			after = list[len(list)-1].Key
		}
	}
}

// changesAll executes statements, and reports whether each has changed something.
func (c *core) changesAll(ctx context.Context, batch *pgx.Batch) (all bool, err error) {
	if batch.Len() == 0 {
		return true, nil
	}
	done, all := c.db.Owner.SendBatch(ctx, batch), true
	for range batch.Len() {
		tag, err := done.Exec()
		if err != nil {
			return false, errors.Join(err, done.Close())
		}
		all = all && tag.RowsAffected() > 0
	}
	return all, done.Close()
}

// opens opens a sealed JSON value.
func (c *core) opens(r sealedRow, place []byte, into any) bool {
	plain, err := c.ring.Open(secrets.Sealing, r.Sealed, place)
	return err == nil && json.Unmarshal(plain, into) == nil
}

// sweepStatements removes statements, or their outcomes, that name the person.
func (c *core) sweepStatements(ctx context.Context, of Traces, what, sql, swept string) error {
	return c.sweep(ctx, of, pages{sql, statementPage}, func(r sealedRow) (string, []any) {
		packed, err := c.ring.Open(secrets.Sealing, r.Sealed, statementPlace(what, id.Reconciliation(r.Key)))
		if err != nil {
			return "", nil
		}
		if plain, err := unpack(packed); err != nil || !of.names(r, plain) {
			return "", nil
		}
		return swept, []any{r.Key, r.Sealed}
	})
}

// sweepFiles removes the files of the organization that name the person, and those that are compressed.
func (c *core) sweepFiles(ctx context.Context, of Traces) error {
	if !of.Files {
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

// Of the text of a part, what is looked at again together with the next one: its last line, which the part can have cut
// in two, and of a line without an end so many octets.
const (
	longestLine = 64 << 10
	lineOverlap = 256
)

// fileNames reports whether a file names the person. One part at a time is in memory.
func (c *core) fileNames(ctx context.Context, of Traces, file uuid.UUID) (bool, error) {
	var rest []byte
	for part := 0; ; part++ {
		var key uuid.UUID
		var sealed []byte
		err := c.db.Owner.QueryRow(ctx, c.sql(sweepFileSQL), file, part).Scan(&key, &sealed)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return of.Own(rest), nil
		case err != nil:
			return false, err
		}
		plain, err := c.ring.Open(secrets.Sealing, sealed, filePlace(id.Any(key)))
		if err != nil {
			return false, nil //nolint:nilerr // as Sweep says
		}
		if part == 0 && bytes.HasPrefix(plain, []byte(compressedFileMagic)) {
			return true, nil
		}
		text := append(rest, plain...)
		whole := bytes.LastIndexByte(text, '\n') + 1
		kept := whole
		if len(text)-whole > longestLine {
			whole, kept = len(text), len(text)-lineOverlap
		}
		if of.Own(text[:whole]) {
			return true, nil
		}
		rest = bytes.Clone(text[kept:])
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
