package mobilemoney

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

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
}

// LogValue leaves out the other party.
func (l StatementLine) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("row", l.Row), slog.String("receipt_number", l.ReceiptNumber))
}

// String leaves out the other party, so that fmt cannot print it.
func (l StatementLine) String() string { return fmt.Sprintf("row %d of a statement", l.Row) }

// LineKind says what a movement is.
type LineKind string

// The kinds. Only a payment is money of a customer; a line that failed moved nothing.
const (
	LinePayment    LineKind = "payment"
	LineWithdrawal LineKind = "withdrawal"
	LineCharge     LineKind = "charge"
	LineReversal   LineKind = "reversal"
	LineFailed     LineKind = "failed"
)

// statementColumns are the columns by their titles in small letters without anything else. Those that are needed must
// be there; the others are used when they are.
var statementColumns = map[string]bool{
	"receiptno": true, "completiontime": true, "paidin": true, "withdrawn": true,
	"details": false, "otherpartyinfo": false, "acno": false, "transactionstatus": false,
}

// statementFaults bounds how many faults of a file are told.
const statementFaults = 20

// ReadStatement reads a statement as the provider's portal gives it out: CSV in any usual encoding and with any usual
// separator, with lines of text above the table. It fails with failure.Invalid, which names rows and columns, and
// reads nothing in part: a half statement would show money as missing.
func ReadStatement(file []byte) (Statement, error) {
	t, err := readTable(file, statementColumns)
	if err != nil {
		return Statement{}, err
	}
	s := Statement{ShortCode: shortcodeAbove(t.above)}
	var faults failure.Faults
	for _, row := range t.rows {
		line, empty := readLine(row, &faults)
		if len(faults) > statementFaults {
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
	if err := faults.Err(); err != nil {
		return Statement{}, err
	}
	if len(s.Lines) == 0 {
		return Statement{}, failure.NewInvalid("invalid_input", "file has no rows below its header")
	}
	return s, nil
}

// shortcodeAbove finds the shortcode in the lines above the table.
func shortcodeAbove(above [][]string) string {
	for _, cells := range above {
		for i, cell := range cells {
			title := titleKey(cell)
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

// readLine reads one row, and adds what is wrong with it. An empty row, and a sum below the table, are no movement.
func readLine(row tableRow, faults *failure.Faults) (l StatementLine, empty bool) {
	name := func(field string) string { return fmt.Sprintf("row %d %s", row.number, field) }
	number, at := row.cell("receiptno"), row.cell("completiontime")
	if number == "" && at == "" {
		return l, true
	}
	l = StatementLine{
		Row: row.number, ReceiptNumber: strings.ToUpper(number), Details: row.cell("details"),
		Party: party(text(row.cell("otherpartyinfo"))), AccountRef: row.cell("acno"),
	}
	faults.Check(printable(l.ReceiptNumber, maxIdentifier), name("Receipt No."), "is not a receipt number")
	var err error
	if l.CompletedAt, err = statementTime(at); err != nil {
		faults.Add(name("Completion Time"), "must be like 2026-03-02 14:05:33 or 02-03-2026 14:05:33")
	}
	if l.PaidIn, err = statementAmount(row.cell("paidin")); err != nil {
		faults.Add(name("Paid In"), "is not an amount")
	}
	if l.Withdrawn, err = statementAmount(row.cell("withdrawn")); err != nil {
		faults.Add(name("Withdrawn"), "is not an amount")
	}
	l.Kind = kindOf(l, row.cell("transactionstatus"))
	if l.Kind != LineFailed {
		faults.Check(l.PaidIn.IsZero() != l.Withdrawn.IsZero(), name("Paid In"),
			"and Withdrawn: one of them must have an amount")
	}
	return l, false
}

// kindOf tells movements apart by their side and by the words with which the provider begins their details. What the
// payer typed, and the payer's name, say nothing.
func kindOf(l StatementLine, status string) LineKind {
	said := providersWords(l.Details)
	switch {
	case status != "" && !strings.EqualFold(status, "completed"):
		return LineFailed
	case reversalBeginning.MatchString(said):
		return LineReversal
	case !l.PaidIn.IsZero():
		return LinePayment
	case chargeEnd.MatchString(said):
		return LineCharge
	}
	return LineWithdrawal
}

// How the provider's words begin or end for two kinds of movements. Source: docs/facts/mobile-money.md#statement.
var (
	reversalBeginning = regexp.MustCompile(`(?i)^(pay utility )?reversal\b`)
	chargeEnd         = regexp.MustCompile(`(?i)\b(charges?|fees?)$`)
	numberShape       = regexp.MustCompile(`\b[A-Z0-9]{10}\b`)
	lettersBehind     = regexp.MustCompile(`^REVERSAL OF ([A-Z]{10})\b`)
	partyOrAccount    = regexp.MustCompile(`(?i)(^|\s)((to|from|by) +[0-9]|- |acc\. ?)`)
)

// providersWords gives details without the other party and what the payer typed, which stand behind the provider's
// own words.
func providersWords(details string) string {
	if at := partyOrAccount.FindStringIndex(details); at != nil {
		details = details[:at[0]]
	}
	return strings.TrimSpace(details)
}

// Reverses gives the number of the payment that this movement sends back; "" for any other movement, and when the
// provider names none. Only money that leaves sends a payment back. Other words can be as long as a number, so one
// without a digit is a number only right behind "Reversal of", and only when no word with both follows: a phone number
// has no letter.
func (l StatementLine) Reverses() string {
	if l.Kind != LineReversal || l.Withdrawn.IsZero() {
		return ""
	}
	said := strings.ToUpper(providersWords(l.Details))
	for _, word := range numberShape.FindAllString(said, -1) {
		if strings.ContainsAny(word, decimals) && strings.Trim(word, decimals) != "" {
			return word
		}
	}
	if named := lettersBehind.FindStringSubmatch(said); named != nil {
		return named[1]
	}
	return ""
}

// decimals are the digits of a receipt number.
const decimals = "0123456789"

// statementLayouts are the forms of a completion time, in East Africa Time.
var statementLayouts = []string{
	"2006-01-02 15:04:05", "02-01-2006 15:04:05", "02/01/2006 15:04:05", "2006-01-02 15:04", "02-01-2006 15:04",
	"02/01/2006 15:04", "2006-01-02T15:04:05",
}

// statementTime reads a completion time.
func statementTime(s string) (time.Time, error) {
	for _, layout := range statementLayouts {
		at, err := time.ParseInLocation(layout, s, eastAfrica)
		if err == nil && at.Year() >= firstYear && at.Year() <= lastYear {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("time cannot be read")
}

// statementAmount reads an amount with or without separators of thousands and a sign, which only tells the side; "" and
// "-" are zero. A comma before exactly two last digits is a decimal comma.
func statementAmount(s string) (money.Amount, error) {
	s = strings.NewReplacer(" ", "", "\u00a0", "", "KES", "", "Ksh", "").Replace(s)
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return money.Of(0, money.KES), nil
	}
	if comma := strings.LastIndexByte(s, ','); comma >= 0 && len(s)-comma == 3 && !strings.Contains(s[comma:], ".") {
		s = strings.ReplaceAll(s[:comma], ".", "") + "." + s[comma+1:]
	}
	plain, err := plainNumber(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return money.Amount{}, err
	}
	return money.Parse(plain, money.KES)
}
