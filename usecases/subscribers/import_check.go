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
	// Credit is the sum that customers of valid rows had paid ahead.
	Credit money.Amount
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
// import, which may have begun before and made customers; null = it is none yet. A header that cannot be read leaves
// nothing to take.
func (u Imports) check(
	ctx context.Context, org id.Organization, in ImportInput, of id.Import, take func(rows []importRow) error,
) (CheckedImport, error) {
	var out CheckedImport
	table, err := sheet.Open(in.Body)
	if err != nil {
		out.add(1, nil, failure.Faults{" " + whyUnreadable(err)})
		return out, nil
	}
	layout, faults := layoutOf(table.Header, in.Source)
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
	if err != nil {
		return out, err
	}
	b := blockTaker{
		out: &out, reader: reader, seen: map[string]int{}, take: take, here: u.hereAlready(org, of, in.Body, reader),
		keys: u.rowKeys(org),
	}
	out.Credit = money.Of(0, reader.currency)
	err = b.all(ctx, table)
	return out, err
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
			if row.Balance < 0 {
				b.out.Credit.Minor += min(-max(row.Balance, -mostCredit), mostCredit-b.out.Credit.Minor)
			}
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
