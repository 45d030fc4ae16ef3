package vault

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// StatementsKept is how long uploaded statements are kept. They name payers, like the callbacks in the inbox.
const StatementsKept = InboxKept

// Statements keeps the provider's statements that people upload, and how each differs from the receipts. Both are
// sealed. Safe for concurrent use.
type Statements struct{ core *core }

// SQL of statements.
const (
	putStatementSQL = `
insert into {schema}.statements (id, org_id, shortcode, sealed, stored_at) values ($1, $2, $3, $4, $5)
on conflict (id) do update set sealed = excluded.sealed, stored_at = excluded.stored_at`
	getStatementSQL = `select sealed from {schema}.statements where id = $1`
	putOutcomeSQL   = `
insert into {schema}.statement_outcomes (id, org_id, shortcode, sealed, stored_at)
select id, $2, $3, $4, stored_at from {schema}.statements where id = $1 for key share
on conflict (id) do update set sealed = excluded.sealed, stored_at = excluded.stored_at`
	getOutcomeSQL      = `select sealed from {schema}.statement_outcomes where id = $1`
	purgeStatementsSQL = `
with old as (delete from {schema}.statements where stored_at <= $1)
delete from {schema}.statement_outcomes where stored_at <= $1`
)

// StatementOf says whose a statement is, and of which shortcode.
type StatementOf struct {
	ID        id.Reconciliation
	OrgID     id.Organization // zero = the platform's
	Shortcode string
}

// Put keeps a statement. One under the same id is kept once, from the last time on.
func (s *Statements) Put(ctx context.Context, of StatementOf, file []byte) error {
	packed, err := pack(file)
	if err != nil {
		return fmt.Errorf("store statement: %w", err)
	}
	sealed := s.core.ring.Seal(secrets.Sealing, packed, statementPlace("file", of.ID))
	_, err = s.core.db.Owner.Exec(ctx, s.core.sql(putStatementSQL), of.ID, of.OrgID, of.Shortcode, sealed, s.core.now())
	if err != nil {
		return fmt.Errorf("store statement: %w", err)
	}
	return nil
}

// Get gives a statement as it was uploaded; nil when it is not kept any more.
func (s *Statements) Get(ctx context.Context, of id.Reconciliation) ([]byte, error) {
	return s.open(ctx, getStatementSQL, "file", of)
}

// PutOutcome keeps how a statement differs from the receipts, instead of what was kept of it before. Nothing is kept
// when the statement is not kept any more: a person whom it names may have been forgotten meanwhile.
func (s *Statements) PutOutcome(ctx context.Context, of StatementOf, outcome []byte) error {
	packed, err := pack(outcome)
	if err != nil {
		return fmt.Errorf("store outcome of a statement: %w", err)
	}
	sealed := s.core.ring.Seal(secrets.Sealing, packed, statementPlace("outcome", of.ID))
	_, err = s.core.db.Owner.Exec(ctx, s.core.sql(putOutcomeSQL), of.ID, of.OrgID, of.Shortcode, sealed)
	if err != nil {
		return fmt.Errorf("store outcome of a statement: %w", err)
	}
	return nil
}

// Outcome gives how a statement differs from the receipts; nil when it was not compared, or is not kept any more.
func (s *Statements) Outcome(ctx context.Context, of id.Reconciliation) ([]byte, error) {
	return s.open(ctx, getOutcomeSQL, "outcome", of)
}

// open reads and opens one sealed value.
func (s *Statements) open(ctx context.Context, sql, what string, of id.Reconciliation) ([]byte, error) {
	var sealed []byte
	err := s.core.db.Owner.QueryRow(ctx, s.core.sql(sql), of.UUID()).Scan(&sealed)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("load statement: %w", err)
	}
	plain, err := s.core.ring.Open(secrets.Sealing, sealed, statementPlace(what, of))
	if err != nil {
		return nil, fmt.Errorf("open statement: %w", err)
	}
	return unpack(plain)
}

// pack makes a file small: statements repeat themselves.
func pack(file []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(file); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// unpack gives a file that pack has made small. What was sealed is our own, so its size is known to be bounded.
func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("open statement: %w", err)
	}
	return io.ReadAll(r)
}

// Purge removes the statements that were kept long enough.
func (s *Statements) Purge(ctx context.Context) error {
	_, err := s.core.db.Owner.Exec(ctx, s.core.sql(purgeStatementsSQL), s.core.now().Add(-StatementsKept))
	if err != nil {
		return fmt.Errorf("remove old statements: %w", err)
	}
	return nil
}

// statementPlace is the associated data of a sealed value: what it is, and the id of its reconciliation.
func statementPlace(what string, of id.Reconciliation) []byte {
	return []byte("statements " + what + " " + of.String())
}
