package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/events"
)

// Projection is one read model: a pure translation of events into statements on its own tables.
type Projection interface {
	// Name is lower-case words with underscores: "billing_invoices". Durable: it keys checkpoint and schema.
	Name() string
	// Version is raised when tables or Apply change: new tables, replay, switch.
	Version() int
	// Handles lists the event types wanted, nil = every event.
	Handles() []string
	// DDL creates the tables and indexes, names written as {schema}.table.
	DDL() string
	// TenantTables lists the tables with an org_id column: the runner puts them under row-level security. Tables not
	// listed are readable by the platform role only.
	TenantTables() []string
	// Apply queues the statements for one event. It makes idempotent upserts, needs only the event and its own tables.
	// An error stops this projection alone, visibly.
	Apply(w *Writes, e events.Envelope) error
}

// Writes queues the statements of a batch of events; the runner sends them in one transaction with the checkpoint.
type Writes struct {
	schema string
	batch  *pgx.Batch
	known  statements // kept by the generation
	err    error      // the first statement that could not be queued: fails the event
}

// Exec queues a statement. {schema} in it stands for the schema being filled. The text is a constant, since each one is
// parsed once and kept. Its arguments are values for $1, $2, ..., or one pgx.NamedArgs with exactly the names that the
// text has as @name: a name too few or too many fails the event.
func (w *Writes) Exec(sql string, args ...any) {
	text, args, err := w.known.ready(sql, w.schema, args)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	for i, arg := range args {
		args[i] = plain(arg)
	}
	w.batch.Queue(text, args...)
}

// plain turns an id into a form that pgx encodes directly; as a driver.Valuer it would take the way over text, which is
// most of a rebuild's own time. A NUL, which no database text can hold, is replaced: one in a recorded fact must not
// stop the read model.
func plain(arg any) any {
	switch text := arg.(type) {
	case string:
		return withoutNUL(text)
	case *string:
		if text == nil || strings.IndexByte(*text, 0) < 0 {
			return arg
		}
		return withoutNUL(*text)
	case []string:
		return withoutNULs(text)
	case []byte:
		return withoutEscapedNUL(text)
	}
	v, ok := arg.(interface {
		UUID() uuid.UUID
		IsZero() bool
	})
	switch {
	case !ok:
		return arg
	case v.IsZero():
		return nil
	}
	return idValue(v.UUID())
}

// withoutNUL is a text with U+FFFD in place of NUL.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// withoutNULs is withoutNUL of each, the list itself when there is nothing to replace.
func withoutNULs(list []string) []string {
	if !slices.ContainsFunc(list, func(text string) bool { return strings.IndexByte(text, 0) >= 0 }) {
		return list
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = withoutNUL(text)
	}
	return out
}

// escapedNUL is how JSON writes a NUL: valid in a document, and refused by a column of type jsonb.
var escapedNUL = []byte(`\u0000`)

// withoutEscapedNUL is a JSON document with U+FFFD in place of NUL; other bytes are left alone.
func withoutEscapedNUL(b []byte) []byte {
	if !bytes.Contains(b, escapedNUL) || !json.Valid(b) {
		return b
	}
	return bytes.ReplaceAll(b, escapedNUL, []byte(`\ufffd`))
}

// idValue is an id for a column of type uuid or text.
type idValue [16]byte

// UUIDValue serves columns of type uuid.
func (v idValue) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: v, Valid: true}, nil }

// TextValue serves columns of type text.
func (v idValue) TextValue() (pgtype.Text, error) {
	return pgtype.Text{String: uuid.UUID(v).String(), Valid: true}, nil
}

// schemaMark stands in statements for the schema of a projection's tables.
const schemaMark = "{schema}"
