package mobilemoney_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// statementFile is a statement as the portal gives it out.
const statementFile = `Account Holder:,ACME NETWORKS
Short Code:,600100
Time Period:,From 15-03-2026 To 16-03-2026

Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Other Party Info,A/C No.
SJK4X7Q2P1,15-03-2026 14:05:33,Pay Bill,Completed,"1,500.00",,"9,500.00",254712345678 - AMINA  ODHIAMBO,'=10000008
SJK4X7Q2P1,15-03-2026 14:05:33,Pay Bill Charge,Completed,,-8.50,9491.50,,
SJK4X7Q2P2,16-03-2026 08:00:00,Reversal of SJK4X7Q2P0,Completed,,-200.00,,254712345678 - AMINA,
SJK4X7Q2P3,16-03-2026 09:00:00,Business Payment to bank,Completed,,"-5,000.00",,,
SJK4X7Q2P4,16-03-2026 09:30:00,Pay Bill from 254700000000,Failed,700.00,,,,
,,,,,,,,,
`

func TestReadStatement_TellsMovementsApart(t *testing.T) {
	t.Parallel()
	s, err := mobilemoney.ReadStatement([]byte(statementFile), column.AnyOrder)
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, l := range s.Lines {
		kinds += string(l.Kind) + " "
	}
	if kinds != "payment charge reversal withdrawal failed " || s.ShortCode != "600100" {
		t.Errorf("%s of %s", kinds, s.ShortCode)
	}
	l := s.Lines[0]
	if l.PaidIn != money.Major(1500, money.KES) || l.Party.Name != "AMINA ODHIAMBO" || l.AccountRef != "=10000008" ||
		!l.CompletedAt.Equal(time.Date(2026, 3, 15, 11, 5, 33, 0, time.UTC)) || l.Row != 6 {
		t.Errorf("%+v of %+v", l.PaidIn, l.CompletedAt)
	}
	if !s.First.Equal(l.CompletedAt) || !s.Last.Equal(time.Date(2026, 3, 16, 6, 30, 0, 0, time.UTC)) {
		t.Errorf("from %s to %s", s.First, s.Last)
	}
}

func TestReadStatement_TakesEveryUsualEncodingAndSeparator(t *testing.T) {
	t.Parallel()
	plain := "Receipt No.;Completion Time;Details;Paid In;Withdrawn;Other Party Info;A/C No.\r\n" +
		"SJK4X7Q2P1;2026-03-02 14:05:33;Pay Bill;1.500,50;;254712345678 - RENÉ;1\r\n"
	units := utf16.Encode([]rune("\ufeff" + plain))
	little, big := make([]byte, 2*len(units)), make([]byte, 2*len(units))
	for i, u := range units {
		binary.LittleEndian.PutUint16(little[2*i:], u)
		binary.BigEndian.PutUint16(big[2*i:], u)
	}
	for name, file := range map[string][]byte{
		"utf-8": []byte(plain), "with a mark": []byte("\ufeff" + plain), "utf-16 little": little, "utf-16 big": big,
		"windows-1252": []byte(strings.ReplaceAll(plain, "É", "\xc9")),
		"tabs":         []byte(strings.ReplaceAll(plain, ";", "\t")),
		"bars":         []byte(strings.ReplaceAll(plain, ";", "|")),
	} {
		s, err := mobilemoney.ReadStatement(file, column.AnyOrder)
		if err != nil || len(s.Lines) != 1 || s.Lines[0].PaidIn.Minor != 150050 || s.Lines[0].Party.Name != "RENÉ" {
			t.Errorf("%s: %+v, %v", name, s.Lines, err)
		}
	}
}

