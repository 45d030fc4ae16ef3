package subscriberscases

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// CheckedImport tells what a file would do.
type CheckedImport struct {
	Columns []ImportColumn
	Rows    int // without the header and empty ones
	Valid   int
	Failed  int                  // rows with at least one fault; Rows = Valid + Failed
	Faults  []events.ImportFault // the first ones, by row
	Told    int                  // of all faults, also those that are left out
}

// add notes the faults of a row; each has the form of failure.Faults.
func (c *CheckedImport) add(row int, faults failure.Faults) {
	for _, f := range faults {
		field, text, _ := strings.Cut(f, " ")
		c.Told++
		if len(c.Faults) < commands.MaxImportFaults {
			c.Faults = append(c.Faults, events.ImportFault{Row: row, Field: field, Message: text})
		}
	}
}

// check reads a file row by row and gives those without a fault to take, in blocks of ImportPartRows. A header that
// cannot be read leaves nothing to take.
func (u Imports) check(
	ctx context.Context, org id.Organization, in ImportInput, take func(rows []importRow) error,
) (CheckedImport, error) {
	var out CheckedImport
	table, err := sheet.Open(in.Body)
	if err != nil {
		out.add(1, failure.Faults{" " + whyUnreadable(err)})
		return out, nil
	}
	layout, faults := layoutOf(table.Header, in.Source)
	out.Columns = layout.columns
	if len(faults) > 0 {
		out.add(1, faults)
		return out, nil
	}
	reader, err := u.reader(ctx, org, layout)
	if err == nil && !in.Proposal.IsZero() {
		reader.passwords, err = u.passwords(ctx, org, in.Proposal)
	}
	if err != nil {
		return out, err
	}
	return out, u.checkRows(ctx, org, table, blockTaker{
		out: &out, reader: reader, seen: map[string]int{}, take: take,
		taken: func(ctx context.Context, rows []importRow) (map[string]subscribersviews.TakenRow, error) {
			return u.Taken(ctx, org, valuesOf(rows))
		},
	})
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
	return "is no text that can be read"
}

// blockTaker checks rows by themselves, against each other, and against what the organization has.
type blockTaker struct {
	out    *CheckedImport
	reader rowReader
	seen   map[string]int // the row that has a value that only one may have
	taken  func(ctx context.Context, rows []importRow) (map[string]subscribersviews.TakenRow, error)
	take   func(rows []importRow) error
	block  []importRow
}

// checkRows goes through the table.
func (u Imports) checkRows(ctx context.Context, _ id.Organization, table *sheet.Reader, b blockTaker) error {
	for {
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
			b.refuse(row, failure.Faults{" " + whyUnreadable(err)})
			continue
		}
		read, faults := b.reader.read(cells, row)
		if faults = append(faults, b.twice(read)...); len(faults) > 0 {
			b.refuse(row, faults)
			continue
		}
		if b.block = append(b.block, read); len(b.block) == commands.ImportPartRows {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// refuse counts a row with faults.
func (b *blockTaker) refuse(row int, faults failure.Faults) {
	b.out.Failed++
	b.out.add(row, faults)
}

// twice finds values that an earlier row of the file has.
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

// flush compares the rows of a block with what is there already, and gives the others away.
func (b *blockTaker) flush(ctx context.Context) error {
	if len(b.block) == 0 {
		return nil
	}
	taken, err := b.taken(ctx, b.block)
	if err != nil {
		return err
	}
	var valid []importRow
	for _, row := range b.block {
		if faults := takenFaults(row, taken, id.Subscriber{}); len(faults) > 0 {
			b.refuse(row.Row, faults)
			continue
		}
		valid = append(valid, row)
	}
	b.out.Valid += len(valid)
	b.block = b.block[:0]
	if len(valid) == 0 {
		return nil
	}
	return b.take(valid)
}

// unique is a value that only one customer of the organization may have.
type unique struct{ field, value string }

// key tells values of different columns apart.
func (v unique) key() string { return v.field + "=" + v.value }

// uniqueOf lists the values of a row that only one customer may have, each once and in the form in which they are kept.
func uniqueOf(row importRow) []unique {
	var list []unique
	if row.Username != "" {
		list = append(list, unique{colUsername, row.Username})
	}
	addresses := row.addresses()
	if ip := addresses.StaticIP.Reveal(); ip != "" {
		list = append(list, unique{colStaticIP, ip})
	}
	for _, mac := range personal.RevealAll(addresses.MACAddresses) {
		list = append(list, unique{colMACs, mac})
	}
	for _, alias := range personal.RevealAll(row.details().AccountAliases) {
		list = append(list, unique{colAliases, alias})
	}
	return list
}

// valuesOf asks for what somebody of the organization may have already.
func valuesOf(rows []importRow) subscribersviews.TakenValues {
	var v subscribersviews.TakenValues
	for _, row := range rows {
		for _, u := range uniqueOf(row) {
			switch u.field {
			case colUsername:
				v.Usernames = append(v.Usernames, u.value)
			case colStaticIP:
				v.StaticIPs = append(v.StaticIPs, u.value)
			case colMACs:
				v.MACs = append(v.MACs, u.value)
			case colAliases:
				v.Aliases = append(v.Aliases, u.value)
			}
		}
	}
	return v
}

// takenFaults lists the values of a row that another customer has; those of the row's own customer are none.
func takenFaults(
	row importRow, taken map[string]subscribersviews.TakenRow, own id.Subscriber,
) failure.Faults {
	var faults failure.Faults
	for _, v := range uniqueOf(row) {
		if owner, is := taken[v.key()]; is && owner.SubscriberID != own {
			faults.Add(v.field, "belongs to another customer already")
		}
	}
	return faults
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
	r := rowReader{
		layout: layout, currency: settings.Currency, zone: zone, now: u.Clock.Now(),
		plans: make(map[string]subscribersviews.PlanRow, len(plans)),
	}
	for _, p := range plans {
		if !p.Archived {
			r.plans[strings.ToLower(p.Code)] = p
		}
	}
	return r, nil
}
