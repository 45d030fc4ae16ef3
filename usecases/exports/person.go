package exportscases

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Persons writes what is kept of one person. Every field is required. Safe for concurrent use.
type Persons struct {
	Bus       *bus.Bus
	Views     *runner.Views
	Files     *vault.Files
	Limiter   vault.Limiter
	Telemetry string // the schema of sessions and use
	Clock     clock.Clock
}

// Bounds of the files of persons.
const (
	personsPerDay = 5                // of one customer, for staff and for the customer each
	personKept    = 10 * time.Minute // longer than any answer takes; a stop can leave one behind
)

// Taken has all of one customer that somebody takes along, after it was recorded that they do.
type Taken struct {
	cases    Persons
	org      id.Organization
	customer subscribers.Subscriber
	own      bool
}

// Open records that the caller is given what is kept of a customer; own = the caller is the customer, who gets nothing
// that the portal does not show. Fails: subscriber_not_found, also for one who is forgotten, rate_limited.
func (p Persons) Open(ctx context.Context, asked usecases.Asked, of id.Subscriber, own bool) (*Taken, error) {
	customer, _, err := bus.LoadOwned[subscribers.Subscriber](ctx, p.Bus, asked.Org(), of)
	if err != nil {
		return nil, err
	}
	who := "staff"
	if own {
		who = "own"
	}
	ok, wait, err := p.Limiter.Allow(ctx, "personal data: "+of.String()+" "+who, personsPerDay, 24*time.Hour)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	meta := asked.Step("took along what is kept of " + of.String())
	_, err = p.Bus.Execute(ctx, commands.ReadPersonalData{
		LookupID: id.Derive[id.Lookup]("personal data", meta.CommandID.String()), OrgID: asked.Org(), SubscriberID: of,
	}, meta)
	if err != nil {
		return nil, err
	}
	return &Taken{cases: p, org: asked.Org(), customer: customer, own: own}, nil
}

// PersonFile is a file of one person that is kept, sealed, until it is sent: no client, however slow, holds up what it
// was read from.
type PersonFile struct {
	Bytes int64

	files *vault.Files
	file  vault.File
	parts int
}

// Keep makes the file. Whoever gets it calls Drop in the end.
func (t *Taken) Keep(ctx context.Context) (*PersonFile, error) {
	of := &PersonFile{files: t.cases.Files, file: vault.File{
		ID: id.New[id.File](), OrgID: t.org, Ends: t.cases.Clock.Now().Add(personKept),
	}}
	out := &partWriter{put: func(part int, plain []byte) error { return of.files.Put(ctx, of.file, part, plain) }}
	err := t.write(ctx, out)
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return nil, errors.Join(err, of.Drop(ctx))
	}
	of.Bytes, of.parts = out.bytes, out.parts
	return of, nil
}

// Send gives the file to a writer, part by part. A failure of the writer ends it and is none: the client has gone.
// Fails: file_gone.
func (f *PersonFile) Send(ctx context.Context, to io.Writer) error {
	for part := range f.parts {
		plain, err := f.files.Get(ctx, f.file.OrgID, f.file.ID, part)
		if err != nil {
			return err
		}
		if _, err := to.Write(plain); err != nil {
			return nil //nolint:nilerr // as it says
		}
	}
	return nil
}

// Drop removes the file, also after the end of the request.
func (f *PersonFile) Drop(ctx context.Context) error {
	return f.files.Delete(context.WithoutCancel(ctx), f.file.ID)
}

// write writes one JSON object: each section is a list of rows. Rows go through one by one, so that the size makes no
// difference to the memory.
func (t *Taken) write(ctx context.Context, to io.Writer) error {
	w := bufio.NewWriter(to)
	head, err := json.Marshal(map[string]any{
		"subscriberId": t.customer.ID, "accountNumber": t.customer.AccountNumber,
		"writtenAt": t.cases.Clock.Now().UTC().Truncate(time.Second),
	})
	if err != nil {
		return err
	}
	_, _ = w.Write(head[:len(head)-1]) // errors stay, and come with Flush
	err = t.cases.Views.Snapshot(ctx, t.org, func(tx pgx.Tx) error {
		for _, s := range personTables {
			if s.staff && t.own {
				continue
			}
			if err := t.section(ctx, tx, w, s); err != nil {
				return fmt.Errorf("personal data, %s: %w", s.file, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, _ = w.WriteString("}\n")
	return w.Flush()
}

// section writes the rows of one table.
func (t *Taken) section(ctx context.Context, tx pgx.Tx, w *bufio.Writer, s personTable) error {
	sql := strings.ReplaceAll(s.sql, "{schema}", t.cases.Telemetry)
	if s.projection != "" {
		sql = t.cases.Views.SQL(s.projection, s.sql)
	}
	rows, err := tx.Query(ctx, sql, pgx.QueryResultFormats{pgx.TextFormatCode}, pgx.NamedArgs{
		"subscriber": t.customer.ID, "phone": t.customer.Details.Phone.Reveal(),
		"second": t.customer.Details.SecondPhone.Reveal(),
		"email":  t.customer.Details.Email.Reveal(), "own": t.own,
	})
	if err != nil {
		return err
	}
	defer rows.Close()
	columns := columnsOf(rows)
	_, _ = fmt.Fprintf(w, ",%q:[", s.file)
	for n := 0; rows.Next(); n++ {
		if n > 0 {
			_ = w.WriteByte(',')
		}
		if err := columns.object(w, rows.RawValues()); err != nil {
			return err
		}
	}
	_ = w.WriteByte(']')
	return rows.Err()
}

// object writes a row as a JSON object. What is null or empty is left out.
func (c *columns) object(w *bufio.Writer, values [][]byte) error {
	first := true
	for i, raw := range values {
		if len(raw) == 0 {
			continue
		}
		text := c.json(i, string(raw), values)
		if text == nil {
			continue
		}
		name, err := json.Marshal(c.names[i])
		if err != nil {
			return err
		}
		_ = w.WriteByte(map[bool]byte{true: '{', false: ','}[first])
		first = false
		_, _ = w.Write(name)
		_ = w.WriteByte(':')
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if first {
		_ = w.WriteByte('{')
	}
	return w.WriteByte('}')
}

// json is one value: numbers, truth values and JSON as they are, everything else as text.
func (c *columns) json(i int, text string, values [][]byte) []byte {
	switch c.types[i] {
	case pgtype.JSONBOID, pgtype.JSONOID, pgtype.Int4OID, pgtype.Float8OID:
		return []byte(text)
	case pgtype.Int8OID:
		if c.minor[i] && c.currency >= 0 {
			return []byte(c.major(text, string(values[c.currency])))
		}
		return []byte(text)
	case pgtype.BoolOID:
		return []byte(map[string]string{"t": "true", "f": "false"}[text])
	case pgtype.TimestamptzOID:
		text = strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "+00") + "Z"
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil // no text fails
	}
	return quoted
}