func TestReadStatement_RefusesWhatIsNoStatement(t *testing.T) {
	t.Parallel()
	header := "Receipt No.,Completion Time,Paid In,Withdrawn\n"
	for name, file := range map[string]string{
		"empty": "", "no rows": header, "other columns": "Name,Phone\nAmina,1\n",
		"one endless line": strings.Repeat("x", 1<<20), "an endless cell": header + "\"" + strings.Repeat("y", 1<<20),
		"zeros": "PK\x03\x04\x00\x00", "a bad time": header + "SJK4X7Q2P1,yesterday,1,\n",
		"a bad amount": header + "SJK4X7Q2P1,2026-03-02 14:05:33,1.2.3,\n",
		"both sides":   header + "SJK4X7Q2P1,2026-03-02 14:05:33,1,1\n",
		"no side":      header + "SJK4X7Q2P1,2026-03-02 14:05:33,,\n",
		"no number":    header + ",2026-03-02 14:05:33,1,\n",
		"many rows":    header + strings.Repeat("\n", 200_001),
	} {
		if s, err := mobilemoney.ReadStatement([]byte(file), column.AnyOrder); failure.KindOf(err) != failure.Invalid {
			t.Errorf("%s: %d lines, %v", name, len(s.Lines), err)
		}
	}
}

// statementOf is a statement with all columns.
func statementOf(rows ...string) []byte {
	return []byte("Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Other Party Info," +
		"A/C No.\n" + strings.Join(rows, "\n") + "\n")
}

// A customer's payment whose details repeat what the customer typed, or the payer's name, is a payment all the same.
func TestReadStatement_WhatACustomerTypesMakesNoReversal(t *testing.T) {
	t.Parallel()
	for typed, payer := range map[string]string{
		"REVERSE 12": "AMINA", "10000008": "REVERSON OTIENO", "reversal SJK4X7Q2P9": "X", "charge": "COFFEE FEE",
		"Acc. Reversal of SJK4X7Q2P9": "Pay Utility Reversal - SJK4X7Q2P9",
	} {
		party := "254712345678 - " + payer
		for _, details := range []string{"Pay Bill from ", "Pay Bill Online from "} {
			s, err := mobilemoney.ReadStatement(statementOf("SJK4X7Q2P1,2026-03-02 14:05:33,"+details+party+
				" Acc. "+typed+",Completed,1500.00,,1,"+party+","+typed), column.AnyOrder)
			if err != nil {
				t.Fatal(typed, err)
			}
			if l := s.Lines[0]; !l.Kind.OfCustomer() || len(l.Names()) > 0 {
				t.Errorf("%q: the payment of %s is a %s of %q", typed, l.PaidIn, l.Kind, l.Names())
			}
		}
	}
}

// TestReadStatement_OnlyTheProvidersOwnWordsNameAReversedPayment.
func TestReadStatement_OnlyTheProvidersOwnWordsNameAReversedPayment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		details, in, out string
		kind             mobilemoney.LineKind
		reverses         string
	}{
		{"Reversal of SJK4X7Q2P1", "", "-10", mobilemoney.LineReversal, "SJK4X7Q2P1"},
		{"reversal of sjk4x7q2p1 and SJK4X7Q2P2", "", "10", mobilemoney.LineReversal, "SJK4X7Q2P1"},
		{"Reversal of SJKABCDEFG to 0712345678", "", "-10", mobilemoney.LineReversal, "SJKABCDEFG"},
		{"Reversal Adjustment of QGH12XYZ9A", "", "-10", mobilemoney.LineReversal, "QGH12XYZ9A"},
		{"Reversal of Settlement QGH12XYZ9A", "", "-10", mobilemoney.LineReversal, "QGH12XYZ9A"},
		{"Reversal Adjustment", "", "-10", mobilemoney.LineReversal, ""},
		{"Reversal of 0712345678", "", "-10", mobilemoney.LineReversal, ""},
		{"Pay Utility Reversal", "", "-10", mobilemoney.LineReversal, ""},
		{"Pay Utility Reversal to 254712345678 - X Acc. SJK4X7Q2P9", "", "-10", mobilemoney.LineReversal, ""},
		{"Reversal to 0712345678 - SJK4X7Q2P9", "", "-10", mobilemoney.LineReversal, ""},
		{"Business Payment to REVERSON COFFEE", "", "-10", mobilemoney.LinePayout, ""},
		{"Organization Settlement for SJK4X7Q2P1", "", "-10", mobilemoney.LineWithdrawal, ""},
		{"Pay Bill Charge", "", "-10", mobilemoney.LineCharge, ""},
		{"Pay merchant Charge to 600100 - ACME", "", "-10", mobilemoney.LineCharge, ""},
		{"Pay Bill", "10", "", mobilemoney.LinePayment, ""},
		{"", "10", "", mobilemoney.LineUnknown, ""},
	} {
		s, err := mobilemoney.ReadStatement(statementOf(
			"SJK4X7Q2P5,2026-03-02 14:05:33,"+c.details+",Completed,"+c.in+","+c.out+",1,,"), column.AnyOrder)
		if err != nil {
			t.Fatal(c.details, err)
		}
		if l := s.Lines[0]; l.Kind != c.kind || strings.Join(l.Names(), " ") != c.reverses {
			t.Errorf("%q: a %s of %q", c.details, l.Kind, l.Names())
		}
	}
}

