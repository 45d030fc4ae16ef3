package subscriberscases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/usecases"
)

// CheckedImport tells what a file would do.
type CheckedImport struct {
	Columns []ImportColumn
	// LooksLike is the source whose columns the header has, one of commands.ImportSources or OwnColumns; "" = those of
	// the chosen one, or of none.
	LooksLike string
	Rows      int // without the header and empty ones; = Valid + Skipped + Failed
	Valid     int
	Skipped   int                  // the customer is here already
	Failed    int                  // rows with at least one fault
	Faults    []events.ImportFault // the first ones, by row
	Told      int                  // of all faults, also those that are left out
	// Effects are the sums of what the valid rows make; zero while the header is not understood.
	Effects ImportEffects
	// Questions have to be answered before the import can be started.
	Questions []ImportQuestion
	// Waits says that the import would wait for a second person now.
	Waits bool

	layout importLayout // has the file's names of columns; zero while the header is not understood
}

// add notes the faults of a row, each in the form of failure.Faults, with the file's own names of columns.
func (c *CheckedImport) add(row int, cells []string, faults failure.Faults) {
	for _, text := range faults {
		c.Told++
		if len(c.Faults) < commands.MaxImportFaults {
			fault := faultOf(row, text)
			fault.Column = c.layout.header(cells, fault.Field)
			c.Faults = append(c.Faults, fault)
		}
	}
}

// faultOf is a fault of failure.Faults as one of a row.
func faultOf(row int, text string) events.ImportFault {
	field, message, _ := strings.Cut(text, " ")
	return events.ImportFault{Row: row, Field: field, Message: message}
}

// check reads a file row by row and gives those that can be taken in to take, in blocks of ImportPartRows. of is the
// import, which may have begun before and made customers; null = it is none yet, and questions may be open. A header
// that cannot be read leaves nothing to take. Fails: import_questions_open, for an import.
func (u Imports) check(
	ctx context.Context, org id.Organization, in ImportInput, of id.Import, take func(rows []importRow) error,
) (CheckedImport, error) {
	var out CheckedImport
	table, err := sheet.OpenIn(in.Body, in.Answers.Encoding)
	if err != nil {
		out.add(1, nil, failure.Faults{" " + whyUnreadable(err)})
		return out, nil
	}
	layout, faults := layoutFor(table.Header, in.Source, in.Answers.Columns)
	out.Columns = layout.columns
	if in.Proposal.IsZero() {
		out.LooksLike = meantSource(table.Header, in.Source)
	}
	if out.LooksLike != "" {
		faults = append(failure.Faults{meantFault(out.LooksLike)}, faults...)
	}
	if len(faults) > 0 {
		out.add(1, nil, faults)
		return out, nil
	}
	out.layout = layout
	reader, err := u.reader(ctx, org, layout)
	if err == nil && !in.Proposal.IsZero() {
		reader.passwords, err = u.passwords(ctx, org, in.Proposal)
	}
	if err == nil {
		err = out.survey(ctx, in, table, &reader)
	}
	switch {
	case err != nil:
		return out, err
	case !of.IsZero() && len(out.Questions) > 0:
		return out, errQuestions()
	}
	b := blockTaker{
		out: &out, reader: reader, seen: map[string]int{}, take: take, here: u.hereAlready(org, of, in.Body, reader),
		keys: u.rowKeys(org),
	}
	err = b.all(ctx, table)
	out.Effects.sorted()
	return out, err
}

// survey goes through the file once, and notes what it shows of the columns, here and in the reader of the rows.
func (c *CheckedImport) survey(ctx context.Context, in ImportInput, table *sheet.Reader, reader *rowReader) error {
	found, err := surveyed(ctx, in, reader.layout, reader.zone)
	if err != nil {
		return err
	}
	for i, n := range found.values {
		c.Columns[i].Values = n
	}
	c.Questions = questionsOf(in, table.Header, reader.layout, found, table.Guessed)
	row, faults := orderFault(found.dates)
	c.add(row, nil, faults)
	c.Effects.Owed, c.Effects.Credit = money.Of(0, reader.currency), money.Of(0, reader.currency)
	reader.dates, reader.logins, reader.source = found.dates, found.logins, in.Source
	reader.encoding = in.Answers.Encoding
	return nil
}

