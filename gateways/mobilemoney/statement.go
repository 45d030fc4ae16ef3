package mobilemoney

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// Statement is the provider's own list of what moved on a shortcode. Source: docs/facts/mobile-money.md#statement.
type Statement struct {
	ShortCode string // from the lines above the table; "" when they do not name one
	Lines     []StatementLine
	// First and Last are the earliest and the latest time in it, UTC.
	First, Last time.Time
}

// StatementLine is one movement. Exactly one of PaidIn and Withdrawn is above zero.
type StatementLine struct {
	Row           int // of the file, from 1
	ReceiptNumber string
	CompletedAt   time.Time // UTC
	Kind          LineKind
	PaidIn        money.Amount
	Withdrawn     money.Amount
	Details       string
	Party         Party  // the other side
	AccountRef    string // typed by the payer
	Linked        string // the number of another transaction, by a column of its own; "" = none
}

// LogValue leaves out the other party.
func (l StatementLine) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("row", l.Row), slog.String("receipt_number", l.ReceiptNumber))
}

// String leaves out the other party, so that fmt cannot print it.
func (l StatementLine) String() string { return fmt.Sprintf("row %d of a statement", l.Row) }

// statementColumns are the columns by their titles (column.Title), with the name that this package has for each. The
// portal has more than one form of export.
var statementColumns = map[string]string{
	"receiptno": colReceipt, "receiptnumber": colReceipt, "completiontime": colCompleted, "paidin": colPaidIn,
	"withdrawn": colWithdrawn, "details": colDetails, "otherpartyinfo": colParty, "otherparty": colParty,
	"acno": colAccount, "acnumber": colAccount, "accountno": colAccount, "accountnumber": colAccount,
	"transactionstatus": colStatus, "status": colStatus, "linkedtransactionid": colLinked, "reasontype": colReason,
	"transactiontype": colReason, "currency": colCurrency,
}

// The columns. Those of neededColumns must be there; the others are used when they are.
const (
	colReceipt   = "Receipt No."
	colCompleted = "Completion Time"
	colPaidIn    = "Paid In"
	colWithdrawn = "Withdrawn"
	colDetails   = "Details"
	colParty     = "Other Party Info"
	colAccount   = "A/C No."
	colStatus    = "Transaction Status"
	colLinked    = "Linked Transaction ID"
	colReason    = "Reason Type"
	colCurrency  = "Currency"
)

// neededColumns are in every statement.
var neededColumns = []string{colReceipt, colCompleted, colPaidIn, colWithdrawn}

// statementFaults bounds how many faults of a file are told.
const statementFaults = 20

// ReadStatement reads a statement as the provider's portal gives it out: CSV in any usual encoding and with any usual
// separator, with lines of text above the table or without. order is the order of day and month that the sender of the
// file chose. It fails with failure.Invalid, which names rows and columns, and reads nothing in part: a half statement
// would show money as missing. Fails: invalid_input, date_order_needed.
func ReadStatement(file []byte, order column.DateOrder) (Statement, error) {
	t, err := readTable(file, statementColumns, neededColumns)
	if err != nil {
		return Statement{}, err
	}
	read := lineReader{dates: column.NewDates(eastAfrica, order), amounts: column.NewAmounts(money.KES)}
	for _, row := range t.rows {
		read.dates.Add(row.number, row.cell(colCompleted))
		read.amounts.Add(row.cell(colPaidIn))
		read.amounts.Add(row.cell(colWithdrawn))
	}
	if err := dateOrderNeeded(read.dates.Decide()); err != nil {
		return Statement{}, err
	}
	s := Statement{ShortCode: shortcodeAbove(t.above)}
	for _, row := range t.rows {
		line, empty := read.line(row)
		if len(read.faults) > statementFaults {
			break
		}
		if empty {
			continue
		}
		s.Lines = append(s.Lines, line)
		if s.First.IsZero() || line.CompletedAt.Before(s.First) {
			s.First = line.CompletedAt
		}
		if line.CompletedAt.After(s.Last) {
			s.Last = line.CompletedAt
		}
	}
	if err := read.faults.Err(); err != nil {
		return Statement{}, err
	}
	if len(s.Lines) == 0 {
		return Statement{}, failure.NewInvalid("invalid_input", "file has no rows below its header")
	}
	return s, nil
}