// A quote that is not closed is wrong, and a file that is wrong anywhere is refused whole: otherwise the payment after
// it would be swallowed without a word.
func TestReadStatement_AQuoteThatIsNotClosedSwallowsNoPayment(t *testing.T) {
	t.Parallel()
	const next = `SJK4X7Q2P2,2026-03-02 14:06:33,Pay Bill,Completed,"1,500.00",,1,254712345678 - BRIAN,10000008`
	const begins = "SJK4X7Q2P5,2026-03-02 14:05:34,Pay Bill,Completed,10.00,,1,254712345678 - AMINA,"
	for name, rows := range map[string][]string{
		"inside a cell":       {begins + `"HOUSE 4" x`, next},
		"a bare one":          {begins + `HOUSE "4"`, next},
		"not closed":          {begins + `"HOUSE 4`, next, next},
		"not closed at last":  {next, begins + `"HOUSE 4`},
		"closed by the next":  {begins + `"HOUSE 4`, strings.ReplaceAll(begins, "P5", "P3") + `"`},
		"closed far below it": {begins + `"HOUSE 4`, begins + "1", begins + "2", begins + `"`},
	} {
		s, err := mobilemoney.ReadStatement(statementOf(rows...), column.AnyOrder)
		if failure.KindOf(err) != failure.Invalid || !strings.Contains(err.Error(), "row ") {
			t.Errorf("%s: %d payments of %d, %v", name, len(s.Lines), len(rows), err)
		}
	}
}

// TestReadStatement_ACommaTooManyMovesNoAmount: with it a payment would be read as money that left.
func TestReadStatement_ACommaTooManyMovesNoAmount(t *testing.T) {
	t.Parallel()
	const header = "Receipt No.,Completion Time,Details,Paid In,Withdrawn,A/C No.\n"
	s, err := mobilemoney.ReadStatement([]byte("Account Holder:,ACME \"NET\"\n"+header+
		"SJK4X7Q2P1,2026-03-02 14:05:33,Pay Bill Acc. x,,1500.00,,\n,,,,,,,,\n"), column.AnyOrder)
	if failure.KindOf(err) != failure.Invalid || !strings.Contains(err.Error(), "row 3 has more cells") {
		t.Errorf("%+v, %v", s.Lines, err)
	}
	s, err = mobilemoney.ReadStatement([]byte("Account Holder:,ACME \"NET\"\n\n"+header+
		"SJK4X7Q2P1,2026-03-02 14:05:33,\"Pay Bill Acc. x,\",1500.00,,\n\n,,,,,,,,\n"+
		"SJK4X7Q2P2,2026-03-02 14:05:33,\"a\nb\",1,\n"), column.AnyOrder)
	if err != nil || len(s.Lines) != 2 || s.Lines[0].Kind != mobilemoney.LinePayment || s.Lines[1].Row != 7 {
		t.Errorf("well formed: %+v, %v", s.Lines, err)
	}
}
