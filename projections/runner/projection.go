package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
)

// Projection is one read model: a pure translation of events into statements on its own tables.
type Projection interface {
	// Name is made of lower-case words with underscores: "billing_invoices". It keys checkpoint and schema: never
	// rename it.
	Name() string
	// Version counts from 1. Raise it when tables or Apply change: the runner then fills new tables and switches to
	// them.
	Version() int
	// Handles lists the event types that Apply gets; nil means every event.
	Handles() []string
	// DDL creates the tables and indexes, with names written as {schema}.table.
	DDL() string
	// TenantTables lists the tables with an org_id column: the runner puts them under row-level security. Only the
	// platform role can read the other tables.
	TenantTables() []string
	// Apply queues the statements for one event. It makes idempotent upserts and uses only the event and its own
	// tables. An error stops this projection alone, visibly.
	Apply(w *Writes, e events.Envelope) error
}

// Writes queues the statements of a batch of events. The runner sends them in one transaction with the checkpoint. One
// goroutine uses it at a time.
type Writes struct {
	schema string
	queue  []queued
	known  statements          // parsed statements, shared by all batches of a generation
	err    error               // the first statement that could not be queued; the event then counts as refused
	once   map[string]struct{} // keys of the statements of Once; nil = none
}

// first queues a statement of the engine.
func (w *Writes) first(sql string, args ...any) {
	w.queue = append(w.queue, queued{text: sql, args: args})
}

// Exec queues a statement; {schema} in it stands for the schema being filled. The text must be a constant, because each
// text is parsed once and kept. The arguments are values for $1, $2, ..., or one pgx.NamedArgs with exactly the names
// that stand in the text as @name: a missing or a superfluous name fails the event. Many rows of a plain insert are
// sent as one statement (docs/rules/engine.md#merged-inserts).
func (w *Writes) Exec(sql string, args ...any) {
	q, err := w.known.ready(sql, w.schema, args)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	for i, arg := range q.args {
		q.args[i] = plain(arg)
	}
	w.queue = append(w.queue, q)
}

// Once is Exec for a statement that changes nothing when it was executed before in the same transaction. One with a key
// that was queued before is left out, until Anew.
func (w *Writes) Once(key, sql string, args ...any) {
	if _, queued := w.once[key]; queued {
		return
	}
	if w.once == nil {
		w.once = map[string]struct{}{}
	}
	w.once[key] = struct{}{}
	w.Exec(sql, args...)
}

// Anew says that what the statements of Once read has changed: they are queued again.
func (w *Writes) Anew() { w.once = nil }

// plain replaces NUL, which PostgreSQL cannot store in a text, so that a recorded NUL does not stop the read model.
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
	return arg
}

// withoutNUL replaces each NUL by U+FFFD, the replacement character.
func withoutNUL(text string) string { return strings.ReplaceAll(text, "\x00", "\uFFFD") }

// withoutNULs replaces NUL in each text. It returns the same list when no text has one, and never changes the list.
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

// escapedNUL is the JSON escape of NUL: valid in a document, but refused by a column of type jsonb.
var escapedNUL = []byte(`\u0000`)

// withoutEscapedNUL replaces escaped NULs in a JSON document by U+FFFD. Bytes that are not valid JSON stay as they are.
func withoutEscapedNUL(b []byte) []byte {
	if !bytes.Contains(b, escapedNUL) || !json.Valid(b) {
		return b
	}
	return bytes.ReplaceAll(b, escapedNUL, []byte(`\ufffd`))
}

// schemaMark stands in statements for the schema of the tables, which a rebuild changes.
const schemaMark = "{schema}"
