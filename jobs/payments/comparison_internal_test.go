package paymentsjobs

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// statementForm reads a statement that the tests of the gateway have.
func statementForm(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("../../gateways/mobilemoney/testdata/statements/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// compared compares a file with the receipts that are here, of the given amounts in shillings.
func compared(
	t *testing.T, file []byte, here map[string]int64,
) (paymentsviews.StatementOutcome, comparison) {
	t.Helper()
	s, err := mobilemoney.ReadStatement(file, column.AnyOrder)
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	c := newComparison(s)
	for number, shillings := range here {
		c.here[number] = paymentsviews.TillReceipt{
			ID: id.Derive[id.Receipt]("test", number), Number: number, AmountMinor: shillings * 100,
			Currency: money.KES,
		}
	}
	out, figures := c.outcome(nil)
	c.figures = figures
	return out, c
}

// missing lists the numbers of what would be taken in, in their order.
func missing(out paymentsviews.StatementOutcome) string {
	var numbers []string
	for _, p := range out.MissingHere {
		numbers = append(numbers, p.ReceiptNumber)
	}
	slices.Sort(numbers)
	return strings.Join(numbers, " ")
}

// reasons lists what a person has to look at, as number:why, in their order.
func reasons(out paymentsviews.StatementOutcome) string {
	var list []string
	for _, a := range out.Attention {
		list = append(list, a.ReceiptNumber+":"+a.Why)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// writtenTitles has ways to write the title of a column.
var writtenTitles = map[string][]string{
	"Paid In":   {"Paid In", "PAID IN (KSHs)", "Paid In [KES]", "paid_in"},
	"Withdrawn": {"Withdrawn", "Withdrawn (KSHs)", "WITHDRAWN\u00a0(Ksh)"},
	"A/C No.":   {"A/C No.", "Account Number", "ACCOUNT NO."},
}

// mixed writes the older form with its columns and rows in another order and with other titles.
func mixed(t *testing.T, random *rand.Rand) []byte {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(statementForm(t, "older.csv")))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const header = 5
	table := records[header:]
	for i, title := range table[0] {
		if ways := writtenTitles[title]; ways != nil {
			table[0][i] = ways[random.IntN(len(ways))]
		}
	}
	order := random.Perm(len(table[0]))
	rows := table[1:]
	random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, record := range table {
		out := make([]string, len(record))
		for to, from := range order {
			out[to] = record[from]
		}
		if err := w.Write(out); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return b.Bytes()
}

// TestComparison_OnlyPaymentsOfCustomersAreMissingHere: loans, transfers between own accounts, reversals, salaries,
// charges and what a bank pays surround three payments, however the columns are ordered and titled.
func TestComparison_OnlyPaymentsOfCustomersAreMissingHere(t *testing.T) {
	t.Parallel()
	const seed = 20261130
	random := rand.New(rand.NewPCG(seed, 3))
	files := map[string][]byte{"older": statementForm(t, "older.csv"), "newer": statementForm(t, "newer.csv")}
	for n := range 50 {
		files[fmt.Sprintf("older, mixed %d of seed %d", n, seed)] = mixed(t, random)
	}
	for name, file := range files {
		out, c := compared(t, file, nil)
		want, asked := "TESTA00001 TESTA00002 TESTA00003", "TESTA00009:business TESTA00010:unknown"
		if name == "newer" {
			want, asked = "TESTN00001 TESTN00002 TESTN00003", "TESTN00005:business TESTN00006:business"
		}
		if missing(out) != want || reasons(out) != asked {
			t.Errorf("%s: taken in: %s; for attention: %s", name, missing(out), reasons(out))
		}
		if sum := c.figures.MissingHereAmount; sum != money.Major(3650, money.KES) || c.figures.MissingHere != 3 ||
			c.figures.Attention != 2 {
			t.Errorf("%s: %d of %s, attention %d", name, c.figures.MissingHere, sum, c.figures.Attention)
		}
	}
}

// TestComparison_SumsOfKindsAreTheRows of the statement, each row once.
func TestComparison_SumsOfKindsAreTheRows(t *testing.T) {
	t.Parallel()
	_, c := compared(t, statementForm(t, "older.csv"), nil)
	var got []string
	for _, k := range c.figures.Kinds {
		got = append(got, fmt.Sprint(k.Kind, " ", k.Rows, " ", k.In.Decimal(), " ", k.Out.Decimal()))
	}
	want := []string{
		"payment 3 2450.00 0.00", "prompt 1 1900.00 0.00", "business 1 2000.00 0.00", "own_transfer 1 0.00 50000.00",
		"loan 1 50000.00 0.00", "charge 1 0.00 8.50", "reversal 1 0.00 700.00", "payout 1 0.00 1000.00",
		"failed 1 100.00 0.00", "unknown 1 300.00 0.00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// linkedHeader is that of statements whose reversals link the payment.
const linkedHeader = "Receipt No.,Completion Time,Details,Paid In,Withdrawn,Other Party Info,Linked Transaction ID\n"

// Two payments of the same amount, which the reversals of reversalCases may send back.
const (
	paidA, paidB = "TESTR0000A", "TESTR0000B"
	twoPayments  = paidA + ",2026-03-16 09:01:00,Pay Bill,500,,254700000111 - A,\n" +
		paidB + ",2026-03-16 09:02:00,Pay Bill,500,,254700000222 - B,\n"
)

// statedRow writes a row of the day; cells are details, paid in, withdrawn, party and linked transaction.
func statedRow(number, minute string, cells ...string) string {
	return number + ",2026-03-16 09:" + minute + ":00," + strings.Join(cells, ",") + "\n"
}

// reversalCase is a statement with the two payments and further rows.
type reversalCase struct {
	rows, missing, reasons string
	here                   map[string]int64
	different              string // why, of a receipt that is here
}

// reversalCases are by what is special about them.
var reversalCases = map[string]reversalCase{
	"no reversal":   {"", paidA + " " + paidB, "", nil, ""},
	"by the column": {statedRow("TESTR00001", "10", "Pay Utility Reversal", "", "-500", "", paidA), paidB, "", nil, ""},
	"by prose":      {statedRow("TESTR00001", "10", "Reversal of "+paidA, "", "-500", "", ""), paidB, "", nil, ""},
	"by both":       {statedRow("TESTR00001", "10", "Reversal of "+paidA, "", "-500", "", paidA), paidB, "", nil, ""},
	"of a receipt": {
		statedRow("TESTR00001", "10", "Pay Utility Reversal", "", "-500", "", paidA), paidB,
		"", map[string]int64{paidA: 500}, "reversed",
	},
	"of an older one": {
		statedRow("TESTR00001", "10", "Pay Utility Reversal", "", "-70", "", "TESTR0000C"), paidA + " " + paidB,
		"", map[string]int64{"TESTR0000C": 70}, "reversed",
	},
	"they contradict": {
		statedRow("TESTR00001", "10", "Reversal of "+paidA, "", "-500", "", paidB), "",
		"TESTR00001:contradicted TESTR0000A:maybe_back TESTR0000B:maybe_back", nil, "",
	},
	"of a part": {
		statedRow("TESTR00001", "10", "Reversal of "+paidA, "", "-200", "", paidA), paidB,
		"TESTR00001:part TESTR0000A:maybe_back", nil, "",
	},
	"of a part before": {
		statedRow("TESTR00001", "10", "Reversal", "", "-20", "", "TESTR0000C"), paidA + " " + paidB,
		"TESTR00001:part", map[string]int64{"TESTR0000C": 70}, "",
	},
	"nothing is named": {
		statedRow("TESTR00001", "10", "Pay Utility Reversal", "", "-500", "", ""), paidA + " " + paidB,
		"TESTR00001:unnamed", nil, "",
	},
	"only the payer is named": {
		statedRow("TESTR00001", "10", "Pay Utility Reversal", "", "-500", "254700000111 - A", ""), paidB,
		"TESTR00001:unnamed TESTR0000A:maybe_back", nil, "",
	},
	"the payer before the payment": {
		statedRow("TESTR00001", "00", "Pay Utility Reversal", "", "-500", "254700000111 - A", ""), paidA + " " + paidB,
		"TESTR00001:unnamed", nil, "",
	},
	"money that comes sends nothing back": {
		statedRow("TESTR00001", "10", "Reversal of "+paidA, "500", "", "", ""), paidA + " " + paidB, "", nil, "",
	},
	"the reversal was taken back": {
		statedRow("TESTR00001", "10", "Reversal of "+paidA, "", "-500", "", "") +
			statedRow("TESTR00002", "11", "Reversal of TESTR00001", "500", "", "", ""), paidB,
		"TESTR00002:undone TESTR0000A:maybe_back", nil, "",
	},
	"it left under its number": {
		statedRow(paidA, "10", "Refund", "", "-500", "", ""), paidB,
		"TESTR0000A:moved_back TESTR0000A:unknown", nil, "",
	},
	"it is there twice": {
		statedRow(paidA, "10", "Pay Bill", "700", "", "", ""), paidB,
		"TESTR0000A:two_amounts", nil, "",
	},
	"an unknown one links it": {
		statedRow("TESTR00001", "10", "Sent", "", "-500", "", paidA), paidB,
		"TESTR00001:unknown TESTR0000A:maybe_back", nil, "",
	},
	"a loan that is a receipt": {
		statedRow("TESTR00001", "10", "Loan Disbursement", "500", "", "", ""), paidA + " " + paidB,
		"TESTR00001:no_payment", map[string]int64{"TESTR00001": 500}, "",
	},
}

// TestComparison_AReversalTakesBackWhatColumnAndProseNameAlike: what is sent back is never taken in, and where they
// contradict each other, name nothing or another amount, a person looks at all that may be meant.
func TestComparison_AReversalTakesBackWhatColumnAndProseNameAlike(t *testing.T) {
	t.Parallel()
	for name, c := range reversalCases {
		out, _ := compared(t, []byte(linkedHeader+c.rows+twoPayments), c.here)
		different := ""
		for _, d := range out.Different {
			different += d.Why
		}
		if missing(out) != c.missing || reasons(out) != c.reasons || different != c.different {
			t.Errorf("%s: taken in: %q; for attention: %q; different: %q", name, missing(out), reasons(out), different)
		}
	}
}

// TestComparison_WhatAPaymentLinksIsItsReversal, when the file has one with this number.
func TestComparison_WhatAPaymentLinksIsItsReversal(t *testing.T) {
	t.Parallel()
	out, _ := compared(t, []byte(linkedHeader+
		"TESTR0000A,2026-03-16 09:01:00,Pay Bill,500,,254700000111 - A,TESTR00001\n"+
		"TESTR0000B,2026-03-16 09:02:00,Pay Bill,500,,254700000222 - B,TESTR00009\n"+
		"TESTR00001,2026-03-16 09:10:00,Pay Utility Reversal,,-500,,\n"), nil)
	if missing(out) != "TESTR0000B" || len(out.Attention) > 0 || !slices.Equal(out.SentBack, []string{"TESTR0000A"}) {
		t.Errorf("taken in %q, attention %q, sent back %v", missing(out), reasons(out), out.SentBack)
	}
}

// TestComparison_WhatABusinessPaidAgreesWithItsReceipt, which a callback has made.
func TestComparison_WhatABusinessPaidAgreesWithItsReceipt(t *testing.T) {
	t.Parallel()
	out, c := compared(t, statementForm(t, "newer.csv"), map[string]int64{"TESTN00005": 2150, "TESTN00006": 2300})
	if c.figures.Matched != 1 || len(out.Attention) != 0 || len(out.Different) != 1 ||
		out.Different[0].Here.Minor != 2300_00 {
		t.Errorf("matched %d, attention %q, different %+v", c.figures.Matched, reasons(out), out.Different)
	}
}

// TestComparison_KindsAreThoseOfTheStatement: what is kept and described has the gateway's names.
func TestComparison_KindsAreThoseOfTheStatement(t *testing.T) {
	t.Parallel()
	for _, kind := range []mobilemoney.LineKind{
		mobilemoney.LinePayment, mobilemoney.LinePrompt, mobilemoney.LineBusiness, mobilemoney.LineOwnTransfer,
		mobilemoney.LineLoan, mobilemoney.LineCharge, mobilemoney.LineReversal, mobilemoney.LineWithdrawal,
		mobilemoney.LinePayout, mobilemoney.LineFailed, mobilemoney.LineUnknown,
	} {
		if !slices.Contains(paymentsviews.StatementKinds, string(kind)) {
			t.Errorf("%s is not described", kind)
		}
	}
}

// TestComparison_AFileOfReversalsIsReadInTime: each of them may be about each payment.
func TestComparison_AFileOfReversalsIsReadInTime(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(linkedHeader)
	for i := range 60_000 {
		fmt.Fprintf(&b, "TESTA%05d,2026-03-16 09:01:00,Pay Bill,5,,254700000111 - A,TESTR00001\n", i)
		fmt.Fprintf(&b, "TESTR00001,2026-03-16 09:02:00,Reversal,,5,254700000111 - A,\n")
		fmt.Fprintf(&b, "TESTS%05d,2026-03-16 09:02:00,Reversal,,5,254700000111 - A,\n", i)
	}
	out, _ := compared(t, []byte(b.String()), nil)
	if len(out.MissingHere) != 0 || len(out.Doubtful) != 60_000 {
		t.Errorf("%d taken in, %d doubtful", len(out.MissingHere), len(out.Doubtful))
	}
}
