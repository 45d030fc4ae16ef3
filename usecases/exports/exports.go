// Package exportscases makes the copy of all that an organization has, as tables for spreadsheets in one zip file.
package exportscases

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"fmt"
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
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Exports makes copies. Every field is required. Safe for concurrent use.
type Exports struct {
	Bus     *bus.Bus
	Views   *runner.Views
	Files   *vault.Files
	Limiter vault.Limiter
	Clock   clock.Clock
}

// Copy is a copy as the log has it.
type Copy = subscribers.Export

// exportsPerDay bounds the copies of one organization: each reads all of its rows.
const exportsPerDay = 10

// Ask asks for a copy. Under the same key a repeat gets the copy of the first try. Fails: rate_limited.
func (u Exports) Ask(ctx context.Context, asked usecases.Asked) (id.Export, error) {
	ok, wait, err := u.Limiter.Allow(ctx, "export:"+asked.Org().String(), exportsPerDay, 24*time.Hour)
	if err != nil {
		return id.Export{}, err
	}
	if !ok {
		wait = max(wait, time.Second)
		return id.Export{}, failure.NewLimited("rate_limited", "Too many requests. Please wait.", wait)
	}
	of := usecases.NewID[id.Export](asked, "export")
	_, err = u.Bus.Execute(ctx, commands.AskExport{ExportID: of, OrgID: asked.Org()}, asked.Meta)
	return of, err
}

// Get gives a copy as the log has it. Fails: export_not_found.
func (u Exports) Get(ctx context.Context, org id.Organization, of id.Export) (Copy, error) {
	state, _, err := bus.LoadOwned[subscribers.Export](ctx, u.Bus, org, of)
	return state, err
}

// Fetch records that the caller is given the copy, and tells how to read it. Fails: export_not_found, export_not_ready,
// export_failed, export_ended.
func (u Exports) Fetch(ctx context.Context, asked usecases.Asked, of id.Export) (Copy, error) {
	if _, err := u.Bus.Execute(ctx, commands.FetchExport{ExportID: of}, asked.Meta); err != nil {
		return Copy{}, err
	}
	return u.Get(ctx, asked.Org(), of)
}

// Part gives a part of a finished copy. Fails: file_gone.
func (u Exports) Part(ctx context.Context, org id.Organization, of id.Export, part int) ([]byte, error) {
	return u.Files.Get(ctx, org, id.File(of), part)
}

// Run makes a copy and records it; meta is that of the job's outcome. All tables are of one moment. Rows go through one
// by one, so that the size makes no difference to the memory. A copy that is finished changes nothing.
func (u Exports) Run(ctx context.Context, job commands.RunExport, meta commands.Meta) error {
	state, err := u.Get(ctx, job.OrgID, job.ExportID)
	if err != nil || state.Parts > 0 {
		return err
	}
	for _, t := range tables {
		if err := u.Views.WaitFor(ctx, t.projection, job.Position); err != nil {
			return err
		}
	}
	file := vault.File{ID: id.File(job.ExportID), OrgID: job.OrgID, Ends: u.Clock.Now().Add(commands.ExportKept)}
	out := &partWriter{put: func(part int, plain []byte) error { return u.Files.Put(ctx, file, part, plain) }}
	err = u.Views.Snapshot(ctx, job.OrgID, func(tx pgx.Tx) error {
		archive := zip.NewWriter(out)
		for _, t := range tables {
			if err := u.write(ctx, tx, archive, t); err != nil {
				return fmt.Errorf("export %s: %w", t.file, err)
			}
		}
		if err := u.writeSettings(ctx, archive, job.OrgID); err != nil {
			return fmt.Errorf("export settings: %w", err)
		}
		return archive.Close()
	})
	if err == nil {
		err = out.flush()
	}
	if err != nil {
		return err
	}
	_, err = u.Bus.Execute(ctx, commands.FinishExport{
		ExportID: job.ExportID, Parts: out.parts, Bytes: out.bytes, EndsAt: file.Ends,
	}, meta)
	return err
}

// Lose ends a copy that could not be made; meta is that of the job's outcome. Fails: export_not_found.
func (u Exports) Lose(ctx context.Context, job commands.RunExport, code string, meta commands.Meta) error {
	if _, err := u.Bus.Execute(ctx, commands.FailExport{ExportID: job.ExportID, Code: code}, meta); err != nil {
		return err
	}
	state, err := u.Get(ctx, job.OrgID, job.ExportID)
	if err != nil || !state.Failed {
		return err
	}
	return u.Files.Delete(ctx, id.File(job.ExportID))
}

// header begins a file of the archive.
func (u Exports) header(file string) *zip.FileHeader {
	return &zip.FileHeader{Name: file + ".csv", Method: zip.Deflate, Modified: u.Clock.Now().UTC()}
}

// write makes one file of the archive.
func (u Exports) write(ctx context.Context, tx pgx.Tx, archive *zip.Writer, t table) error {
	to, err := archive.CreateHeader(u.header(t.file))
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, u.Views.SQL(t.projection, t.sql), pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return err
	}
	defer rows.Close()
	w := csv.NewWriter(to)
	w.UseCRLF = true // RFC 4180
	columns := columnsOf(rows)
	if err := w.Write(columns.names); err != nil {
		return err
	}
	for rows.Next() {
		if err := w.Write(columns.cells(rows.RawValues())); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return rows.Err()
}

// columns say how the values of rows are written.
type columns struct {
	names    []string
	types    []uint32
	minor    []bool // in minor units of the currency
	currency int    // the column of the currency; -1 = none
	out      []string
}

// columnsOf reads the columns of a result. Names are written as the API writes them.
func columnsOf(rows pgx.Rows) *columns {
	c := &columns{currency: -1}
	for i, f := range rows.FieldDescriptions() {
		name, minor := strings.CutSuffix(f.Name, "_minor")
		if name == "currency" {
			c.currency = i
		}
		c.names = append(c.names, camel(name))
		c.types = append(c.types, f.DataTypeOID)
		c.minor = append(c.minor, minor)
	}
	c.out = make([]string, len(c.names))
	return c
}

// camel writes the name of a column as the API writes it.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		if words[i] != "" {
			words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
		}
	}
	return strings.Join(words, "")
}

// cells writes a row. The list is used again by the next one.
func (c *columns) cells(values [][]byte) []string {
	for i, raw := range values {
		text := string(raw) // "" for null
		switch {
		case text == "":
		case c.minor[i]:
			text = c.major(text, string(values[max(c.currency, 0)]))
		case c.types[i] == pgtype.TimestamptzOID:
			text = strings.TrimSuffix(strings.Replace(text, " ", "T", 1), "+00") + "Z"
		case c.types[i] == pgtype.BoolOID:
			text = map[string]string{"t": "true", "f": "false"}[text]
		default:
			text = sheet.Disarmed(text)
		}
		c.out[i] = text
	}
	return c.out
}

// major writes an amount in major units, or as it is when its currency is not known.
func (c *columns) major(minor, currency string) string {
	var n int64
	if _, err := fmt.Sscan(minor, &n); err != nil || c.currency < 0 || !money.Currency(currency).Known() {
		return minor
	}
	return string(money.Of(n, money.Currency(currency)).Number())
}