// dateOrderNeeded makes the failure of a file whose dates cannot be read in one order. Only where no row decides can
// the sender choose.
func dateOrderNeeded(err error) error {
	trouble := new(column.OrderError)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &trouble) && trouble.Why == column.Undecided:
		return failure.New(failure.Invalid, "date_order_needed",
			"The dates of this file can be read with the day or with the month first. Choose which one it is.").
			With("row", trouble.Row).With("date", trouble.Date)
	}
	return failure.NewInvalid("invalid_input", "dateOrder "+err.Error())
}

// shortcodeAbove finds the shortcode in the lines above the table.
func shortcodeAbove(above [][]string) string {
	for _, cells := range above {
		for i, cell := range cells {
			title := column.Title(cell)
			if title != "shortcode" && title != "organizationshortcode" {
				continue
			}
			for _, value := range cells[i+1:] {
				if digits := strings.TrimSpace(value); digits != "" {
					return digits
				}
			}
		}
	}
	return ""
}

// lineReader reads rows, and collects what is wrong with them.
type lineReader struct {
	dates   *column.Dates
	amounts *column.Amounts
	faults  failure.Faults
}

// line reads one row. An empty row, and a sum below the table, are no movement.
func (r *lineReader) line(row tableRow) (l StatementLine, empty bool) {
	name := func(field string) string { return fmt.Sprintf("row %d %s", row.number, field) }
	number, at := row.cell(colReceipt), row.cell(colCompleted)
	if number == "" && at == "" {
		return l, true
	}
	l = StatementLine{
		Row: row.number, ReceiptNumber: strings.ToUpper(number), Details: row.cell(colDetails),
		Party: party(text(row.cell(colParty))), AccountRef: row.cell(colAccount),
	}
	l.Linked = linkedNumber(row.cell(colLinked), l.ReceiptNumber)
	from, account := fromProse(l.Details)
	if l.Party == (Party{}) {
		l.Party = from
	}
	if l.AccountRef == "" {
		l.AccountRef = account
	}
	r.faults.Check(printable(l.ReceiptNumber, maxIdentifier), name(colReceipt), "is not a receipt number")
	completed, err := r.dates.Read(at)
	switch {
	case err != nil:
		r.faults.Add(name(colCompleted), err.Error())
	case !completed.Timed || completed.Day.Year < firstYear || completed.Day.Year > lastYear:
		r.faults.Add(name(colCompleted), "must be like 2026-03-02 14:05:33 or 02-03-2026 14:05:33")
	}
	l.CompletedAt = completed.At
	l.PaidIn, l.Withdrawn = r.amount(row, colPaidIn), r.amount(row, colWithdrawn)
	r.faults.Check(!l.PaidIn.Negative(), name(colPaidIn), "must not be negative")
	if l.Withdrawn.Negative() { // the sign only repeats the side
		l.Withdrawn = l.Withdrawn.Neg()
	}
	if currency := row.cell(colCurrency); currency != "" {
		r.faults.Check(strings.EqualFold(currency, string(money.KES)), name(colCurrency), "must be KES")
	}
	l.Kind = kindOf(l, row.cell(colStatus), row.cell(colReason))
	if l.Kind != LineFailed {
		r.faults.Check(l.PaidIn.IsZero() != l.Withdrawn.IsZero(), name(colPaidIn),
			"and Withdrawn: one of them must have an amount")
	}
	return l, false
}

// amount reads one of the two amounts of a row.
func (r *lineReader) amount(row tableRow, col string) money.Amount {
	amount, err := r.amounts.Read(row.cell(col))
	if err != nil {
		r.faults.Add(fmt.Sprintf("row %d %s", row.number, col), err.Error())
	}
	return amount
}