// whyUnreadable says what is wrong with a table or a row, as a fault.
func whyUnreadable(err error) string {
	switch {
	case errors.Is(err, sheet.ErrEmpty):
		return "has no header"
	case errors.Is(err, sheet.ErrQuotes):
		return "has a quote that is not closed, or that stands inside a cell"
	case errors.Is(err, sheet.ErrTooWide):
		return "has too many cells, or one that is too long"
	}
	return "is no text that can be read; a spreadsheet has to be saved as CSV first"
}

// blockTaker checks rows by themselves, against each other, and against what the organization has.
type blockTaker struct {
	out    *CheckedImport
	reader rowReader
	seen   map[string]int // the row that has a value that only one may have
	take   func(rows []importRow) error
	here   *hereAlready
	keys   rowKeys
	block  []importRow
	cells  [][]string // of the rows in block
}

// all goes through the table.
func (b *blockTaker) all(ctx context.Context, table *sheet.Reader) error {
	for {
		if ctx.Err() != nil {
			return fmt.Errorf("check the rows of a file: %w", context.Cause(ctx))
		}
		cells, row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return b.flush(ctx)
		}
		if err == nil && b.reader.attached(cells, row) {
			b.out.Effects.Attached++
			continue
		}
		b.out.Rows++
		if b.out.Rows > commands.MaxImportRows {
			var long failure.Faults
			long.Add("file", "has more than %d rows", commands.MaxImportRows)
			return long.Err()
		}
		if err != nil {
			b.refuse(row, nil, failure.Faults{" " + whyUnreadable(err)})
			continue
		}
		read, faults, err := b.reader.known(cells, row, b.keys)
		if err != nil {
			return err
		}
		if len(faults) == 0 {
			faults = b.twice(read)
		}
		if len(faults) > 0 {
			b.refuse(row, cells, faults)
			continue
		}
		b.block, b.cells = append(b.block, read), append(b.cells, cells)
		if len(b.block) == commands.ImportPartRows {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// refuse counts a row with faults.
func (b *blockTaker) refuse(row int, cells []string, faults failure.Faults) {
	b.out.Failed++
	b.out.add(row, cells, faults)
}

// twice finds values that an earlier row of the file has. Rows with other faults take no values: they are not taken in,
// and can have any number.
func (b *blockTaker) twice(row importRow) failure.Faults {
	var faults failure.Faults
	for _, v := range uniqueOf(row) {
		if first, known := b.seen[v.key()]; known {
			faults.Add(v.field, "is also in row %d", first)
			continue
		}
		b.seen[v.key()] = row.Row
	}
	return faults
}

// mostCredit is where the sum of credits ends to grow: more than any limit.
const mostCredit = math.MaxInt64 / 2

// flush compares the rows of a block with what is there already, and gives the others away.
func (b *blockTaker) flush(ctx context.Context) error {
	if len(b.block) == 0 {
		return nil
	}
	list, err := b.here.find(ctx, b.block)
	if err != nil {
		return err
	}
	var valid []importRow
	for i, row := range b.block {
		switch {
		case len(list[i].faults) > 0:
			b.refuse(row.Row, b.cells[i], list[i].faults)
		case list[i].here:
			b.out.Skipped++
		default:
			row.Completes = list[i].completes
			valid = append(valid, row)
			b.out.Effects.add(row, b.reader.plans, b.reader.now)
		}
	}
	b.out.Valid += len(valid)
	b.block, b.cells = b.block[:0], b.cells[:0]
	if len(valid) == 0 {
		return nil
	}
	return b.take(valid)
}

// passwords gives those of a proposal by their usernames; "" where the router has none. Fails: proposal_not_found.
func (u Imports) passwords(
	ctx context.Context, org id.Organization, of id.Proposal,
) (map[string]string, error) {
	list := map[string]string{}
	err := proposed(ctx, u.Files, org, of, func(c proposedCustomer) { list[c.Username] = c.Password })
	return list, err
}

// reader gathers what rows are read with.
func (u Imports) reader(ctx context.Context, org id.Organization, layout importLayout) (rowReader, error) {
	settings, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return rowReader{}, err
	}
	zone, err := usecases.Zone(settings)
	if err != nil {
		return rowReader{}, err
	}
	plans, err := u.Plans(ctx, org)
	if err != nil {
		return rowReader{}, err
	}
	return rowReader{
		layout: layout, currency: settings.Currency, zone: zone, now: u.Clock.Now(), plans: soldOf(plans),
	}, nil
}
